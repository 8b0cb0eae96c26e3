"""Columns of binary values as one flat buffer and offsets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from causeway.moving_objects.kernels.values import Longs
from causeway.runtime.compiled import kernel

__all__ = ["binary_array", "copy_runs", "flat_bytes"]


def flat_bytes(column: pa.Array) -> tuple[Longs, NDArray[np.uint8]]:
    """Offsets from 0 and all bytes of a column without NULLs."""
    plain = column.cast(pa.large_binary())
    _, offsets, data = plain.buffers()
    ends = np.frombuffer(offsets, np.int64, len(plain) + 1, plain.offset * 8)
    if data is None:
        return ends - ends[0], np.empty(0, np.uint8)
    return ends - ends[0], np.frombuffer(data, np.uint8)[ends[0] : ends[-1]]


def binary_array(offsets: Longs, data: NDArray[np.uint8]) -> pa.Array:
    """A column of binary values of all bytes and their offsets."""
    buffers = [None, pa.py_buffer(offsets.astype(np.int64)), pa.py_buffer(np.ascontiguousarray(data))]
    large = pa.Array.from_buffers(pa.large_binary(), len(offsets) - 1, buffers)
    return large.cast(pa.binary())


@kernel
def copy_runs(source: Any, begins: Longs, lengths: Longs, target: Any, places: Longs) -> Any:
    """Copy run k of `source` (from begins[k] on) to `target` from places[k] on."""
    for k in range(len(begins)):
        for i in range(lengths[k]):
            target[places[k] + i] = source[begins[k] + i]
