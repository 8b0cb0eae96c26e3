"""How fast the NEXMark firehose is: events made and written on one core, by model and format, and its floor.

The floor is the same number of bytes filled by NumPy and written by pyarrow's Parquet writer, with the same
settings. With --spark, the modern model is then written by Spark's tasks on all cores.

    python benchmarks/nexmark_generator.py [--events 1000000] [--rounds 3] [--spark]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, get_args

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

from causeway.nexmark.events.dataset import Dataset, default_slice_events, slice_ranges, write_dataset
from causeway.nexmark.generator.encoding import FileFormat, write_file
from causeway.nexmark.generator.firehose import Firehose, ModelName
from causeway.nexmark.generator.scale import ScaleName, scaled_firehose
from causeway.runtime.machine import local_cores
from causeway.spark.session import spark_session

_SLICE: Final = 100_000
_CASES: Final[tuple[tuple[ModelName, ScaleName], ...]] = (
    ("modern", "small"),
    ("paper", "small"),
    ("paper", "large"),
)


def main() -> None:
    """Make and write each model in each format, and print the rates."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--events", type=int, default=1_000_000)
    arguments.add_argument("--rounds", type=int, default=3, help="of which the best counts")
    arguments.add_argument("--spark", action="store_true", help="measure all cores too")
    chosen = arguments.parse_args()

    table = Table(title=f"{chosen.events:,} events, one core, best of {chosen.rounds}")
    table.add_column("what", no_wrap=True)
    for column in ("million events/s", "per CPU second", "MB/s of values", "MB/s of files"):
        table.add_column(column, justify="right")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for model, scale in _CASES:
            firehose = scaled_firehose(model, scale, events=chosen.events)
            firehose.deliver(0, min(1000, firehose.events))  # compiles
            _make(table, model, scale, chosen.events, chosen.rounds)
            for file_format in get_args(FileFormat):
                _write(table, folder, firehose, f"{model} {scale}: {file_format}", file_format, chosen.rounds)
            if model == "modern":
                _floor(table, folder, firehose, chosen.rounds)
        Console().print(table)
        if chosen.spark:
            _measure_spark(folder, chosen.events, chosen.rounds)


_Seconds = tuple[float, float]
"""Of wall time and of CPU."""


def _best(work: Callable[[], object], rounds: int) -> _Seconds:
    measured = []
    for _ in range(rounds):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        measured.append((time.perf_counter() - wall, time.process_time() - cpu))
    return min(wall for wall, _ in measured), min(cpu for _, cpu in measured)


def _make(table: Table, model: ModelName, scale: ScaleName, events: int, rounds: int) -> None:
    """Events from a stream's second half, where the paper's model has all of 26 hours to replay."""
    firehose = scaled_firehose(model, scale, events=max(scaled_firehose(model, scale).events, 2 * events))
    begin = firehose.events // 2
    slice_events = default_slice_events(firehose)

    def make() -> None:
        for first, last in slice_ranges(events, slice_events):
            firehose.deliver_encoded(begin + first, begin + last)

    _add(table, f"{model} {scale}: make", events, _best(make, rounds))


def _write(
    table: Table, folder: Path, firehose: Firehose, title: str, file_format: FileFormat, rounds: int
) -> None:
    made: list[Dataset] = []

    def write() -> None:
        out = folder / f"{title} {len(made)}"
        made.append(write_dataset(firehose, out, file_format=file_format, slice_events=_SLICE))

    _add(table, title, firehose.events, _best(write, rounds), made)


def _floor(table: Table, folder: Path, firehose: Firehose, rounds: int) -> None:
    """As many values as the streams have, the numbers all one and the text the same bytes, made by NumPy."""
    delivered = firehose.deliver_encoded(0, min(_SLICE, firehose.events))
    slices = len(slice_ranges(firehose.events, _SLICE))

    def fill_and_write() -> None:
        for _ in range(slices):
            for stream, like in delivered.items():
                write_file(_filled(like), folder / "floor.parquet", "parquet", stream)

    _add(table, "floor: NumPy fill, Parquet", firehose.events, _best(fill_and_write, rounds))


def _filled(like: pa.Table) -> pa.Table:
    columns = []
    for column in like.columns:
        values = column.combine_chunks()
        if pa.types.is_dictionary(values.type):
            indices = np.arange(len(values), dtype=np.int32) % len(values.dictionary)
            columns.append(pa.DictionaryArray.from_arrays(pa.array(indices), values.dictionary))
        elif pa.types.is_string(values.type):
            ends = values.buffers()[1]
            text = np.frombuffer(values.buffers()[2], np.uint8).copy()
            columns.append(pa.StringArray.from_buffers(len(values), ends, pa.py_buffer(text)))
        else:
            columns.append(pa.array(np.full(len(values), 1)).cast(values.type))
    return pa.table(columns, names=like.column_names)


def _measure_spark(folder: Path, events: int, rounds: int) -> None:
    firehose = scaled_firehose("modern", events=events)
    cores = local_cores()
    seconds = []
    with spark_session("nexmark generator benchmark", master=f"local[{cores}]") as spark:
        for number in range(rounds + 1):
            before = time.perf_counter()
            write_dataset(firehose, folder / f"spark {number}", spark=spark, slice_events=_SLICE)
            seconds.append(time.perf_counter() - before)
    Console().print(
        f"Spark, {cores} cores: {events / min(seconds[1:]) / 1e6:.2f} million events/s "
        f"(the first time, with the start of its workers: {seconds[0]:.1f} s)"
    )


def _add(table: Table, title: str, events: int, seconds: _Seconds, made: list[Dataset] | None = None) -> None:
    wall, cpu = seconds
    sizes = []
    if made:
        sizes = [f"{sum(part.values()) / wall / 1e6:,.0f}" for part in (made[0].content_bytes, made[0].bytes)]
    table.add_row(title, f"{events / wall / 1e6:.2f}", f"{events / cpu / 1e6:.2f}", *sizes)


if __name__ == "__main__":
    main()
