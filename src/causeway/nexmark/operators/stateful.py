"""A kernel on Spark: one task for each shard, its tables in Spark's state store."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.stateful_processor import MapState

from causeway.nexmark.operators.kernels import Kernel, Watermark
from causeway.nexmark.operators.processor import KernelProcessor
from causeway.nexmark.operators.source import CellSource, from_bytes, kernel_named, to_bytes
from causeway.spark.shards import shard_keys

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
) -> DataFrame:
    """The answers of a kernel `module:Class`, shard by shard, as a stream of rows.

    The watermark follows the newest event at a distance of `delay` milliseconds; events that are older are
    kept in the folder `late`.
    """
    made = kernel_named(kernel, arguments)
    keys = shard_keys(spark, 1 if made.dealt_by is None else shards)
    return (
        spark.readStream.format(CellSource.name())
        .options(**options, kernel=kernel, arguments=json.dumps(dict(arguments)), keys=json.dumps(keys))
        .load()
        .groupBy("shard")
        .transformWithStateInPandas(
            statefulProcessor=KernelProcessor(kernel, arguments, keys, delay, str(late)),
            outputStructType=from_arrow_schema(made.answer),
            outputMode="append",
            timeMode="none",
        )
    )


def take_step(
    kernel: Kernel, rows: Iterator[pd.DataFrame], state: Tables, delay: int
) -> Iterator[pd.DataFrame]:
    """What a kernel answers to all cells of a batch for one shard."""
    cells = pd.concat(list(rows)).sort_values("slice", kind="stable")
    given = {}
    for stream in kernel.reads:
        parts = [from_bytes(cell) for cell in cells["events"][cells["stream"] == stream]]
        if parts:
            given[stream] = pa.concat_tables(parts).combine_chunks()
    answers = kernel.step(given, state.tick(int(cells["newest"].max()), delay), state)
    state.save()
    if answers.num_rows:
        yield answers.combine_chunks().to_pandas(types_mapper=pd.ArrowDtype)


class Tables:
    """A shard's tables in Spark's state store."""

    def __init__(self, cells: MapState, late: str, shard: int) -> None:
        self._cells = cells
        self._late = Path(late)
        self._shard = shard
        self._step = 0
        self._watermark: Watermark | None = None

    def get(self, name: str) -> pa.Table | None:
        cell = self._cells.getValue((name,))
        return None if cell is None else from_bytes(bytes(cell[0]))

    def put(self, name: str, table: pa.Table) -> None:
        self._cells.updateValue((name,), (to_bytes(table),))

    def remove(self, name: str) -> None:
        self._cells.removeKey((name,))

    def tick(self, newest: int, delay: int) -> Watermark:
        """Move the shard's clock on; it never goes back."""
        clock = self.get(_CLOCK)
        before = -(1 << 62) if clock is None else clock.column("watermark")[0].as_py()
        self._step = 0 if clock is None else clock.column("step")[0].as_py() + 1
        self._watermark = Watermark(before, max(before, newest - delay))
        return self._watermark

    def save(self) -> None:
        """Note how far the clock has got."""
        assert self._watermark is not None
        self.put(_CLOCK, pa.table({"watermark": [self._watermark.now], "step": [self._step]}))

    def set_aside(self, stream: str, late: pa.Table) -> None:
        if late.num_rows:
            self._late.mkdir(parents=True, exist_ok=True)
            name = f"late-{stream}-{self._shard}-{self._step:09d}.parquet"
            aside = self._late / f".{name}"
            pq.write_table(late, aside)
            aside.replace(self._late / name)
