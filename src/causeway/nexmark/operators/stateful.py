"""A kernel on Spark: one task for each shard, its tables in Spark's state store."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema

from causeway.nexmark.operators.answer_cells import ANSWER_CELLS, ANSWER_CELLS_DDL, cells_of
from causeway.nexmark.operators.kernels import Kernel, Watermark
from causeway.nexmark.operators.processor import KernelProcessor
from causeway.nexmark.operators.slice_reader import NO_WATERMARK, keep_late_file, late_file
from causeway.nexmark.operators.source import CellSource, kernel_named
from causeway.spark.shards import shard_keys
from causeway.streaming.cells import pack_table, unpack_table
from causeway.streaming.state import CellStore

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Tables", "stateful_stream", "take_step"]

_CLOCK = "clock"


def stateful_stream(
    spark: SparkSession,
    kernel: str,
    arguments: Mapping[str, Any],
    options: Mapping[str, str],
    shards: int,
    delay: int,
    late: Path,
    *,
    as_cells: bool,
) -> DataFrame:
    """The answers of a kernel `module:Class`, shard by shard, as a stream of rows or of cells.

    The watermark follows the newest event at a distance of `delay` milliseconds; late events are kept in the
    folder `late`. The session's number of shuffle partitions must be `shards`.
    """
    made = kernel_named(kernel, arguments)
    keys = [0] if made.dealt_by is None else shard_keys(spark, shards)
    return (
        spark.readStream.format(CellSource.name())
        .options(
            **options,
            kernel=kernel,
            arguments=json.dumps(dict(arguments)),
            streams=json.dumps(list(made.reads)),
            keys=json.dumps(keys),
        )
        .load()
        .groupBy("shard")
        .transformWithStateInPandas(
            statefulProcessor=KernelProcessor(kernel, arguments, keys, delay, str(late), as_cells),
            outputStructType=ANSWER_CELLS_DDL if as_cells else from_arrow_schema(made.answer),
            outputMode="append",
            timeMode="none",
        )
    )


def take_step(
    kernel: Kernel, rows: Iterator[pd.DataFrame], state: Tables, delay: int, *, as_cells: bool
) -> Iterator[pd.DataFrame]:
    """What a kernel answers to all cells of a batch for one shard, as rows or as cells."""
    cells = pd.concat(list(rows)).sort_values("slice", kind="stable")
    events = {}
    for stream in kernel.reads:
        parts = [unpack_table(cell) for cell in cells["events"][cells["stream"] == stream]]
        if parts:
            events[stream] = pa.concat_tables(parts).combine_chunks()
    answers = kernel.step(events, state.tick(int(cells["newest"].max()), delay), state)
    state.save()
    if as_cells:
        made = list(cells_of(answers.cast(kernel.answer)))
        yield pd.DataFrame(dict(zip(ANSWER_CELLS, ([state.shard] * len(made), made), strict=True)))
    elif answers.num_rows:
        yield answers.combine_chunks().to_pandas(types_mapper=pd.ArrowDtype)


class Tables:
    """A shard's tables in Spark's state store."""

    def __init__(self, store: CellStore, late: str, shard: int) -> None:
        self._store = store
        self._late = Path(late)
        self.shard = shard
        self._step = 0
        self._watermark: Watermark | None = None

    def get(self, name: str) -> pa.Table | None:
        cell = self._store.read(name)
        return None if cell is None else unpack_table(cell)

    def put(self, name: str, table: pa.Table) -> None:
        # Compressed here, since Spark writes state several times.
        self._store.write(name, pack_table(table, compression="zstd"))

    def remove(self, name: str) -> None:
        self._store.remove(name)

    def tick(self, newest: int, delay: int) -> Watermark:
        """Move the shard's clock on; it never goes back."""
        clock = self.get(_CLOCK)
        before = NO_WATERMARK if clock is None else clock.column("watermark")[0].as_py()
        self._step = 0 if clock is None else clock.column("step")[0].as_py() + 1
        self._watermark = Watermark(before, max(before, newest - delay))
        return self._watermark

    def save(self) -> None:
        """Note how far the clock has got."""
        assert self._watermark is not None
        self.put(_CLOCK, pa.table({"watermark": [self._watermark.now], "step": [self._step]}))

    def keep_late(self, stream: str, late: pa.Table) -> None:
        keep_late_file(late_file(self._late, stream, f"shard-{self.shard}-{self._step:09d}"), late)
