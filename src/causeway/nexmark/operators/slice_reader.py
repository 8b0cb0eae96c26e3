"""Spark reads slices: offsets, the tasks of a batch, and what is noted and kept of each slice.

The offset is the next slice. After the last slice comes the end, a slice of its own in which time runs out,
so that every window closes. It is in the batch of the last slice if that is known to be the last by then.

Tasks note the newest event time of each slice that they read (`SliceNotes`). So the tasks of a later batch
know the watermark of the batches before it, and keep late events in a folder instead of handing them on.
"""

from __future__ import annotations

import json
import os
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows

from causeway.nexmark.events.slices import Slices
from causeway.nexmark.model import MODELS, Model
from causeway.nexmark.operators.kernels import Longs, split_late
from causeway.nexmark.operators.slice_notes import SliceNote, SliceNotes
from causeway.spark.collection import leave_little_to_collect
from causeway.spark.worker_memory import keep_memory

if TYPE_CHECKING:
    from causeway.nexmark.events.event_text import Reject

__all__ = ["NO_WATERMARK", "SliceReader", "keep_late_file", "keep_rejects", "late_file"]

NO_WATERMARK: Final = -(1 << 62)
"""The watermark before the first batch."""


class SliceReader(DataSourceStreamReader):
    """Counts slices, and gives each task of a batch a run of them.

    Options: `folder`, `model`, `limit` (slices of a batch at most), `tasks` of a batch, `delay` of the
    watermark in milliseconds, and the folders `rejects` and `notes`.
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = options
        self._limit = int(options["limit"])
        self._tasks = int(options["tasks"])

    @property
    @abstractmethod
    def _streams(self) -> Sequence[str]:
        """The streams that are read, known without the kernel: it would be imported only to count slices."""

    @property
    @abstractmethod
    def _columns(self) -> Mapping[str, Sequence[str]]:
        """The columns that are read of each stream; the time is one of them where events can be late."""

    @abstractmethod
    def _late_from(self, stream: str, events: pa.Table) -> Longs | None:
        """As `Kernel.late_from`."""

    @property
    def _model(self) -> Model:
        return MODELS[self._options["model"]]

    @property
    def _slices(self) -> Slices:
        return Slices(Path(self._options["folder"]), self._model)

    @cached_property
    def _notes(self) -> SliceNotes:
        return SliceNotes(Path(self._options["notes"]), "+".join(self._streams))

    def initialOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name
        return {"slice": 0}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxRows(self._limit)

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        slices = self._slices
        first, last = start["slice"], slices.released
        if not isinstance(limit, ReadAllAvailable):
            last = min(last, first + max(1, self._limit))
        total = slices.total
        if total is not None and last == total:
            last = total + 1
        return {"slice": max(first, last)}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        newest = self._notes.newest_before(start["slice"])
        watermark = NO_WATERMARK if newest is None else newest - int(self._options["delay"])
        numbers = np.arange(start["slice"], end["slice"])
        parts = [part.tolist() for part in np.array_split(numbers, self._tasks) if len(part)]
        return [InputPartition((part, watermark)) for part in parts]

    def commit(self, end: dict[str, int]) -> None:
        """Slices stay: they are the user's, or the run's, which removes them as a whole."""

    def _read_slices(
        self, numbers: Sequence[int], watermark: int
    ) -> Iterator[tuple[int, dict[str, pa.Table] | None, int | None]]:
        """Each slice's number, its events in time by stream, and its newest time; no events at the end."""
        keep_memory()
        slices = self._slices
        total = slices.total
        rejects = Path(self._options["rejects"])
        for number in numbers:
            if total is not None and number >= total:
                yield number, None, None
                continue
            content = slices.read(number, self._columns)
            keep_rejects(rejects, number, content.rejects)
            newest = self._newest(content.tables)
            in_time = {}
            for stream, events in content.tables.items():
                kept, late = split_late(events, self._late_from(stream, events), watermark)
                in_time[stream] = kept
                keep_late_file(late_file(rejects, stream, f"{number:06d}"), late)
            self._notes.write(number, SliceNote(newest, sum(content.events.values()), content.bytes))
            yield number, in_time, newest
        leave_little_to_collect()

    def _newest(self, tables: Mapping[str, pa.Table]) -> int | None:
        times = [
            int(events.column(self._model.time[stream]).cast(pa.int64()).to_numpy().max())
            for stream, events in tables.items()
            if events.num_rows and self._model.time[stream] in events.column_names
        ]
        return max(times, default=None)


def late_file(folder: Path, stream: str, part: str) -> Path:
    """Where late events of a stream are kept; `part` tells apart what is written separately."""
    return folder / f"late-{stream}-{part}.parquet"


def keep_late_file(path: Path, late: pa.Table | None) -> None:
    """Write late events, if there are any; written again, it is the same file."""
    if late is not None and late.num_rows:
        # Spark starts a Python process for each query only to count slices, which has no use for it.
        import pyarrow.parquet as pq

        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = _unfinished(path)
        pq.write_table(late, unfinished)
        unfinished.replace(path)


def keep_rejects(folder: Path, number: int, rejects: Mapping[str, Sequence[tuple[Path, Reject]]]) -> None:
    """Write what was no event, a file for each slice and stream; written again, it is the same file."""
    for stream, refused in rejects.items():
        if refused:
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"{stream}-{number:06d}.jsonl"
            unfinished = _unfinished(path)
            unfinished.write_text("".join(json.dumps(_reject_facts(*reject)) + "\n" for reject in refused))
            unfinished.replace(path)


def _reject_facts(path: Path, reject: Reject) -> dict[str, Any]:
    return {"file": str(path), "line": reject.line, "reason": reject.reason, "text": reject.text}


def _unfinished(path: Path) -> Path:
    """A name for this process alone: several tasks may write the same file."""
    return path.with_name(f".{path.name}.{os.getpid()}")
