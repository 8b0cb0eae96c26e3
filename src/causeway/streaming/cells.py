"""Named arrays, or a table, in one cell of bytes: how input, state and answers travel through Spark.

Spark moves and keeps a few large cells instead of many small rows, so that its cost per tuple is that of
copying bytes. A cell is a line of JSON (names, types, lengths) and the arrays' own memory after it; nothing
in it is ever executed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["Arrays", "concatenate", "pack", "pack_table", "unpack", "unpack_table"]

Arrays = dict[str, NDArray[Any]]

_ALIGNED = 16


def pack(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """One cell with all `arrays`, of one dimension or more, in their order."""
    packed = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    header = json.dumps(
        [
            [name, array.dtype.descr if array.dtype.names else array.dtype.str, array.shape]
            for name, array in packed.items()
        ]
    ).encode()
    parts = [header + b" " * (-(len(header) + 1) % _ALIGNED) + b"\n"]
    for array in packed.values():
        parts += [array.tobytes(), b"\0" * (-array.nbytes % _ALIGNED)]
    return b"".join(parts)


def unpack(cell: bytes) -> Arrays:
    """The arrays of a cell, in memory of their own.

    Views of the cell would be read-only, which compiled kernels take for another type of argument.
    """
    memory = bytearray(cell)
    end = cell.index(b"\n") + 1
    arrays = {}
    for name, kind, shape in json.loads(cell[:end]):
        dtype = np.dtype(kind if isinstance(kind, str) else [tuple(field) for field in kind])
        count = int(np.prod(shape))
        arrays[name] = np.frombuffer(memory, dtype, count, end).reshape(shape)
        end += count * dtype.itemsize + -(count * dtype.itemsize) % _ALIGNED
    return arrays


def concatenate(cells: Iterable[Arrays]) -> Arrays:
    """Arrays of the same names, one after the other."""
    together = list(cells)
    if len(together) == 1:
        return together[0]
    return {name: np.concatenate([arrays[name] for arrays in together]) for name in together[0]}


def pack_table(table: pa.Table, *, compression: str | None = None) -> bytes:
    """One cell with all rows of `table`, in Arrow's stream format, optionally compressed ("lz4", "zstd")."""
    buffer = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(buffer, table.schema, options=options) as writer:
        writer.write_table(table)
    return bytes(buffer.getvalue())


def unpack_table(cell: bytes) -> pa.Table:
    """The table of a cell, without a copy."""
    return pa.ipc.open_stream(pa.py_buffer(cell)).read_all()
