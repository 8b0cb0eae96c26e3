"""Where a query's input comes from: folders of slices, each with what was delivered in one interval.

    DIR/nexmark.json, DIR/bid/000000.parquet …      as `causeway nexmark generate` makes it, complete
    SPOOL/released/newest, SPOOL/bid/000000.parquet  as the firehose fills it, slice after slice
    DIR/events.jsonl, DIR/events/*.jsonl.gz         as other systems write it: all streams in one file

Slices are taken in their order and whole, so that the answers of a run do not hang on when it looked.

Spark starts a Python of its own for each query only to count slices: what reads them is imported where they
are read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from causeway.nexmark.model import MODELS, Model
from causeway.runtime.errors import UserError

if TYPE_CHECKING:
    import pyarrow as pa

    from causeway.nexmark.events.event_text import Reject

__all__ = ["Slices"]

_SLICE_SHIFT: Final = 32
_USUAL_EVENTS: Final = 100_000
_SUFFIXES: Final = (".parquet", ".jsonl", ".xml")
_MIXED: Final = ("events*.jsonl", "events*.jsonl.gz", "events/*.jsonl", "events/*.jsonl.gz")


@dataclass(frozen=True)
class Slices:
    """A folder of slices; cheap to make, since every task makes its own."""

    folder: Path
    model: Model

    @staticmethod
    def of(folder: Path, model: str) -> Slices:
        """The slices in `folder`, which the user gave."""
        if not folder.is_dir():
            raise UserError(f"{folder} is no folder")
        slices = Slices(folder, MODELS[model])
        if slices._facts is not None and slices._facts.get("model") != model:
            raise UserError(
                f"{folder} has events of the {slices._facts.get('model')} model, not the {model} one"
            )
        if slices._facts is None and not slices._spooled and not slices._mixed:
            raise UserError(
                f"{folder} has no events: expected nexmark.json and the folders that `causeway nexmark "
                "generate` makes, or files events*.jsonl with the events of all streams"
            )
        return slices

    @property
    def released(self) -> int:
        """How many slices can be read."""
        if self._spooled:
            newest = self.folder / "released" / "newest"
            return int(newest.read_text()) if newest.exists() else 0
        return self.total or 0

    @property
    def total(self) -> int | None:
        """How many slices there will ever be, where that is known yet."""
        if self._spooled:
            end = self.folder / "released" / "end"
            return int(end.read_text()) if end.exists() else None
        return int(self._facts["slices"]) if self._facts is not None else len(self._mixed)

    @property
    def slice_events(self) -> int:
        """How many events a slice has, about."""
        return _USUAL_EVENTS if self._facts is None else int(self._facts.get("slice_events", _USUAL_EVENTS))

    def size_of(self, streams: Sequence[str], number: int) -> tuple[int, int]:
        """Events and bytes of a slice's streams, as they are stored."""
        from causeway.nexmark.events.slice_files import count_events

        if self._facts is None and not self._spooled:
            files = [self._mixed[number]]
        else:
            files = [path for stream in streams for path in self._files(stream, number)]
        return sum(map(count_events, files)), sum(path.stat().st_size for path in files)

    @property
    def disorder(self) -> float | None:
        """By how many seconds events may be late, where that is known."""
        return None if self._facts is None else float(self._facts.get("disorder", 0))

    def read(
        self, number: int, columns: Mapping[str, Sequence[str]]
    ) -> tuple[dict[str, pa.Table], dict[str, list[tuple[Path, Reject]]]]:
        """The events of a slice by stream, the columns asked for; and what was no event."""
        from causeway.nexmark.events.slice_files import read_mixed_file, read_stream_files

        first = number << _SLICE_SHIFT
        if self._facts is None and not self._spooled:
            return read_mixed_file(self._mixed[number], self.model, columns, first)
        tables: dict[str, pa.Table] = {}
        rejects: dict[str, list[tuple[Path, Reject]]] = {}
        for stream, names in columns.items():
            files = self._files(stream, number)
            schema = self.model.streams[stream]
            tables[stream], rejects[stream] = read_stream_files(files, schema, names, first)
        return tables, rejects

    @cached_property
    def _spooled(self) -> bool:
        return (self.folder / "released").is_dir()

    @cached_property
    def _facts(self) -> dict[str, Any] | None:
        path = self.folder / "nexmark.json"
        try:
            facts = json.loads(path.read_text())
            if not isinstance(facts, dict) or "slices" not in facts:
                raise ValueError("no number of slices")
        except FileNotFoundError:
            return None
        except ValueError as unreadable:
            raise UserError(f"{path} is not what `causeway nexmark generate` writes: {unreadable}") from None
        return facts

    @cached_property
    def _mixed(self) -> list[Path]:
        return sorted(path for pattern in _MIXED for path in self.folder.glob(pattern))

    @cached_property
    def _folders(self) -> dict[str, list[Path]]:
        """The folders of each stream: that of its name, or several with numbers."""
        return {
            stream: sorted(
                [path for path in self.folder.glob(f"{stream}-*") if path.name.split("-")[-1].isdigit()],
                key=lambda path: int(path.name.split("-")[-1]),
            )
            or [self.folder / stream]
            for stream in self.model.streams
        }

    def _files(self, stream: str, number: int) -> list[Path]:
        found = []
        for folder in self._folders[stream]:
            paths = [path for suffix in _SUFFIXES if (path := folder / f"{number:06d}{suffix}").exists()]
            if not paths:
                raise UserError(f"{folder} has no slice {number:06d}: the folder is not complete")
            found += paths
        return found
