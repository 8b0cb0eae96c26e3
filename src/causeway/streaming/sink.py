"""The sink: a batch is handed over under its number, and counts from when its note is there.

    FOLDER/batch-000000012.parquet   the output of batch 12: one file, or a folder of files
    FOLDER/batch-000000012.json      its note, written last

A batch that is done again after a crash writes the same names again: nothing is lost, nothing doubled. Output
without a note is unfinished, and nobody reads it.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["BatchFolder", "Sink"]

_NOTE: Final = re.compile(r"batch-(\d{9,})\.json")
_OUTPUT: Final = re.compile(r"batch-(\d{9,})\.parquet")


class Sink(Protocol):
    """Takes batches; to be given to Spark's `foreachBatch`."""

    def __call__(self, batch: DataFrame, number: int) -> None:
        """Take batch `number`. When this returns, its output is readable; a repeated call changes nothing."""


class BatchFolder:
    """Batches in a folder, found by their numbers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def output(self, number: int) -> Path:
        """Where the output of a batch is, or is to be written."""
        return self.folder / f"{_name(number)}.parquet"

    def begin(self, number: int) -> Path:
        """Remove what a crash left of the same batch; returns where its output is to be written."""
        output = self.output(number)
        self.note_file(number).unlink(missing_ok=True)
        if output.is_dir():
            shutil.rmtree(output)
        output.unlink(missing_ok=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        return output

    def finish(self, number: int, note: Mapping[str, Any]) -> None:
        """Make the batch count: write its note, by rename."""
        path = self.note_file(number)
        unfinished = path.with_name(f".{path.name}")
        unfinished.write_text(json.dumps(dict(note)))
        unfinished.replace(path)

    def note(self, number: int) -> dict[str, Any] | None:
        """The note of a batch; None where the batch is not readable."""
        try:
            note: dict[str, Any] = json.loads(self.note_file(number).read_text())
        except FileNotFoundError:
            return None
        return note

    def numbers(self) -> list[int]:
        """The batches that are readable, in their order."""
        return self._numbers(_NOTE)

    def unfinished(self) -> list[int]:
        """The batches that have output and no note, in their order."""
        finished = set(self.numbers())
        return [number for number in self._numbers(_OUTPUT) if number not in finished]

    def notes(self) -> list[dict[str, Any]]:
        """The notes of all readable batches, in their order."""
        return [note for number in self.numbers() if (note := self.note(number)) is not None]

    def note_file(self, number: int) -> Path:
        """Where the note of a batch is, or is to be written."""
        return self.folder / f"{_name(number)}.json"

    def _numbers(self, name: re.Pattern[str]) -> list[int]:
        if not self.folder.is_dir():
            return []
        return sorted(int(found[1]) for path in self.folder.iterdir() if (found := name.fullmatch(path.name)))


def _name(number: int) -> str:
    return f"batch-{number:09d}"
