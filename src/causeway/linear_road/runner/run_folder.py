"""A run on disk.

RUN/run.json        settings, machine, versions, counts, batches, and how it ended
RUN/answers.csv     every answer, in the one flat file that all validators read
RUN/answers/        the same as Parquet, with when each was readable
RUN/segments/       traffic and tolls of each segment and minute, as the pipeline saw them
RUN/batches/        answers as they were written, a file a batch
RUN/spool/, RUN/checkpoint/   while it goes on: input not yet answered, and Spark's state
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from causeway.runtime.errors import UserError
from causeway.runtime.output_folder import refuse_used_folder, write_json

__all__ = ["RunFolder"]


@dataclass(frozen=True)
class RunFolder:
    """Where the parts of a run are."""

    path: Path

    @property
    def facts_file(self) -> Path:
        return self.path / "run.json"

    @property
    def batches(self) -> Path:
        return self.path / "batches"

    @property
    def segments(self) -> Path:
        return self.path / "segments"

    @property
    def spool(self) -> Path:
        return self.path / "spool"

    @property
    def checkpoint(self) -> Path:
        return self.path / "checkpoint"

    def make(self) -> None:
        """Make the folders of a new run."""
        refuse_used_folder(self.path)
        try:
            for folder in (self.batches, self.segments, self.spool):
                folder.mkdir(parents=True)
        except OSError as refused:
            raise UserError(f"{self.path} cannot be made: {refused.strerror}") from refused

    def facts(self) -> dict[str, Any]:
        """Read `run.json`; a folder without one is the user's mistake."""
        try:
            facts: dict[str, Any] = json.loads(self.facts_file.read_text())
        except FileNotFoundError:
            raise UserError(
                f"{self.path} is not a run: it has no {self.facts_file.name}. "
                "Make one with `causeway linear-road run`."
            ) from None
        except (ValueError, OSError) as unreadable:
            raise UserError(f"{self.facts_file} cannot be read: {unreadable}") from unreadable
        return facts

    def save(self, facts: dict[str, Any]) -> None:
        """Write `run.json`, whole or not at all."""
        write_json(self.facts_file, facts)

    def batch_notes(self) -> list[dict[str, Any]]:
        """What the sink noted of each batch, in their order."""
        return [json.loads(path.read_text()) for path in sorted(self.batches.glob("batch-*.json"))]
