"""The files of a source, numbered once and for all, so that an offset means the same after a restart.

The list is a file of its own, to which lines are only added: by whichever process finds a new file first.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import threading
import time
import zlib
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final, Literal, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from causeway.runtime.errors import UserError
from causeway.streaming_tables.sources.parsing.text_lines import open_text

__all__ = [
    "FORMATS",
    "DiscoveredFiles",
    "FileEntry",
    "FileFormat",
    "FileList",
    "data_files",
    "format_of",
    "inspect_file",
    "is_complete",
]

FileFormat = Literal["parquet", "csv", "json", "dat"]
FORMATS: Final[tuple[FileFormat, ...]] = ("parquet", "csv", "json", "dat")

_EXTENSIONS: Final[dict[str, FileFormat]] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".dat": "dat",
}
_TEMPORARY: Final = (".tmp", ".temp", ".part", ".partial", ".unfinished", ".crdownload", ".swp", "~")
_SAMPLE_BYTES: Final = 1 << 16
_PACKED_RATIO: Final = 6
"""About how many bytes of text a byte of gzip holds; only for the estimate of rows."""
_LIST: Final = "files.jsonl"
_END_LINE: Final = '{"end": true}'
_UNPACKED_ABOVE: Final = 2 << 20
"""Bytes. Packed text can't be read from the middle; a larger file is unpacked, so that batches can cut it."""
_SETTLED_NS: Final = 2_000_000_000
"""A folder whose time of change is this old is not changed again without a new time."""

_SPOOL_NAME: Final = re.compile(r"seconds-(\d+)-(\d+)\.parquet")
Order = Literal["arrival", "name"]


@dataclass(frozen=True)
class FileEntry:
    """A file and what planning needs of it."""

    path: str
    format: FileFormat
    size: int
    units: int
    """Positions in it: rows of Parquet, bytes of text; 1 for what is only read whole."""
    rows: int
    """Rows, for text as estimated from its first lines."""
    groups: tuple[int, ...] = ()
    """Rows of each row group, where there are several."""
    name: str = ""
    """The name of the user's file, where `path` is an unpacked copy of it."""

    @property
    def source(self) -> str:
        """What rejected rows name."""
        return self.name or Path(self.path).name

    @property
    def divisible(self) -> bool:
        """Whether a batch may end within it."""
        return self.units > 1


class FileList(Protocol):
    """A source's files, numbered from 0."""

    def discover(self) -> int:
        """Look for new files; the number of files so far."""

    def entry(self, number: int) -> FileEntry:
        """The file with this number."""

    def first_line(self, number: int) -> int:
        """The number of the file's first line, from 1, as a user counts."""

    def ended(self) -> bool:
        """Whether there will be no more files than those discovered."""

    def closed(self, number: int) -> int | None:
        """The second up to which files from `number` on have no rows; None if that is not known."""

    def forget(self, number: int) -> None:
        """Files before `number` are not read again."""


def format_of(path: Path) -> FileFormat | None:
    """The format that a file's name tells."""
    name = path.name.lower().removesuffix(".gz")
    return _EXTENSIONS.get(Path(name).suffix)


def is_data_file(name: str) -> bool:
    """Whether a file of this name is finished and meant to be read."""
    return not name.startswith((".", "_")) and not name.lower().endswith(_TEMPORARY)


def data_files(folder: Path, file_format: FileFormat | None, known: Container[str] = ()) -> list[Path]:
    """The files of a folder that are read: all of a given format, or those whose names tell one.

    Names that are `known` are left out: looking for a few new files among many costs little.
    """
    with os.scandir(folder) as entries:
        return [
            Path(entry.path)
            for entry in entries
            if entry.name not in known
            and is_data_file(entry.name)
            and (file_format is not None or format_of(Path(entry.name)) is not None)
            and entry.is_file()
        ]


def inspect_file(path: Path, file_format: FileFormat) -> FileEntry:
    """What planning needs of a file. One that cannot be read has a single unit, where reading will fail."""
    try:
        size = path.stat().st_size
        if file_format == "parquet":
            footer = pq.read_metadata(path)
            groups = tuple(footer.row_group(number).num_rows for number in range(footer.num_row_groups))
            return FileEntry(
                str(path),
                file_format,
                size,
                footer.num_rows,
                footer.num_rows,
                groups if len(groups) > 1 else (),
            )
        with open_text(path) as file:
            sample = file.read(_SAMPLE_BYTES)
        packed = path.suffix == ".gz"
        line = max(1, len(sample) // max(1, sample.count(b"\n")))
        rows = size * (_PACKED_RATIO if packed else 1) // line + 1
        return FileEntry(str(path), file_format, size, int(size > 0) if packed else size, rows)
    except (OSError, EOFError, pa.ArrowException):
        return FileEntry(str(path), file_format, 0, 1, 1)


def is_complete(state: Path) -> bool:
    """Whether all files of the source that has this state were found before."""
    try:
        listed = (state / _LIST).read_bytes()
    except FileNotFoundError:
        return False
    return listed.endswith(f"{_END_LINE}\n".encode())


class DiscoveredFiles:
    """The files of a folder, or one file, as they were found. Several threads may ask."""

    def __init__(
        self,
        place: Path,
        state: Path,
        *,
        file_format: FileFormat | None = None,
        order: Order = "arrival",
        ends: bool = False,
    ) -> None:
        """`ends`: what is there at the first look is all that there will be."""
        self._place = place
        self._path = state / _LIST
        self._format = file_format
        self._order: Order = order
        self._ends = ends
        self._entries: list[FileEntry] = []
        self._known: set[str] = set()
        """Names of the files so far."""
        self._forgotten = 0
        self._read_bytes = 0
        self._complete = False
        self._unchanged_since: int | None = None
        self._gap: str | None = None
        self._lock = threading.Lock()
        """Held by the thread that reads the list, or adds to it."""

    def discover(self) -> int:
        """Look for new files, write them to the list before anyone plans with them."""
        with self._lock:
            return self._discover()

    def _discover(self) -> int:
        self._load()
        if self._complete or self._is_unchanged():
            return len(self._entries)
        last = self._ends or self._delivery_finished()
        found = self._new_files()
        if last and self._gap is not None:
            raise UserError(f"{self._gap}; files were removed before they were read")
        if not found and not last:
            return len(self._entries)
        with self._locked() as file:
            # Another process may have added some meanwhile.
            self._load(locked=True)
            if not self._complete:
                fresh = [path for path in found if path.name not in self._known]
                lines = [json.dumps(asdict(self._inspect(path))) for path in fresh]
                if last:
                    lines.append(_END_LINE)
                self._add(file, lines)
                self._load(locked=True)
        return len(self._entries)

    def entry(self, number: int) -> FileEntry:
        if number >= len(self._entries):
            with self._lock:
                self._load()
        return self._entries[number]

    def first_line(self, number: int) -> int:
        return 1

    def ended(self) -> bool:
        with self._lock:
            self._discover()
            return self._complete

    def closed(self, number: int) -> int | None:
        """The names of a spool's files tell which seconds are whole."""
        last = _SPOOL_NAME.fullmatch(self.entry(number - 1).source) if number else None
        return int(last[2]) if last else None

    def forget(self, number: int) -> None:
        """Remove unpacked copies; the files themselves are the user's and stay."""
        for entry in self._entries[self._forgotten : number]:
            if entry.name:
                Path(entry.path).unlink(missing_ok=True)
        self._forgotten = max(self._forgotten, number)

    def _inspect(self, path: Path) -> FileEntry:
        file_format = self._format or format_of(path)
        assert file_format is not None
        if path.suffix == ".gz":
            with suppress(OSError, EOFError, zlib.error):
                if path.stat().st_size > _UNPACKED_ABOVE:
                    copy = self._unpack(path)
                    return replace(inspect_file(copy, file_format), name=path.name)
        return inspect_file(path, file_format)

    def _unpack(self, path: Path) -> Path:
        """Raises `OSError`, `EOFError` or `zlib.error` for a damaged file or a full disk."""
        folder = self._path.parent / "unpacked"
        folder.mkdir(parents=True, exist_ok=True)
        copy = folder / path.name.removesuffix(".gz")
        unfinished = copy.with_name(f".{copy.name}")
        try:
            with open_text(path) as packed, unfinished.open("wb") as file:
                shutil.copyfileobj(packed, file, 1 << 20)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(copy)
        finally:
            unfinished.unlink(missing_ok=True)
        return copy

    def _new_files(self) -> list[Path]:
        if not self._place.is_dir() and self._place.exists():
            return [] if self._place.name in self._known else [self._place]
        self._gap = None
        try:
            changed = self._place.stat().st_mtime_ns
            settled = time.time_ns() - changed > _SETTLED_NS
            found = data_files(self._place, self._format, self._known)
        except FileNotFoundError:
            raise UserError(f"{self._place} is gone, and more rows were expected from it") from None
        self._unchanged_since = changed if settled and not found else None
        if any(_SPOOL_NAME.fullmatch(path.name) for path in found):
            return self._contiguous(found)
        return _in_order(found, self._order)

    def _contiguous(self, found: Sequence[Path]) -> list[Path]:
        """The new files of a spool of `linear-road drive`, up to the first gap.

        Their names tell the seconds that they cover. A listing may miss a file that is released while it is
        read, and have the one released after it.
        """
        spans = sorted((int(match[1]), int(match[2]), path) for path, match in _spool_files(found))
        expected: int | None = None
        if self._entries:
            last = _SPOOL_NAME.fullmatch(self._entries[-1].source)
            expected = int(last[2]) + 1 if last else None
        taken: list[Path] = []
        for first, last_second, path in spans:
            if expected is not None and first != expected:
                self._gap = f"{self._place} lacks the seconds {expected} to {first - 1}"
                break
            taken.append(path)
            expected = last_second + 1
        return taken

    def _delivery_finished(self) -> bool:
        """Whether the folder is a spool of `linear-road drive` to which nothing will be added."""
        try:
            facts = json.loads((self._place / "_delivery.json").read_text())
        except (OSError, ValueError):
            return False
        return isinstance(facts, dict) and facts.get("state") == "finished"

    def _is_unchanged(self) -> bool:
        if self._unchanged_since is None or self._ends:
            return False
        try:
            return self._place.stat().st_mtime_ns == self._unchanged_since
        except FileNotFoundError:
            return False

    @contextmanager
    def _locked(self) -> Iterator[int]:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file
        finally:
            os.close(file)

    def _add(self, file: int, lines: Sequence[str]) -> None:
        if not lines:
            return
        # A line that a process did not finish before it died was never planned with.
        os.ftruncate(file, self._read_bytes)
        os.pwrite(file, "".join(f"{line}\n" for line in lines).encode(), self._read_bytes)
        os.fsync(file)

    def _load(self, *, locked: bool = False) -> None:
        """Read what was added to the list since the last look."""
        try:
            with self._path.open("rb") as file:
                if os.fstat(file.fileno()).st_size == self._read_bytes:
                    return
                if not locked:
                    # What is being added is not yet safe from a loss of power.
                    fcntl.flock(file, fcntl.LOCK_SH)
                file.seek(self._read_bytes)
                added = file.read()
        except FileNotFoundError:
            return
        whole = added.rfind(b"\n") + 1
        for line in added[:whole].splitlines():
            facts = json.loads(line)
            if facts.get("end"):
                self._complete = True
                continue
            entry = FileEntry(**facts | {"groups": tuple(facts["groups"])})
            self._entries.append(entry)
            self._known.add(entry.source)
        self._read_bytes += whole


def _in_order(paths: Sequence[Path], order: Order) -> list[Path]:
    if order == "name":
        return sorted(paths)
    dated: list[tuple[int, Path]] = []
    for path in paths:
        try:
            dated.append((path.stat().st_mtime_ns, path))
        except FileNotFoundError:
            continue
    return [path for _, path in sorted(dated)]


def _spool_files(paths: Sequence[Path]) -> Iterator[tuple[Path, re.Match[str]]]:
    for path in paths:
        if match := _SPOOL_NAME.fullmatch(path.name):
            yield path, match
