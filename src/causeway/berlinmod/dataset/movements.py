"""Movements as flat arrays, and as columns of Arrow: a row group of dataScar or dataMtrip, there and back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from causeway.berlinmod.dataset.schemas import LISTS
from causeway.berlinmod.model.arrays import F64, I32, I64
from causeway.berlinmod.trips.recording import cumulate_lengths, make_boxes
from causeway.runtime.errors import UserError

__all__ = ["Movements", "RowGroupWriter", "read_movements", "table_of_movements"]

_DELTA = "DELTA_BINARY_PACKED"
_PLAIN = "PLAIN"


class Movements(NamedTuple):
    """Moving points, one after the other: movement i has the instants from `offsets[i]` on."""

    offsets: I64
    t: I64
    x: F64
    y: F64


def table_of_movements(schema: pa.Schema, columns: Mapping[str, Any], movements: Movements) -> pa.Table:
    """Rows of dataScar or dataMtrip: the other `columns`, and all that follows from the movements."""
    offsets, t, x, y = movements
    boxes = make_boxes(offsets, t, x, y)
    first, last = offsets[:-1], offsets[1:] - 1
    begins = boxes.offsets[:-1]
    values = {
        **columns,
        "Trip": _struct(schema, "Trip", [_lists(offsets, t), _lists(offsets, x), _lists(offsets, y)]),
        "length": _lists(offsets, cumulate_lengths(offsets, x, y)),
        "t_min": t[first],
        "t_max": t[last],
        "x_min": np.minimum.reduceat(boxes.x_min, begins),
        "x_max": np.maximum.reduceat(boxes.x_max, begins),
        "y_min": np.minimum.reduceat(boxes.y_min, begins),
        "y_max": np.maximum.reduceat(boxes.y_max, begins),
        "boxes": _struct(schema, "boxes", [_lists(boxes.offsets, column) for column in boxes[1:]]),
    }
    return pa.Table.from_arrays([_column(values[field.name], field.type) for field in schema], schema=schema)


def _lists(offsets: I64, values: Any) -> pa.ListArray:
    array = pa.array(values)
    return pa.ListArray.from_arrays(
        pa.array(offsets.astype(np.int32)),
        array,
        type=pa.list_(pa.field("element", array.type, nullable=False)),
    )


def _struct(schema: pa.Schema, name: str, children: list[pa.Array]) -> pa.StructArray:
    kind = schema.field(name).type
    return pa.StructArray.from_arrays(children, fields=[kind.field(i) for i in range(kind.num_fields)])


def _column(values: Any, kind: pa.DataType) -> pa.Array:
    return values if isinstance(values, pa.Array) else pa.array(values, kind)


class RowGroupWriter:
    """A Parquet file whose row groups are the tables that are appended; times are delta encoded."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        leaves = _leaves(schema)
        texts = [name for name, kind in leaves.items() if pa.types.is_string(kind)]
        encodings = {
            name: _DELTA if pa.types.is_int64(kind) else _PLAIN
            for name, kind in leaves.items()
            if name not in texts and not pa.types.is_boolean(kind)
        }
        self._writer = pq.ParquetWriter(
            path,
            schema,
            compression="none",
            use_dictionary=texts,
            column_encoding=encodings,
            write_statistics=[name for name in leaves if "." not in name],
        )

    def append(self, table: pa.Table) -> None:
        """Write a row group."""
        self._writer.write_table(table, row_group_size=max(1, table.num_rows))

    def __enter__(self) -> RowGroupWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._writer.close()


def _leaves(schema: pa.Schema) -> dict[str, pa.DataType]:
    """The columns of the file by their paths: structs and lists are taken apart."""
    found: dict[str, pa.DataType] = {}

    def visit(path: str, kind: pa.DataType) -> None:
        if pa.types.is_struct(kind):
            for i in range(kind.num_fields):
                visit(f"{path}.{kind.field(i).name}", kind.field(i).type)
        elif pa.types.is_list(kind):
            visit(f"{path}.list.element", kind.value_type)
        else:
            found[path] = kind

    for field in schema:
        visit(field.name, field.type)
    return found


def read_movements(path: Path, group: int, columns: tuple[str, ...] = ()) -> tuple[Movements, dict[str, Any]]:
    """A row group's movements, and other columns of it as NumPy arrays (lists and structs as Arrow's)."""
    try:
        table = pq.ParquetFile(path).read_row_group(group, columns=["Trip", *columns])
    except (OSError, pa.ArrowException) as unreadable:
        raise UserError(f"{path} cannot be read: {unreadable}; generate the data again") from unreadable
    trip = table.column("Trip").combine_chunks()
    t = trip.field("t")
    others = {
        name: table.column(name).combine_chunks()
        if name in LISTS
        else table.column(name).to_numpy(zero_copy_only=False)
        for name in columns
    }
    x, y = (trip.field(axis).values.to_numpy() for axis in ("x", "y"))
    offsets: I32 = t.offsets.to_numpy()
    return Movements(offsets.astype(np.int64), t.values.to_numpy(), x, y), others
