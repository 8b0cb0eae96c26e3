"""The part of the data driver that works ahead: merges the stream's seconds and encodes them into files.

It runs in a thread of its own, so that at a file's due moment there is nothing left to do but a rename.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from causeway.linear_road.driver.spool import spool_file_name
from causeway.linear_road.workload.stream_reader import read_seconds
from causeway.linear_road.workload.workload import Workload
from causeway.runtime.errors import UserError

__all__ = ["AheadFile", "Encoder"]

_FILE_ROWS: Final = 1 << 20
"""The rows at which a file of several seconds is closed early, so that memory stays bounded."""

_PAST_FILES_AHEAD: Final = 2
"""Files of the past that wait at a time: they are much larger than those of real time."""

_POLL: Final = 0.1


@dataclass(frozen=True)
class AheadFile:
    """An encoded file that waits under a hidden name."""

    path: Path
    first: int
    """The first second that it covers: the one after the file before it."""
    earliest: int
    """The first second of which it has tuples."""
    last: int
    """The last second that it covers, which has tuples."""
    seconds: int
    """Seconds that have tuples."""
    tuples: int
    size: int
    past: bool

    @property
    def name(self) -> str:
        return spool_file_name(self.first, self.last)


class Encoder:
    """The thread that merges and encodes ahead; leaving the context ends it, and leaves its files there."""

    def __init__(
        self,
        workload: Workload,
        folder: Path,
        *,
        first: int,
        origin: int,
        seconds_per_file: int,
        files_ahead: int,
    ) -> None:
        """Encode from second `first` on; what is before `origin` is the past."""
        self._workload = workload
        self._folder = folder
        self._first = first
        self._origin = origin
        self._seconds_per_file = seconds_per_file
        self._files: queue.Queue[AheadFile | Exception | None] = queue.Queue(files_ahead)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="encoder", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    @property
    def is_ahead(self) -> bool:
        """Whether it has encoded as far ahead as it may, or all there is."""
        return self._files.full() or not self._thread.is_alive()

    def next_file(self, timeout: float) -> AheadFile | None:
        """The next file in time, None at the end; raises `queue.Empty`, or what made the encoding fail."""
        file = self._files.get(timeout=timeout)
        if isinstance(file, Exception):
            raise file
        return file

    def _run(self) -> None:
        last: Exception | None = None
        try:
            for file in self._encode():
                if not self._put(file):
                    return
        except OSError as refused:
            last = UserError(f"{self._folder.parent} cannot be written: {refused.strerror or refused}")
        except Exception as failure:
            last = failure
        self._put(last)

    def _put(self, file: AheadFile | Exception | None) -> bool:
        past = isinstance(file, AheadFile) and file.past
        while not self._stop.is_set():
            if past and self._files.qsize() >= _PAST_FILES_AHEAD:
                self._stop.wait(_POLL / 10)
                continue
            try:
                self._files.put(file, timeout=_POLL)
                return True
            except queue.Full:
                continue
        return False

    def _encode(self) -> Iterator[AheadFile]:
        """Cut the stream into files: of a minute in the past, of one release from then on."""
        batches: list[pa.RecordBatch] = []
        times: list[int] = []
        rows = 0
        for second in read_seconds(self._workload.parts, self._workload.format, self._first):
            if times and (rows >= _FILE_ROWS or self._file_of(second.time) != self._file_of(times[0])):
                yield self._write(batches, times)
                batches, times, rows = [], [], 0
            batches += second.batches
            times.append(second.time)
            rows += sum(batch.num_rows for batch in second.batches)
        if times:
            yield self._write(batches, times)

    def _file_of(self, second: int) -> tuple[bool, int]:
        if second < self._origin:
            return (False, second // 60)
        return (True, (second - self._origin) // self._seconds_per_file)

    def _write(self, batches: list[pa.RecordBatch], times: list[int]) -> AheadFile:
        first, self._first = self._first, times[-1] + 1
        path = self._folder / f"{first:012d}.parquet"
        table = pa.Table.from_batches(batches)
        # Of the encodings that Spark reads with its vectorised reader, the fastest both to write and to read.
        pq.write_table(table, path, compression="lz4", use_dictionary=False, write_statistics=False)
        return AheadFile(
            path=path,
            first=first,
            earliest=times[0],
            last=times[-1],
            seconds=len(times),
            tuples=table.num_rows,
            size=path.stat().st_size,
            past=times[0] < self._origin,
        )
