"""Spark's way to the slices: rows of one stream, or a shard's events in one cell.

The offset is the next slice. After the last one comes the end, a slice of its own in which time runs out, so
that every window closes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows

from causeway.nexmark.events.slices import Slices
from causeway.nexmark.model import ARRIVAL, MODELS, OPTIONAL
from causeway.nexmark.operators.kernels import END_OF_TIME, Kernel

if TYPE_CHECKING:
    from causeway.nexmark.events.event_text import Reject

__all__ = [
    "CELLS_DDL",
    "CellSource",
    "RowSource",
    "deal",
    "from_bytes",
    "keep_rejects",
    "kernel_named",
    "to_bytes",
]

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


class RowSource(DataSource):
    """Rows of one stream.

    Options: `folder`, `model`, `stream`, `columns` (JSON), `rejects`, `most` slices a batch, in `tasks`; with
    `end`, a row at the end of time comes last.
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

    Options: `folder`, `model`, `kernel`, its `arguments` (JSON), the shards' `keys` (JSON), `rejects`, `most`
    slices a batch, in `tasks`.
    """

    @classmethod
    def name(cls) -> str:
        return "nexmark-cells"

    def schema(self) -> str:
        return CELLS_DDL

    def streamReader(self, schema: Any) -> DataSourceStreamReader:  # noqa: N802
        return _CellReader(dict(self.options))


class _SliceReader(DataSourceStreamReader):
    """Counts slices, and gives each task a run of them."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = options
        self._most = int(options["most"])
        self._tasks = int(options["tasks"])

    @property
    def _slices(self) -> Slices:
        return Slices(Path(self._options["folder"]), MODELS[self._options["model"]])

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return {"slice": 0}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxRows(self._most)

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        slices = self._slices
        first, last = start["slice"], slices.released
        if not isinstance(limit, ReadAllAvailable):
            last = min(last, first + max(1, self._most))
        total = slices.total
        if total is not None and last == total <= first:
            # The end is a batch of its own: before it, Spark's own watermark has seen all that there is.
            last = total + 1
        return {"slice": max(first, last)}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        numbers = np.arange(start["slice"], end["slice"])
        parts = [part.tolist() for part in np.array_split(numbers, self._tasks) if len(part)]
        return [InputPartition(part) for part in parts]

    def commit(self, end: dict[str, int]) -> None:
        """Slices stay: they are the user's, or the run's, which takes them away as a whole."""

    def _read_slices(
        self, numbers: Sequence[int], columns: Mapping[str, Sequence[str]]
    ) -> Iterator[tuple[int, dict[str, pa.Table] | None]]:
        """Each slice's tables, `None` for the end."""
        slices = self._slices
        total = slices.total
        for number in numbers:
            if total is not None and number >= total:
                yield number, None
                continue
            tables, rejects = slices.read(number, columns)
            keep_rejects(Path(self._options["rejects"]), number, rejects)
            yield number, tables


class _RowReader(_SliceReader):
    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        stream = self._options["stream"]
        schema = _spark_schema(self._options)
        for _, tables in self._read_slices(partition.value, {stream: schema.names}):
            if tables is not None:
                yield from tables[stream].cast(schema).to_batches(_ROWS_AT_ONCE)
            elif "end" in self._options:
                yield _end_row(schema, MODELS[self._options["model"]].time[stream])


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
            tables, _ = self._slices.read(number, {stream: schema.names})
            yield from tables[stream].cast(schema).to_batches(_ROWS_AT_ONCE)


class _CellReader(_SliceReader):
    @cached_property
    def _kernel(self) -> Kernel:
        return kernel_named(self._options["kernel"], json.loads(self._options["arguments"]))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        kernel = self._kernel
        keys = json.loads(self._options["keys"])
        times = MODELS[self._options["model"]].time
        wanted = {
            stream: list(dict.fromkeys((*names, times[stream], ARRIVAL)))
            for stream, names in kernel.reads.items()
        }
        together: dict[str, list[pa.Table]] = {stream: [] for stream in wanted}
        newest = -1
        for _, tables in self._read_slices(partition.value, wanted):
            if tables is None:
                newest = END_OF_TIME
                continue
            for stream, events in tables.items():
                if events.num_rows:
                    newest = max(newest, int(events.column(times[stream]).cast(pa.int64()).to_numpy().max()))
                together[stream].append(events)
        rows: list[tuple[int, str, int, int, bytes]] = []
        for stream, parts in together.items():
            if parts:
                events = kernel.combine(stream, pa.concat_tables(parts).combine_chunks())
                by = None if kernel.dealt_by is None else kernel.dealt_by[stream]
                for key, dealt in zip(keys, deal(events, by, len(keys)), strict=True):
                    rows.append((key, stream, partition.value[0], newest, dealt))
        if newest == END_OF_TIME:
            rows += [(key, "", partition.value[0], newest, b"") for key in keys]
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


def keep_rejects(folder: Path, number: int, rejects: Mapping[str, Sequence[tuple[Path, Reject]]]) -> None:
    """Write what was no event, a file for each slice and stream; written again, it is the same file."""
    for stream, refused in rejects.items():
        if refused:
            folder.mkdir(parents=True, exist_ok=True)
            aside = folder / f".{stream}-{number:06d}.{np.random.default_rng().integers(1 << 62)}"
            aside.write_text(
                "".join(
                    json.dumps(
                        {"file": str(path), "line": reject.line, "reason": reject.reason, "text": reject.text}
                    )
                    + "\n"
                    for path, reject in refused
                )
            )
            aside.replace(folder / f"{stream}-{number:06d}.jsonl")


def deal(events: pa.Table, key: str | None, shards: int) -> list[bytes]:
    """The events of each shard, in their order, as Arrow writes them."""
    if key is None:
        assert shards == 1
        return [to_bytes(events)]
    # Identifiers are dealt out in turn: neighbours, which are hot together, go to different shards.
    shard = events.column(key).cast(pa.int64()).to_numpy() % shards
    return [to_bytes(events.take(np.flatnonzero(shard == number))) for number in range(shards)]


def to_bytes(table: pa.Table) -> bytes:
    """A table in one cell."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def from_bytes(cell: bytes) -> pa.Table:
    """The table of a cell."""
    return pa.ipc.open_stream(pa.py_buffer(cell)).read_all()


def _spark_schema(options: Mapping[str, str]) -> pa.Schema:
    """The rows of a stream as Spark has them: times in microseconds, nulls only where there can be some."""
    stream = MODELS[options["model"]].streams[options["stream"]].append(pa.field(ARRIVAL, pa.int64()))
    fields = [stream.field(name) for name in json.loads(options["columns"])]
    return pa.schema(
        [
            pa.field(
                field.name,
                pa.timestamp("us", tz="UTC") if pa.types.is_timestamp(field.type) else field.type,
                nullable=field.name in OPTIONAL or "end" in options,
            )
            for field in fields
        ]
    )


def _sql_type(kind: pa.DataType) -> str:
    if pa.types.is_timestamp(kind):
        return "TIMESTAMP"
    return "STRING" if pa.types.is_string(kind) else "LONG"


def _end_row(schema: pa.Schema, time: str) -> pa.RecordBatch:
    """A row of nulls at the end of time, for the watermark of Spark's own operators."""
    end = datetime.fromtimestamp(END_OF_TIME / 1000, UTC)
    columns = [pa.array([end if field.name == time else None], field.type) for field in schema]
    return pa.record_batch(columns, schema=schema)
