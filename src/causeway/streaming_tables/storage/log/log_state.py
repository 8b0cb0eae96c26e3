"""The small memory-mapped file that says what of the log is acknowledged.

It has two slots, written in turn, each with a checksum. A reader takes the valid slot with the larger number,
so it never waits and never sees half of a change. The file is not synced: after a power loss it may be behind
the log. It names the boot of the system that it was written in, and readers of a later boot read the log.
"""

from __future__ import annotations

import mmap
import struct
import zlib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

__all__ = ["DROPPED", "LogState", "StateFile", "this_boot"]

_SLOT: Final = struct.Struct("<4sQQQQqQ16s")
_CHECKSUM: Final = struct.Struct("<I")
_SLOT_SIZE: Final = 128
_MAGIC: Final = b"CWA1"


@cache
def this_boot() -> bytes:
    """Sixteen bytes that differ between two boots of the system, where the system tells."""
    try:
        text = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return bytes.fromhex(text.replace("-", ""))
    except (OSError, ValueError):
        return bytes(16)


DROPPED: Final = 2**63 - 1
"""The generation of a table that was dropped."""


@dataclass(frozen=True)
class LogState:
    """The acknowledged end of the log, and the versions of what belongs to it."""

    number: int
    segment: int
    """Number of the first frame of the segment with the end."""
    size: int
    """Acknowledged bytes of that segment."""
    frames: int
    past_version: int
    generation: int
    boot: bytes

    @property
    def is_of_this_boot(self) -> bool:
        """Whether no power loss can lie between the last change and now."""
        return self.boot == this_boot()


class StateFile:
    """The mapped file. One writer; any number of readers in any process."""

    def __init__(self, path: Path, *, writable: bool = False) -> None:
        """Opens the file; the writer makes it if it is missing."""
        if writable and (not path.exists() or path.stat().st_size < 2 * _SLOT_SIZE):
            path.write_bytes(bytes(2 * _SLOT_SIZE))
        with path.open("r+b" if writable else "rb") as file:
            access = mmap.ACCESS_WRITE if writable else mmap.ACCESS_READ
            self._map = mmap.mmap(file.fileno(), 2 * _SLOT_SIZE, access=access)

    def read(self) -> LogState | None:
        """The newest state; None if neither slot is valid."""
        slots = [state for place in (0, _SLOT_SIZE) if (state := self._slot(place))]
        return max(slots, key=lambda state: state.number, default=None)

    def write(self, state: LogState) -> LogState:
        """Make `state` the newest one; gives it the next number and the name of this boot."""
        last = self.read()
        state = replace(state, number=last.number + 1 if last else state.number + 1, boot=this_boot())
        content = _SLOT.pack(
            _MAGIC,
            state.number,
            state.segment,
            state.size,
            state.frames,
            state.past_version,
            state.generation,
            state.boot,
        )
        content += _CHECKSUM.pack(zlib.crc32(content))
        place = _SLOT_SIZE * (state.number % 2)
        self._map[place : place + len(content)] = content
        return state

    def close(self) -> None:
        """Unmap the file."""
        self._map.close()

    def _slot(self, place: int) -> LogState | None:
        content = self._map[place : place + _SLOT.size + _CHECKSUM.size]
        if zlib.crc32(content[: _SLOT.size]) != _CHECKSUM.unpack_from(content, _SLOT.size)[0]:
            return None
        magic, *values = _SLOT.unpack_from(content)
        return LogState(*values) if magic == _MAGIC else None
