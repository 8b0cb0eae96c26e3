"""Lines that came through a socket: written to durable chunks by one thread, read from there by Spark.

    STATE/received/000000000003-41.lines   chunk 3, which begins with line 41
    STATE/received/_ended                  the other side has closed the connection

Chunks are contiguous and appear whole. Those that are in the table are removed, except the newest, whose name
tells where the next one begins.
"""

from __future__ import annotations

import os
import re
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from causeway.runtime.errors import UserError
from causeway.streaming_tables.sources.feeds.file_list import FileEntry, FileFormat

__all__ = ["ReceivedChunks", "Receiver"]

_NAME: Final = re.compile(r"(\d{12})-(\d+)\.lines")
_ENDED: Final = "_ended"
_FOLDER: Final = "received"
_BYTES_PER_LINE: Final = 64
_CHUNK_BYTES: Final = 4 << 20
_CHUNK_SECONDS: Final = 0.1
_PATIENCE: Final = 10.0
"""Seconds for the other side to accept the connection."""


class ReceivedChunks:
    """The chunks as a list of files."""

    def __init__(self, state: Path, file_format: FileFormat) -> None:
        self._folder = state / _FOLDER
        self._format = file_format
        self._chunks: dict[int, tuple[Path, int]] = {}

    def discover(self) -> int:
        self._chunks = _chunks(self._folder)
        return max(self._chunks, default=-1) + 1

    def entry(self, number: int) -> FileEntry:
        path, _ = self._chunks[number]
        size = path.stat().st_size
        return FileEntry(str(path), self._format, size, size, size // _BYTES_PER_LINE + 1)

    def first_line(self, number: int) -> int:
        return self._chunks[number][1]

    def ended(self) -> bool:
        return (self._folder / _ENDED).exists()

    def closed(self, number: int) -> int | None:
        return None

    def forget(self, number: int) -> None:
        chunks = _chunks(self._folder)
        newest = max(chunks, default=-1)
        for old in sorted(chunks):
            if old < min(number, newest):
                chunks[old][0].unlink(missing_ok=True)


class Receiver:
    """Takes lines from a socket and writes them to chunks, in a thread of its own."""

    def __init__(self, address: str, host: str, port: int, state: Path) -> None:
        """Connects at once, unless the other side had closed before. Raises `UserError` if it can't."""
        self._address = address
        self._folder = state / _FOLDER
        self._folder.mkdir(parents=True, exist_ok=True)
        for unfinished in self._folder.glob(".*.lines"):
            unfinished.unlink()
        self._lock = threading.Lock()
        self._buffer = bytearray()
        self._stopping = threading.Event()
        self._failure: OSError | None = None
        self._thread: threading.Thread | None = None
        self._number, self._line = self._next_chunk()
        if (self._folder / _ENDED).exists():
            return
        try:
            self._socket = socket.create_connection((host, port), timeout=_PATIENCE)
        except OSError as refused:
            raise UserError(f"{address}: nobody answers there ({refused.strerror or refused})") from refused
        self._thread = threading.Thread(target=self._receive, name=f"receive {address}", daemon=True)
        self._thread.start()

    def flush(self) -> None:
        """Write the lines that have arrived. Raises `UserError` if what arrives can't be written."""
        with self._lock:
            self._write_lines()
        if self._failure is not None:
            raise UserError(
                f"{self._address}: what arrives cannot be kept: {self._failure}"
            ) from self._failure

    def stop(self) -> None:
        """Close the connection; the lines that have arrived whole are kept."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()

    def _next_chunk(self) -> tuple[int, int]:
        chunks = _chunks(self._folder)
        if not chunks:
            return 0, 1
        newest = max(chunks)
        path, line = chunks[newest]
        return newest + 1, line + path.read_bytes().count(b"\n")

    def _receive(self) -> None:
        written = time.monotonic()
        with self._socket:
            self._socket.settimeout(_CHUNK_SECONDS / 2)
            while not self._stopping.is_set() and self._failure is None:
                try:
                    data = self._socket.recv(1 << 20)
                except TimeoutError:
                    data = None
                except OSError:
                    data = b""
                with self._lock:
                    if data:
                        self._buffer += data
                    if data == b"":
                        if self._buffer and not self._buffer.endswith(b"\n"):
                            self._buffer += b"\n"
                        self._write_lines()
                        if self._failure is None:
                            self._end()
                        return
                    due = time.monotonic() - written >= _CHUNK_SECONDS
                    if due or len(self._buffer) >= _CHUNK_BYTES:
                        self._write_lines()
                        written = time.monotonic()
            with self._lock:
                self._write_lines()

    def _write_lines(self) -> None:
        """Write the whole lines of the buffer as a chunk. Called with the lock held."""
        cut = self._buffer.rfind(b"\n") + 1
        if cut == 0 or self._failure is not None:
            return
        lines = bytes(self._buffer[:cut])
        name = f"{self._number:012d}-{self._line}.lines"
        try:
            self._put(name, lines)
        except OSError as full:
            self._failure = full
            return
        del self._buffer[:cut]
        self._number += 1
        self._line += lines.count(b"\n")

    def _end(self) -> None:
        try:
            self._put(_ENDED, b"")
        except OSError as full:
            self._failure = full

    def _put(self, name: str, content: bytes) -> None:
        unfinished = self._folder / f".{name}"
        with unfinished.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(self._folder / name)
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _chunks(folder: Path) -> dict[int, tuple[Path, int]]:
    """Each chunk by its number, with its first line."""
    found: dict[int, tuple[Path, int]] = {}
    with suppress(FileNotFoundError):
        for path in folder.iterdir():
            if match := _NAME.fullmatch(path.name):
                found[int(match[1])] = (path, int(match[2]))
    return found
