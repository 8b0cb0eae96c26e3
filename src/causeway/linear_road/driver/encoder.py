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

_STOP_POLL: Final = 0.1


@dataclass(frozen=True)
class AheadFile:
    """An encoded file that waits under a hidden name."""

    path: Path
    first: int
    last: int
    seconds: int
    tuples: int
    past: bool

    @property
    def name(self) -> str:
        return spool_file_name(self.first, self.last)


class Encoder:
    """The thread that merges and encodes ahead; leaving the context ends it, and leaves its files there."""

    def __init__(
        self, workload: Workload, folder: Path, *, first: int, origin: int, group: int, files_ahead: int
    ) -> None:
        """Encode from second `first` on; what is before `origin` is the past."""
        self._workload = workload
        self._folder = folder
        self._first = first
        self._origin = origin
        self._group = group
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
        while not self._stop.is_set():
            try:
                self._files.put(file, timeout=_STOP_POLL)
                return True
            except queue.Full:
                continue
        return False

    def _encode(self) -> Iterator[AheadFile]:
        """Cut the stream into files: of a minute in the past, of one release from then on."""
        batches: list[pa.RecordBatch] = []
        times: list[int] = []
        rows = 0
        for second in read_seconds(self._workload.parts, self._workload.format):
            if second.time < self._first:
                continue
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
        return (True, (second - self._origin) // self._group)

    def _write(self, batches: list[pa.RecordBatch], times: list[int]) -> AheadFile:
        path = self._folder / f"{times[0]:012d}.parquet"
        table = pa.Table.from_batches(batches)
        # Of the encodings that Spark reads with its vectorised reader, the fastest both to write and to read.
        pq.write_table(table, path, compression="lz4", use_dictionary=False, write_statistics=False)
        return AheadFile(
            path=path,
            first=times[0],
            last=times[-1],
            seconds=len(times),
            tuples=table.num_rows,
            past=times[0] < self._origin,
        )
