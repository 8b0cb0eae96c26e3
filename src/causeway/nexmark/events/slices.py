"""Where a query's input comes from: folders of slices, each with what was delivered in one interval.

    DIR/nexmark.json, DIR/bid/000000.parquet …      as `causeway nexmark generate` makes it, complete
    SPOOL/_released, SPOOL/bid/000000.parquet       as the firehose fills it, slice after slice
    DIR/events.jsonl, DIR/events/*.jsonl.gz         as other systems write it: all streams in one file

Slices are taken in their order and whole, so that the answers of a run do not hang on when it looked.

Spark starts a Python process for each query only to count slices: what reads them is imported where they are
read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from causeway.nexmark.model import MODELS, Model
from causeway.runtime.errors import UserError
from causeway.streaming.delivery import SpoolControl

if TYPE_CHECKING:
    from causeway.nexmark.events.slice_files import SliceContent

__all__ = ["Slices", "release_slices", "released_slices"]

_SLICE_SHIFT: Final = 32
_USUAL_EVENTS: Final = 100_000
_SUFFIXES: Final = (".parquet", ".jsonl", ".xml")
_RELEASED: Final = "_released"
_MIXED: Final = ("events*.jsonl", "events*.jsonl.gz", "events/*.jsonl", "events/*.jsonl.gz")


@dataclass(frozen=True)
class Slices:
    """A folder of slices; cheap to make, since every task makes its own."""

    folder: Path
    model: Model

    @staticmethod
    def of(folder: Path, model: str) -> Slices:
        """The slices in a folder of the user's."""
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
        return released_slices(self.folder) if self._spooled else self.total or 0

    @property
    def total(self) -> int | None:
        """How many slices there will ever be, where that is known yet."""
        if self._spooled:
            facts = SpoolControl(self.folder).load() or {}
            return int(facts["slices"]) if facts.get("state") == "finished" else None
        return int(self._facts["slices"]) if self._facts is not None else len(self._mixed)

    @property
    def slice_events(self) -> int:
        """How many events a slice has, about."""
        return _USUAL_EVENTS if self._facts is None else int(self._facts.get("slice_events", _USUAL_EVENTS))

    @property
    def disorder(self) -> float | None:
        """By how many seconds events may be late, where that is known."""
        return None if self._facts is None else float(self._facts.get("disorder", 0))

    @property
    def is_spool(self) -> bool:
        """Whether a firehose fills the folder."""
        return self._spooled

    @property
    def has_streams_apart(self) -> bool:
        """Whether each stream has files of its own."""
        return self._facts is not None or self._spooled

    def folders(self, stream: str) -> list[Path]:
        """The folders of a stream: that of its name, or several with numbers."""
        return self._folders[stream]

    def files(self, stream: str, number: int) -> list[Path]:
        """The files of a slice of a stream, one in each folder; of a mixed source the file of all streams."""
        return self._files(stream, number) if self.has_streams_apart else [self._mixed[number]]

    def read(self, number: int, columns: Mapping[str, Sequence[str]]) -> SliceContent:
        """The events of a slice by stream, the requested columns; and what was no event."""
        from causeway.nexmark.events.slice_files import SliceContent, read_mixed_file, read_stream_files

        first = number << _SLICE_SHIFT
        if not self.has_streams_apart:
            return read_mixed_file(self._mixed[number], self.model, columns, first)
        content = SliceContent({}, {}, {}, 0)
        size = 0
        for stream, names in columns.items():
            files = self._files(stream, number)
            table, rejects = read_stream_files(files, self.model.streams[stream], names, first)
            content.tables[stream], content.rejects[stream] = table, rejects
            content.events[stream] = table.num_rows + len(rejects)
            size += sum(path.stat().st_size for path in files)
        return replace(content, bytes=size)

    @cached_property
    def _spooled(self) -> bool:
        return SpoolControl(self.folder).state_file.is_file()

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


def released_slices(spool: Path) -> int:
    """How many slices of a spool can be read."""
    try:
        return int((spool / _RELEASED).read_text())
    except FileNotFoundError:
        return 0


def release_slices(spool: Path, count: int) -> None:
    """Let so many slices of a spool be read.

    Without waiting for the disk: what a crash of the machine takes away is made again.
    """
    unfinished = spool / f".{_RELEASED}"
    unfinished.write_text(str(count))
    unfinished.replace(spool / _RELEASED)
