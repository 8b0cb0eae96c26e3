"""Frames of the arrival log: one for each append, whole or not at all.

A segment is a file of the log: a header with the log's progress at its beginning, then frames. Header and
frames have the same form: a fixed part (magic, length of the JSON part, length of the rest, frame number,
CRC-32), a JSON part, and Arrow IPC streams.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from causeway.streaming_tables.storage.errors import DamagedTableError

__all__ = ["Frame", "Progress", "decode_frame", "encode_frame", "encode_header", "read_header", "torn_at"]

_MAGIC: Final = b"CWF1"
_HEADER_MAGIC: Final = b"CWS1"
_FIXED: Final = struct.Struct("<4sIQQII")
_ALIGNMENT: Final = 8
_PARTS: Final = ("rows", "late", "rejected")


@dataclass(frozen=True)
class Progress:
    """What the log says up to a frame; the same for every reader, however the rows were cut into batches."""

    frames: int = 0
    next_seq: int = 0
    newest: int | None = None
    floor: int | None = None
    """No row with a time up to this one is taken any more, whatever the slack."""
    ended: bool = False
    late_total: int = 0
    rejected_total: int = 0
    wall_time: float = 0.0
    sources: Mapping[str, int] = field(default_factory=dict)

    def closed(self, slack: int) -> int | None:
        """The largest time of which no more rows can come."""
        known = [self.floor] if self.floor is not None else []
        if self.newest is not None:
            known.append(self.newest - slack - 1)
        return max(known) if known else None

    def after(self, meta: Mapping[str, Any]) -> Progress:
        """The progress after a frame with this JSON part."""
        sources = self.sources
        if meta.get("source") is not None:
            sources = {**sources, meta["source"]: meta["batch"]}
        return replace(self, sources=sources, **meta["progress"])


@dataclass(frozen=True)
class Frame:
    """A decoded frame: progress after it, and the rows that it brought."""

    progress: Progress
    first_seq: int
    rows: pa.Table | None
    late: pa.Table | None
    rejected: pa.Table | None
    size: int


def _pack(magic: bytes, number: int, meta: Mapping[str, Any], parts: list[pa.Buffer]) -> list[Any]:
    text = json.dumps(meta, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    size = sum(part.size for part in parts)
    checksum = zlib.crc32(struct.pack("<IQQ", len(text), size, number))
    checksum = zlib.crc32(text, checksum)
    for part in parts:
        checksum = zlib.crc32(part, checksum)
    return [_FIXED.pack(magic, len(text), size, number, checksum, 0), text, *parts]


def encode_frame(
    before: Progress,
    changes: Mapping[str, Any],
    tables: Mapping[str, pa.Table],
    source: str | None,
    batch: int | None,
) -> list[Any]:
    """The buffers of a frame with `tables` (rows, late, rejected) and `changes` of the progress."""
    parts, sizes = [], []
    for name in _PARTS:
        table = tables.get(name)
        if table is None or not table.num_rows:
            sizes.append(0)
            continue
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        parts.append(sink.getvalue())
        sizes.append(parts[-1].size)
    meta = {
        "progress": {**changes, "frames": before.frames + 1},
        "seq": before.next_seq,
        "source": source,
        "batch": batch,
        "parts": sizes,
    }
    return _pack(_MAGIC, before.frames, meta, parts)


def encode_header(progress: Progress) -> list[Any]:
    """The buffers at the beginning of a segment."""
    return _pack(_HEADER_MAGIC, progress.frames, asdict(progress), [])


def _checked(data: memoryview, offset: int, magic: bytes) -> tuple[dict[str, Any], int, int, int] | None:
    """The JSON part, the number, where streams begin and where the frame ends; None if it is not whole."""
    body = offset + _FIXED.size
    if body > len(data):
        return None
    found, text_size, size, number, checksum, _ = _FIXED.unpack_from(data, offset)
    end = body + text_size + size
    if found != magic or end > len(data):
        return None
    expected = zlib.crc32(struct.pack("<IQQ", text_size, size, number))
    if zlib.crc32(data[body:end], expected) != checksum:
        return None
    return json.loads(bytes(data[body : body + text_size])), number, body + text_size, end


def read_header(data: memoryview, path: Path) -> tuple[Progress, int]:
    """The progress at the beginning of a segment, and where its first frame begins."""
    checked = _checked(data, 0, _HEADER_MAGIC)
    if checked is None:
        raise DamagedTableError(path, "has a damaged beginning")
    return Progress(**checked[0]), checked[3]


def decode_frame(data: memoryview, offset: int, before: Progress) -> Frame | None:
    """The frame at `offset`, if it is whole and the next after `before`."""
    checked = _checked(data, offset, _MAGIC)
    if checked is None or checked[1] != before.frames:
        return None
    meta, _, begin, end = checked
    buffer = pa.py_buffer(data)
    tables: dict[str, pa.Table] = {}
    for name, size in zip(_PARTS, meta["parts"], strict=True):
        if size:
            tables[name] = pa.ipc.open_stream(buffer.slice(begin, size)).read_all()
            begin += size
    return Frame(
        before.after(meta),
        meta["seq"],
        tables.get("rows"),
        tables.get("late"),
        tables.get("rejected"),
        end - offset,
    )


def torn_at(data: memoryview, offset: int, before: Progress) -> bool:
    """Whether what begins at `offset` is the torn end of the log.

    A frame is durable before the next one begins. So a whole frame behind a broken one means damage.
    """
    content = bytes(data[offset:])
    place = content.find(_MAGIC)
    while place >= 0:
        checked = _checked(data, offset + place, _MAGIC)
        if checked is not None and checked[1] >= before.frames:
            return False
        place = content.find(_MAGIC, place + 1)
    return True
