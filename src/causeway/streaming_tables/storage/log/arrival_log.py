"""The arrival log: the rows that were accepted and are not in the past yet."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from causeway.streaming_tables.storage.errors import DamagedTableError, refusal
from causeway.streaming_tables.storage.log.frames import (
    Frame,
    Progress,
    decode_frame,
    encode_frame,
    encode_header,
    read_header,
    torn_at,
)
from causeway.streaming_tables.storage.log.log_state import LogState
from causeway.streaming_tables.storage.log.tail import SegmentTail

__all__ = ["ArrivalLog", "LogWriter", "SegmentGoneError", "sync_folder"]

_SUFFIX: Final = ".frames"
_MOST_BUFFERS: Final = 512


class SegmentGoneError(Exception):
    """A segment is not there any more: its rows have moved to the past."""


def sync_folder(folder: Path) -> None:
    """Make the names in `folder` durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, buffers: Sequence[Any]) -> int:
    """Write all bytes of `buffers`; returns their number."""
    views = [memoryview(buffer).cast("B") for buffer in buffers]
    total = 0
    while views:
        written = os.writev(descriptor, views[:_MOST_BUFFERS])
        total += written
        while views and written >= len(views[0]):
            written -= len(views.pop(0))
        if views and written:
            views[0] = views[0][written:]
    return total


class ArrivalLog:
    """What one process has read of a log: its rows in memory, how far it is. Guarded by its owner's lock."""

    def __init__(self, folder: Path, time: str) -> None:
        """`folder` has the segments; `time` is the name of the time column."""
        self.folder = folder
        self._time = time
        self.segments: dict[int, SegmentTail] = {}
        self.segment = -1
        self.size = 0
        self.progress = Progress()

    def path(self, segment: int) -> Path:
        """The file of the segment that begins with that frame."""
        return self.folder / f"{segment:012d}{_SUFFIX}"

    def segments_on_disk(self) -> list[int]:
        """Numbers of the first frames of all segments, rising."""
        files = (path for path in self.folder.iterdir() if path.suffix == _SUFFIX)
        return sorted(int(path.stem) for path in files if path.stem.isdigit())

    def bytes_since(self, frame: int) -> int:
        """Bytes of frames from that segment on."""
        return sum(tail.bytes for first, tail in self.segments.items() if first >= frame)

    def forget_before(self, frame: int) -> None:
        """Let go of segments whose rows are in the past."""
        self.segments = {first: tail for first, tail in self.segments.items() if first >= frame}

    def read(self, mark: int, state: LogState | None, *, allow_torn: bool = False) -> int | None:
        """Read on, from frame `mark` at least, to the acknowledged end or, without a state, to the end.

        Returns the offset of a torn end in the last segment, if there is one. Broken frames before the
        acknowledged end are damage. `allow_torn` reads beyond the acknowledged end, as a writer does.
        """
        if self.segment < mark:
            self._begin(mark)
        self.forget_before(mark)
        later = [] if state and self.segment == state.segment and not allow_torn else self._later(state)
        if state and not allow_torn:
            later = [first for first in later if first <= state.segment]
        for following in later:
            self._read_segment(self.segment, None, None)
            if self.progress.frames != following:
                missing = self.path(self.progress.frames)
                raise DamagedTableError(missing, "is missing: the log goes on after it")
            self._begin(following, self.progress)
        acknowledged = state.size if state and state.segment == self.segment else None
        return self._read_segment(self.segment, acknowledged, state, to_end=allow_torn or state is None)

    def _later(self, state: LogState | None) -> list[int]:
        later = [first for first in self.segments_on_disk() if first > self.segment]
        if state and state.segment > self.segment and state.segment not in later:
            raise SegmentGoneError(str(self.path(state.segment)))
        return later

    def _begin(self, segment: int, expected: Progress | None = None) -> None:
        progress, size = read_header(self._content(segment, 0, None), self.path(segment))
        if progress.frames != segment or (expected and progress != expected):
            raise DamagedTableError(self.path(segment), "does not continue the log before it")
        self.segment, self.size, self.progress = segment, size, progress
        self.segments[segment] = SegmentTail(self._time)

    def _read_segment(
        self, segment: int, acknowledged: int | None, state: LogState | None, *, to_end: bool = False
    ) -> int | None:
        if acknowledged is not None and self.size >= acknowledged and not to_end:
            return None
        data = self._content(segment, self.size, None if to_end or acknowledged is None else acknowledged)
        start = self.size
        if acknowledged is not None and len(data) < acknowledged - start:
            raise DamagedTableError(self.path(segment), f"ends at byte {start + len(data)}, before its end")
        offset = 0
        while offset < len(data):
            frame = decode_frame(data, offset, self.progress)
            if frame is None:
                known = acknowledged is not None and start + offset < acknowledged
                if known or not to_end or not torn_at(data, offset, self.progress):
                    where = f"has a damaged frame at byte {start + offset}"
                    raise DamagedTableError(self.path(segment), where)
                return start + offset
            self.take(frame)
            offset += frame.size
        return None

    def rows_between(self, first: int, last: int) -> list[pa.Table]:
        """Rows of the complete segments from `first` to before `last`, with their arrival numbers."""
        self._begin(first)
        while True:
            self._read_segment(self.segment, None, None)
            if self.progress.frames >= last:
                break
            self._begin(self.progress.frames, self.progress)
        return [chunk.table for tail in self.segments.values() for chunk in tail.chunks]

    def begin_next(self, size: int) -> None:
        """Go on in a new segment with a header of that size."""
        self.segment, self.size = self.progress.frames, size
        self.segments[self.segment] = SegmentTail(self._time)

    def take(self, frame: Frame) -> None:
        """Add the next frame."""
        self.segments[self.segment].add(frame)
        self.progress = frame.progress
        self.size += frame.size

    def _content(self, segment: int, begin: int, end: int | None) -> memoryview:
        try:
            descriptor = os.open(self.path(segment), os.O_RDONLY)
        except FileNotFoundError:
            raise SegmentGoneError(str(self.path(segment))) from None
        try:
            wanted = (os.fstat(descriptor).st_size if end is None else end) - begin
            data = bytearray(max(wanted, 0))
            got = 0
            while got < len(data):
                count = os.preadv(descriptor, [memoryview(data)[got:]], begin + got)
                if count == 0:
                    break
                got += count
            return memoryview(data)[:got]
        finally:
            os.close(descriptor)


class LogWriter:
    """Appends to the last segment of a log that has been read to its end."""

    def __init__(self, log: ArrivalLog) -> None:
        """Opens the last segment; what is behind the last whole frame is cut off."""
        self._log = log
        self._descriptor = self._open(log.segment)
        os.ftruncate(self._descriptor, log.size)
        os.fsync(self._descriptor)

    def append(
        self,
        changes: Mapping[str, Any],
        tables: Mapping[str, pa.Table],
        source: str | None = None,
        batch: int | None = None,
    ) -> Frame:
        """Write a frame and make it durable; it is not acknowledged yet, nor in `log`."""
        before = self._log.progress
        buffers = encode_frame(before, changes, tables, source, batch)
        path = self._log.path(self._log.segment)
        try:
            size = write_all(self._descriptor, buffers)
            os.fdatasync(self._descriptor)
        except OSError as failure:
            os.ftruncate(self._descriptor, self._log.size)
            raise refusal(path, failure) from failure
        meta = {"progress": {**changes, "frames": before.frames + 1}, "source": source, "batch": batch}
        return Frame(
            before.after(meta),
            before.next_seq,
            tables.get("rows"),
            tables.get("late"),
            tables.get("rejected"),
            size,
        )

    def make_next(self) -> int | None:
        """Make the next segment durably; returns its size. None if the last one has no frames."""
        log = self._log
        if log.progress.frames == log.segment:
            return None
        return make_segment(log.folder, log.path(log.progress.frames), log.progress)

    def go_on_in_next(self, size: int) -> None:
        """Append to the segment that `make_next` made; the ones before it are complete."""
        log = self._log
        descriptor = self._open(log.progress.frames)
        os.close(self._descriptor)
        self._descriptor = descriptor
        log.begin_next(size)

    def close(self) -> None:
        """Close the segment's file."""
        os.close(self._descriptor)

    def _open(self, segment: int) -> int:
        return os.open(self._log.path(segment), os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)


def make_segment(folder: Path, path: Path, progress: Progress) -> int:
    """Make a segment without frames; it appears whole. Returns its size."""
    fresh = path.with_suffix(".new")
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        try:
            size = write_all(descriptor, encode_header(progress))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        fresh.replace(path)
        sync_folder(folder)
    except OSError as failure:
        fresh.unlink(missing_ok=True)
        raise refusal(path, failure) from failure
    return size
