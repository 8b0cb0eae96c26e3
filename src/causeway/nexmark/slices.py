"""Where a query's input comes from: folders of slices, each with what was delivered in one interval.

    DIR/nexmark.json, DIR/bid/000000.parquet …      as `causeway nexmark generate` makes it, complete
    SPOOL/released/newest, SPOOL/bid/000000.parquet  as the firehose fills it, slice after slice
    DIR/events.jsonl, DIR/events/*.jsonl.gz         as other systems write it: all streams in one file

Slices are taken in their order and whole, so that the answers of a run do not hang on when it looked.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from causeway.errors import UserError
from causeway.nexmark.event_text import (
    OPTIONAL,
    Parsed,
    Reject,
    checked,
    parse_json,
    parse_mixed_json,
    parse_xml,
)
from causeway.nexmark.model import MODELS, Model

__all__ = ["ARRIVAL", "Slices"]

ARRIVAL: Final = "arrival"
"""The column that every stream has besides its own: where an event stood in the order of delivery."""
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
        if self._facts is None and not self._spooled:
            path = self._mixed[number]
            return _bytes(path).count(b"\n"), path.stat().st_size
        rows, stored = 0, 0
        for path in (path for stream in streams for path in self._files(stream, number)):
            stored += path.stat().st_size
            if path.suffix == ".parquet":
                rows += pq.read_metadata(path).num_rows
            else:
                rows += path.read_bytes().count(b"\n")
        return rows, stored

    @property
    def disorder(self) -> float | None:
        """By how many seconds events may be late, where that is known."""
        return None if self._facts is None else float(self._facts.get("disorder", 0))

    def read(
        self, number: int, columns: Mapping[str, Sequence[str]]
    ) -> tuple[dict[str, pa.Table], dict[str, list[tuple[Path, Reject]]]]:
        """The events of a slice by stream, the columns asked for and `arrival`; and what was no event."""
        tables: dict[str, pa.Table] = {}
        rejects: dict[str, list[tuple[Path, Reject]]] = {}
        if self._facts is None and not self._spooled:
            path = self._mixed[number]
            parsed = parse_mixed_json(_bytes(path), self.model.streams)
            for stream, names in columns.items():
                tables[stream] = _with_arrival(parsed[stream], number, 0, names)
                rejects[stream] = [(path, reject) for reject in parsed[stream].rejects]
            return tables, rejects
        for stream, names in columns.items():
            parts, place = [], 0
            rejects[stream] = []
            for path in self._files(stream, number):
                read = _read(path, self.model.streams[stream], names)
                parts.append(_with_arrival(read, number, place, names))
                place += read.events.num_rows + len(read.rejects)
                rejects[stream] += [(path, reject) for reject in read.rejects]
            # Several bid streams are one to a query: their union.
            tables[stream] = pa.concat_tables(parts)
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


def _read(path: Path, schema: pa.Schema, names: Sequence[str]) -> Parsed:
    if path.suffix in (".jsonl", ".xml"):
        # What makes an event one is looked at whether or not the query asks for it.
        told = pa.schema([field for field in schema if field.name in names or field.name not in OPTIONAL])
        return (parse_json if path.suffix == ".jsonl" else parse_xml)(path.read_bytes(), told)
    needed = [field for field in schema if field.name in names]
    try:
        table = pq.read_table(
            path, columns=[field.name for field in needed], use_threads=False, memory_map=True
        )
        table = table.select([field.name for field in needed]).cast(pa.schema(needed))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, KeyError, OSError) as unreadable:
        # The whole file is the line that does not parse.
        return Parsed(
            pa.schema(needed).empty_table(),
            np.zeros(0, np.int64),
            (Reject(0, f"not a Parquet file of this stream: {unreadable}", ""),),
        )
    return checked(
        table,
        np.arange(table.num_rows),
        lambda at: json.dumps(table.slice(at, 1).to_pylist()[0], default=str),
    )


def _with_arrival(parsed: Parsed, number: int, place: int, names: Sequence[str]) -> pa.Table:
    arrival = (number << _SLICE_SHIFT) + place + parsed.lines
    return parsed.events.select(list(names)).append_column(ARRIVAL, pa.array(arrival, pa.int64()))


def _bytes(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
