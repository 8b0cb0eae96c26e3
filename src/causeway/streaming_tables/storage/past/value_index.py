"""The value index: which rows of a data file hold a value.

Each data file has a sidecar for each indexed column: its distinct values in order, and for each value the
numbers of its rows, rising. NULLs are in no posting. The sidecar is memory-mapped.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import zlib
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from causeway.runtime.compiled import kernel
from causeway.streaming_tables.storage.errors import DamagedTableError

__all__ = ["ValueIndex", "index_file", "is_indexable", "ordered_keys", "write_index"]

_MAGIC: Final = b"CWV1"
_FIXED: Final = struct.Struct("<4sII")
_ALIGNMENT: Final = 64
_REMEDY: Final = "No row is lost: drop the index and create it again"


def index_file(table_folder: Path, column: str, data_file: str) -> Path:
    """The sidecar of a data file, whose name may have folders before it."""
    return table_folder / "index" / column / f"{Path(data_file).stem}.postings"


def is_indexable(kind: pa.DataType) -> bool:
    """Whether a column of this type can have a value index."""
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_date32(kind)
        or pa.types.is_timestamp(kind)
        or pa.types.is_decimal(kind)
    )


def ordered_keys(values: pa.Array) -> NDArray[Any] | pa.Array:
    """Values without NULLs as keys whose order and equality are Spark's: NumPy numbers, or Arrow binary.

    Doubles become integers in the same order: -0.0 is 0.0, all NaNs are one value beyond infinity.
    """
    kind = values.type
    if pa.types.is_string(kind):
        return values.cast(pa.binary())
    if pa.types.is_binary(kind):
        return values
    if pa.types.is_decimal(kind):
        return _decimal_keys(values)
    if pa.types.is_boolean(kind):
        values = values.cast(pa.int8())
    if pa.types.is_floating(kind):
        return _float_keys(values.to_numpy(zero_copy_only=False))
    if pa.types.is_date32(kind):
        values = values.view(pa.int32())
    if pa.types.is_timestamp(kind):
        values = values.view(pa.int64())
    numbers: NDArray[Any] = values.to_numpy(zero_copy_only=False)
    return numbers


def _float_keys(values: NDArray[Any]) -> NDArray[Any]:
    integer = np.int64 if values.dtype == np.float64 else np.int32
    clean = values + values.dtype.type(0)  # -0.0 becomes 0.0
    clean[np.isnan(values)] = np.nan
    bits = clean.view(integer)
    largest = np.iinfo(integer).max
    keys: NDArray[Any] = np.where(bits < 0, bits ^ integer(largest), bits)
    return keys


def _decimal_keys(values: pa.Array) -> pa.Array:
    """Sixteen bytes, most significant first, with the sign turned: their byte order is the numbers'."""
    raw = np.frombuffer(values.buffers()[1], np.uint8)
    width = values.type.byte_width
    raw = raw[values.offset * width : (values.offset + len(values)) * width].reshape(-1, width)
    turned = np.ascontiguousarray(raw[:, ::-1])
    turned[:, 0] ^= 0x80
    offsets = np.arange(0, turned.size + 1, width, dtype=np.int32)
    return pa.Array.from_buffers(
        pa.binary(), len(values), [None, pa.py_buffer(offsets), pa.py_buffer(turned.reshape(-1))]
    )


def write_index(path: Path, column: pa.Array | pa.ChunkedArray) -> None:
    """Write the sidecar of a column, in the order of the data file's rows."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    rows = np.arange(len(column), dtype=np.uint32)
    if column.null_count:
        valid = column.is_valid()
        rows = rows[valid.to_numpy(zero_copy_only=False)]
        column = column.filter(valid)
    keys = ordered_keys(column)
    arrays: dict[str, NDArray[Any]] = {}
    if isinstance(keys, pa.Array):
        encoded = keys.dictionary_encode()
        order = pc.sort_indices(encoded.dictionary)
        distinct = encoded.dictionary.take(order)
        rank = np.empty(len(order), np.int64)
        rank[order.to_numpy()] = np.arange(len(order))
        codes = rank[encoded.indices.to_numpy()] if len(keys) else np.empty(0, np.int64)
        by_value = np.argsort(codes, kind="stable")
        counts = np.bincount(codes, minlength=len(order))
        arrays["value_offsets"], arrays["value_bytes"] = _text_buffers(distinct)
    else:
        by_value = np.argsort(keys, kind="stable")
        ordered = keys[by_value]
        begins = (
            np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(keys) else np.empty(0, np.int64)
        )
        counts = np.diff(np.r_[begins, len(keys)])
        arrays["values"] = ordered[begins]
    arrays["offsets"] = np.r_[0, np.cumsum(counts)].astype(np.uint32)
    arrays["rows"] = rows[by_value]
    _write_arrays(path, arrays)


def _text_buffers(values: pa.Array) -> tuple[NDArray[Any], NDArray[Any]]:
    values = pa.concat_arrays([values])  # without an offset
    offsets = np.frombuffer(values.buffers()[1], np.int32)[: len(values) + 1].astype(np.int64)
    data = values.buffers()[2]
    content = np.frombuffer(data, np.uint8) if data is not None and data.size else np.empty(0, np.uint8)
    return offsets, content[: int(offsets[-1]) if len(offsets) else 0]


def _write_arrays(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    layout, place = {}, 0
    for name, array in arrays.items():
        layout[name] = [array.dtype.str, len(array), place]
        place += array.nbytes + (-array.nbytes % _ALIGNMENT)
    text = json.dumps(layout).encode()
    text += b" " * (-(len(text) + _FIXED.size) % _ALIGNMENT)
    checksum = zlib.crc32(text)
    pieces: list[bytes] = []
    for array in arrays.values():
        content = array.tobytes()
        content += bytes(-len(content) % _ALIGNMENT)
        checksum = zlib.crc32(content, checksum)
        pieces.append(content)
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".new")
    try:
        with fresh.open("wb") as file:
            file.write(_FIXED.pack(_MAGIC, len(text), checksum))
            file.write(text)
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


class ValueIndex:
    """A sidecar, memory-mapped. Its checksum is verified once, when it is opened."""

    def __init__(self, path: Path) -> None:
        """FileNotFoundError if it is missing; DamagedTableError if it is damaged."""
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            content: Any = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
        view = memoryview(content)
        if size < _FIXED.size:
            raise DamagedTableError(path, "is cut off", _REMEDY)
        magic, text_size, checksum = _FIXED.unpack_from(view)
        body = view[_FIXED.size :]
        if magic != _MAGIC or zlib.crc32(body) != checksum:
            raise DamagedTableError(path, "is damaged", _REMEDY)
        layout = json.loads(bytes(body[:text_size]))
        begin = _FIXED.size + text_size
        self._arrays = {
            name: np.frombuffer(content, dtype, count, begin + place)
            for name, (dtype, count, place) in layout.items()
        }
        self.size = size

    @property
    def distinct(self) -> int:
        """How many values there are."""
        return len(self._arrays["offsets"]) - 1

    @property
    def entries(self) -> int:
        """How many rows have a value."""
        return len(self._arrays["rows"])

    def slots_of(self, keys: NDArray[Any] | pa.Array) -> NDArray[np.int64]:
        """Slots of the values that are there, of sorted distinct `keys`."""
        if isinstance(keys, pa.Array):
            offsets, content = _text_buffers(keys)
            places = self._text_places(offsets, content)
            found = places[places >= 0]
            return found
        values = self._arrays["values"]
        places = np.searchsorted(values, keys)
        inside = places < len(values)
        places = places[inside]
        slots: NDArray[np.int64] = places[values[places] == keys[inside]]
        return slots

    def slots_between(
        self,
        low: NDArray[Any] | pa.Array | None,
        high: NDArray[Any] | pa.Array | None,
        ends: tuple[bool, bool],
    ) -> tuple[int, int]:
        """First slot and the one after the last of a range of values; `ends` says which ends belong to it."""
        first, last = 0, self.distinct
        if low is not None:
            first = self._bound(low, after=not ends[0])
        if high is not None:
            last = self._bound(high, after=ends[1])
        return first, max(first, last)

    def _bound(self, key: NDArray[Any] | pa.Array, *, after: bool) -> int:
        if isinstance(key, pa.Array):
            offsets, content = _text_buffers(key)
            place = int(
                _lower_bounds(self._arrays["value_offsets"], self._arrays["value_bytes"], offsets, content)[0]
            )
            return place + int(after and bool((self._text_places(offsets, content) >= 0).any()))
        return int(np.searchsorted(self._arrays["values"], key[0], side="right" if after else "left"))

    def _text_places(self, offsets: NDArray[Any], content: NDArray[Any]) -> NDArray[np.int64]:
        return _text_slots(self._arrays["value_offsets"], self._arrays["value_bytes"], offsets, content)

    def count(self, slots: NDArray[np.int64] | range) -> int:
        """How many rows the slots have."""
        offsets = self._arrays["offsets"]
        if isinstance(slots, range):
            return int(offsets[slots.stop]) - int(offsets[slots.start]) if slots else 0
        return int((offsets[slots + 1].astype(np.int64) - offsets[slots]).sum())

    def rows(self, slots: NDArray[np.int64] | range, begin: int, end: int) -> NDArray[np.int64]:
        """Row numbers from `begin` to before `end` that the slots have, rising."""
        if isinstance(slots, range):
            slots = np.arange(slots.start, slots.stop, dtype=np.int64)
        found = _rows_of(self._arrays["offsets"], self._arrays["rows"], slots, begin, end)
        found.sort()
        return found


@kernel
def _rows_of(
    offsets: NDArray[np.uint32],
    rows: NDArray[np.uint32],
    slots: NDArray[np.int64],
    begin: int,
    end: int,
) -> NDArray[np.int64]:
    first = np.empty(len(slots), np.int64)
    count = np.empty(len(slots), np.int64)
    total = 0
    for number in range(len(slots)):
        low, high = np.int64(offsets[slots[number]]), np.int64(offsets[slots[number] + 1])
        first[number] = low + np.searchsorted(rows[low:high], begin)
        count[number] = low + np.searchsorted(rows[low:high], end) - first[number]
        total += count[number]
    found = np.empty(total, np.int64)
    place = 0
    for number in range(len(slots)):
        for offset in range(count[number]):
            found[place] = rows[first[number] + offset]
            place += 1
    return found


@kernel
def _lower_bounds(
    offsets: NDArray[np.int64],
    content: NDArray[np.uint8],
    key_offsets: NDArray[np.int64],
    key_content: NDArray[np.uint8],
) -> NDArray[np.int64]:
    """For each key, the first place whose text is not before it, in the order of bytes."""
    places = np.empty(len(key_offsets) - 1, np.int64)
    for number in range(len(key_offsets) - 1):
        key_begin, key_end = key_offsets[number], key_offsets[number + 1]
        low, high = 0, len(offsets) - 1
        while low < high:
            middle = (low + high) // 2
            place, key_place = offsets[middle], key_begin
            end = offsets[middle + 1]
            while place < end and key_place < key_end and content[place] == key_content[key_place]:
                place += 1
                key_place += 1
            if key_place == key_end:
                before = False
            elif place == end:
                before = True
            else:
                before = content[place] < key_content[key_place]
            if before:
                low = middle + 1
            else:
                high = middle
        places[number] = low
    return places


def _text_slots(
    offsets: NDArray[np.int64],
    content: NDArray[np.uint8],
    key_offsets: NDArray[np.int64],
    key_content: NDArray[np.uint8],
) -> NDArray[np.int64]:
    """The slot of each key, or -1."""
    places = _lower_bounds(offsets, content, key_offsets, key_content)
    slots = np.full(len(places), -1, np.int64)
    for number, place in enumerate(places.tolist()):
        if place < len(offsets) - 1:
            text = content[offsets[place] : offsets[place + 1]].tobytes()
            if text == key_content[key_offsets[number] : key_offsets[number + 1]].tobytes():
                slots[number] = place
    return slots
