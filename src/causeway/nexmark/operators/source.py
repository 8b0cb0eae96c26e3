"""Spark's sources of events: rows of one stream, or a shard's events in one cell."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition

from causeway.nexmark.events.slices import Slices
from causeway.nexmark.model import ARRIVAL, MODELS, OPTIONAL
from causeway.nexmark.operators.kernels import END_OF_TIME, Kernel, Longs
from causeway.nexmark.operators.slice_reader import SliceReader
from causeway.streaming.cells import pack_table

__all__ = ["CELLS_DDL", "CellSource", "RowSource", "deal", "kernel_named"]

CELLS_DDL: Final = "shard INT, stream STRING, slice INT, newest LONG, events BINARY"
_CELLS: Final = pa.schema(
    [
        ("shard", pa.int32()),
        ("stream", pa.string()),
        ("slice", pa.int32()),
        ("newest", pa.int64()),
        ("events", pa.binary()),
    ]
)
_ROWS_AT_ONCE: Final = 50_000
# The golden ratio: a product with it spreads neighbours evenly over its upper bits.
_MIXER: Final = np.uint64(0x9E3779B97F4A7C15)
_MIXED_BITS: Final = np.uint64(40)


class RowSource(DataSource):
    """Rows of one stream.

    Options: those of `SliceReader`, `stream`, `columns` (JSON).
    """

    @classmethod
    def name(cls) -> str:
        return "nexmark-rows"

    def schema(self) -> str:
        return ", ".join(
            f"`{field.name}` {_sql_type(field.type)}{'' if field.nullable else ' NOT NULL'}"
            for field in _spark_schema(self.options)
        )

    def streamReader(self, schema: Any) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        return _RowReader(dict(self.options))

    def reader(self, schema: Any) -> DataSourceReader:
        return _TableReader(dict(self.options))


class CellSource(DataSource):
    """Events by shard.

    Options: those of `SliceReader`, `kernel`, its `arguments` (JSON), the `streams` that it reads (JSON), the
    shards' `keys` (JSON).
    """

    @classmethod
    def name(cls) -> str:
        return "nexmark-cells"

    def schema(self) -> str:
        return CELLS_DDL

    def streamReader(self, schema: Any) -> DataSourceStreamReader:  # noqa: N802
        return _CellReader(dict(self.options))


class _RowReader(SliceReader):
    @cached_property
    def _stream(self) -> str:
        return self._options["stream"]

    @property
    def _streams(self) -> Sequence[str]:
        return [self._stream]

    @cached_property
    def _columns(self) -> Mapping[str, Sequence[str]]:
        return {self._stream: json.loads(self._options["columns"])}

    def _late_from(self, stream: str, events: pa.Table) -> Longs | None:
        return None

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        schema = _spark_schema(self._options)
        for _, tables, _ in self._read_slices(*partition.value):
            if tables is not None:
                rows = tables[self._stream].select(schema.names).cast(schema)
                yield from rows.to_batches(_ROWS_AT_ONCE)


class _TableReader(DataSourceReader):
    """All rows of a stream that are there, for batch statements."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = options

    @property
    def _slices(self) -> Slices:
        return Slices(Path(self._options["folder"]), MODELS[self._options["model"]])

    def partitions(self) -> Sequence[InputPartition]:
        parts = np.array_split(np.arange(self._slices.released), int(self._options["tasks"]))
        return [InputPartition(part.tolist()) for part in parts]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        stream = self._options["stream"]
        schema = _spark_schema(self._options)
        for number in partition.value:
            events = self._slices.read(number, {stream: schema.names}).tables[stream]
            yield from events.cast(schema).to_batches(_ROWS_AT_ONCE)


class _CellReader(SliceReader):
    @cached_property
    def _kernel(self) -> Kernel:
        return kernel_named(self._options["kernel"], json.loads(self._options["arguments"]))

    @cached_property
    def _streams(self) -> Sequence[str]:
        return list(json.loads(self._options["streams"]))

    @cached_property
    def _columns(self) -> Mapping[str, Sequence[str]]:
        return {
            stream: list(dict.fromkeys((*names, self._model.time[stream], ARRIVAL)))
            for stream, names in self._kernel.reads.items()
        }

    def _late_from(self, stream: str, events: pa.Table) -> Longs | None:
        return self._kernel.late_from(stream, events)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        kernel = self._kernel
        keys = json.loads(self._options["keys"])
        parts: dict[str, list[pa.Table]] = {stream: [] for stream in self._streams}
        numbers, watermark = partition.value
        newest = -1
        for _, tables, newest_of_slice in self._read_slices(numbers, watermark):
            if tables is None:
                newest = END_OF_TIME
                continue
            newest = max(newest, -1 if newest_of_slice is None else newest_of_slice)
            # Slice by slice: what is dropped here is not copied when slices are put together.
            for stream, events in kernel.combine_all(tables).items():
                parts[stream].append(events)
        rows: list[tuple[int, str, int, int, bytes]] = []
        for stream, combined in parts.items():
            if combined:
                events = pa.concat_tables(combined).combine_chunks()
                column = None if kernel.dealt_by is None else kernel.dealt_by[stream]
                for key, cell in zip(keys, deal(events, column, len(keys)), strict=True):
                    rows.append((key, stream, numbers[0], newest, cell))
        if newest == END_OF_TIME:
            rows += [(key, "", numbers[0], newest, b"") for key in keys]
        yield pa.record_batch(
            [
                pa.array(column, field.type)
                for column, field in zip(zip(*rows, strict=True), _CELLS, strict=True)
            ],
            schema=_CELLS,
        )


def kernel_named(name: str, arguments: Mapping[str, Any]) -> Kernel:
    """The kernel `module:Class` of this package, for tasks that get its name only."""
    module, _, made = name.partition(":")
    if not module.startswith("causeway.nexmark."):
        raise ValueError(f"{name} is no kernel of this program")
    kernel = getattr(import_module(module), made)(**arguments)
    assert isinstance(kernel, Kernel)
    return kernel


def deal(events: pa.Table, key: str | None, shards: int) -> list[bytes]:
    """The events of each shard, in their order, a cell each.

    Compressed: on their way to the shards Spark copies cells several times.
    """
    if key is None:
        assert shards == 1
        return [pack_table(events, compression="zstd")]
    # Not in turn: hot identifiers are often multiples of a number, and would all go to the same shard.
    identifiers = events.column(key).cast(pa.int64()).to_numpy().astype(np.uint64)
    shard = (identifiers * _MIXER >> _MIXED_BITS) % np.uint64(shards)
    parts = (events.take(np.flatnonzero(shard == number)) for number in range(shards))
    return [pack_table(part, compression="zstd") for part in parts]


def _spark_schema(options: Mapping[str, str]) -> pa.Schema:
    """The rows of a stream as Spark has them: times in microseconds, nulls only where there can be some."""
    stream = MODELS[options["model"]].streams[options["stream"]].append(pa.field(ARRIVAL, pa.int64()))
    fields = [stream.field(name) for name in json.loads(options["columns"])]
    return pa.schema(
        [
            pa.field(
                field.name,
                pa.timestamp("us", tz="UTC") if pa.types.is_timestamp(field.type) else field.type,
                nullable=field.name in OPTIONAL,
            )
            for field in fields
        ]
    )


def _sql_type(kind: pa.DataType) -> str:
    if pa.types.is_timestamp(kind):
        return "TIMESTAMP"
    return "STRING" if pa.types.is_string(kind) else "LONG"
