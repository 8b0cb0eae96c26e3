"""A folder of events: what `causeway nexmark generate` leaves behind and readers list.

    DIR/nexmark.json                what was generated, and how much of it there is
    DIR/<stream>/000000.parquet …   slice k of each stream (.jsonl and .xml instead on request)
    DIR/category.parquet            the static file, in the paper's model

A slice is what is delivered in the interval of so many events: every stream has a file for each, with no rows
if it must be. The folder appears whole: it is made under another name beside it, and renamed.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, get_args

import pyarrow as pa
import pyarrow.parquet as pq

from causeway import __version__
from causeway.nexmark.events.file_times import set_times_in_order
from causeway.nexmark.generator.encoding import SUFFIXES, FileFormat, content_bytes, write_file
from causeway.nexmark.generator.firehose import Firehose, ModelName
from causeway.nexmark.generator.goods import categories
from causeway.nexmark.model import MODELS
from causeway.runtime.errors import UserError
from causeway.runtime.output_folder import (
    begin_folder,
    finish_folder,
    load_facts,
    refuse_used_folder,
    remove_unfinished,
    write_json,
)
from causeway.runtime.progress import progress_bar, watched
from causeway.spark.tasks import run_tasks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["FILE", "Dataset", "default_slice_events", "slice_ranges", "write_dataset"]

FILE: Final = "nexmark.json"
_CATEGORIES: Final = "category.parquet"
_LAYOUT: Final = 1

_SLICE_EVENT_LIMIT: Final = 1_000_000
_USUAL_SLICE_EVENTS: Final = 100_000
_FEWEST_SLICE_EVENTS: Final = 1000
_USUAL_SLICES: Final = 10
"""What a small set is cut into, so that a reader still sees it come in several pieces."""

_REPLAY_SHARE: Final = 4
"""A slice of the paper's model is at least one of so many parts of what has to be replayed to make it."""

# A task costs a tenth of a second to start; one that fails is done again from its first slice.
_TASKS_PER_CORE: Final = 2
_SLICES_PER_TASK_LIMIT: Final = 50


@dataclass(frozen=True)
class Dataset:
    """The plain facts of a folder of events."""

    folder: Path
    model: ModelName
    scale: str | None
    """The level that was asked for; single settings may differ from it."""
    events: int
    """Persons, auctions and bids; closed auctions come besides."""
    rate: float
    """Events a second of event time."""
    seed: int
    bid_streams: int
    categories: int | None
    disorder: float
    """Seconds of event time by which an event may come late."""
    format: FileFormat
    slices: int
    slice_events: int
    first_time: int
    """Time of the first event, and below of the last one, in milliseconds since 1970."""
    last_time: int
    counts: dict[str, int] = field(default_factory=dict)
    """Rows of each stream."""
    bytes: dict[str, int] = field(default_factory=dict)
    """Bytes of each stream's files."""
    content_bytes: dict[str, int] = field(default_factory=dict)
    """Bytes of each stream's values, whatever the format: eight for a number or time, the text's own."""
    version: str = __version__

    @property
    def streams(self) -> list[str]:
        """The names of the streams: persons, auctions, then bids."""
        return list(self.counts)

    def schema(self, stream: str) -> pa.Schema:
        """The columns of a stream, by its name here (bid-1) or in the model (bid)."""
        return MODELS[self.model].streams[stream.partition("-")[0]]

    def file(self, stream: str, number: int) -> Path:
        """Where slice `number` of a stream is."""
        return self.folder / stream / _file_name(number, self.format)

    def files(self, stream: str) -> list[Path]:
        """A stream's files, in the order of delivery."""
        return [self.file(stream, number) for number in range(self.slices)]

    @property
    def category_file(self) -> Path | None:
        """The static file; None in the modern model."""
        return self.folder / _CATEGORIES if self.model == "paper" else None

    @classmethod
    def load(cls, folder: Path) -> Dataset:
        """Read a folder's facts; a folder that has none, or not all of its files, is the user's mistake."""
        path = folder / FILE
        facts = load_facts(
            path,
            _LAYOUT,
            absent="make events with `causeway nexmark generate --out`",
            without=f"has no {FILE}, so it has no generated events. "
            "Make them with `causeway nexmark generate --out`.",
        )
        try:
            dataset = cls(folder=folder, **facts)
        except TypeError as wrong:
            raise UserError(f"{path}: {wrong}") from wrong
        for name, value, possible in (
            ("model", dataset.model, get_args(ModelName)),
            ("format", dataset.format, get_args(FileFormat)),
        ):
            if value not in possible:
                raise UserError(f"{path}: {name} {value!r} is none of {', '.join(possible)}")
        dataset._miss_no_file()
        return dataset

    def _miss_no_file(self) -> None:
        for stream in self.streams:
            folder = self.folder / stream
            there = set(folder.iterdir()) if folder.is_dir() else set()
            for path in self.files(stream):
                if path not in there:
                    raise UserError(f"{path} is gone; generate the events again, into a new folder")
        if self.category_file is not None and not self.category_file.exists():
            raise UserError(f"{self.category_file} is gone; generate the events again, into a new folder")

    def _save(self) -> None:
        facts = asdict(self) | {"layout": _LAYOUT}
        del facts["folder"]
        write_json(self.folder / FILE, facts)


def default_slice_events(firehose: Firehose) -> int:
    """How many events a slice has if nobody says: 100,000, fewer for a small set.

    In the paper's model the bids of 26 hours are replayed to make a slice, so it is to be worth that.
    """
    share = math.ceil(firehose.events / _USUAL_SLICES)
    usual = min(max(share, _FEWEST_SLICE_EVENTS), _USUAL_SLICE_EVENTS)
    return max(usual, min(firehose.replayed_events // _REPLAY_SHARE, share, _SLICE_EVENT_LIMIT))


def slice_ranges(events: int, slice_events: int) -> list[tuple[int, int]]:
    """First event and the one after the last, of every slice."""
    return [(first, min(first + slice_events, events)) for first in range(0, events, slice_events)]


def write_dataset(
    firehose: Firehose,
    out: Path,
    *,
    file_format: FileFormat = "parquet",
    slice_events: int | None = None,
    scale: str | None = None,
    spark: SparkSession | None = None,
) -> Dataset:
    """Write all that `firehose` delivers to `out`, whole or not at all.

    With a session and several slices, Spark's tasks make them; `out` is then a folder that all of its workers
    see. The files are the same without.
    """
    if file_format not in SUFFIXES:
        raise UserError(f"the format is one of {', '.join(SUFFIXES)}; got {file_format}")
    chosen = default_slice_events(firehose) if slice_events is None else slice_events
    if not 1 <= chosen <= _SLICE_EVENT_LIMIT:
        raise UserError(f"a slice has 1 to {_SLICE_EVENT_LIMIT:,} events; got {chosen:,}")
    out = out.absolute()
    refuse_used_folder(out)
    unfinished = out.with_name(f".{out.name}.unfinished")
    begin_folder(unfinished)
    try:
        for stream in firehose.streams:
            (unfinished / stream).mkdir()
        facts = _write_slices(firehose, unfinished, file_format, chosen, spark)
        if firehose.model == "paper":
            pq.write_table(categories(firehose.categories), unfinished / _CATEGORIES)
        dataset = Dataset(
            folder=unfinished,
            model=firehose.model,
            scale=scale,
            events=firehose.events,
            rate=firehose.rate,
            seed=firehose.seed,
            bid_streams=firehose.bid_streams,
            categories=firehose.categories if firehose.model == "paper" else None,
            disorder=firehose.disorder,
            format=file_format,
            slices=len(slice_ranges(firehose.events, chosen)),
            slice_events=chosen,
            first_time=firehose.first_time,
            last_time=firehose.last_time,
            counts={stream: rows for stream, (rows, _, _) in facts.items()},
            bytes={stream: size for stream, (_, size, _) in facts.items()},
            content_bytes={stream: content for stream, (_, _, content) in facts.items()},
        )
        dataset._save()
        # Tasks write slices in any order; whoever takes files by their age gets them in that of delivery.
        set_times_in_order(
            [[dataset.file(stream, number) for stream in dataset.streams] for number in range(dataset.slices)]
        )
        unfinished.replace(out)
        finish_folder(out)
    except BaseException:
        remove_unfinished(unfinished)
        raise
    return Dataset.load(out)


_SliceFacts = dict[str, tuple[int, int, int]]
"""Of each stream: rows, bytes of the file, bytes of the values."""


def _write_slices(
    firehose: Firehose, folder: Path, file_format: FileFormat, slice_events: int, spark: SparkSession | None
) -> _SliceFacts:
    ranges = slice_ranges(firehose.events, slice_events)
    if spark is None or len(ranges) == 1:
        written = []
        with progress_bar("generating", firehose.events, "events") as bar:
            for number, (first, last) in enumerate(ranges):
                written.append(_write_slice(firehose, folder, file_format, number, first, last))
                bar.update(last)
    else:
        last_stream = folder / list(firehose.streams)[-1]
        with watched(
            "generating",
            firehose.events,
            "events",
            lambda: slice_events * len(list(last_stream.glob(f"[0-9]*.{SUFFIXES[file_format]}"))),
        ):
            written = _write_with_spark(firehose, folder, file_format, ranges, spark)
    return {
        stream: (
            sum(slice_[stream][0] for slice_ in written),
            sum(slice_[stream][1] for slice_ in written),
            sum(slice_[stream][2] for slice_ in written),
        )
        for stream in firehose.streams
    }


def _write_slice(
    firehose: Firehose, folder: Path, file_format: FileFormat, number: int, first: int, last: int
) -> _SliceFacts:
    name = _file_name(number, file_format)
    return {
        stream: (
            table.num_rows,
            write_file(table, folder / stream / name, file_format, stream.partition("-")[0]),
            content_bytes(table),
        )
        for stream, table in firehose.deliver_encoded(first, last).items()
    }


def _write_with_spark(
    firehose: Firehose,
    folder: Path,
    file_format: FileFormat,
    ranges: list[tuple[int, int]],
    spark: SparkSession,
) -> list[_SliceFacts]:
    tasks = max(
        _TASKS_PER_CORE * spark.sparkContext.defaultParallelism, len(ranges) // _SLICES_PER_TASK_LIMIT
    )
    return run_tasks(
        spark,
        len(ranges),
        lambda number: _write_slice(firehose, folder, file_format, number, *ranges[number]),
        partitions=tasks,
    )


def _file_name(number: int, file_format: FileFormat) -> str:
    return f"{number:06d}.{SUFFIXES[file_format]}"
