"""A folder that Spark's own file source reads: one folder a stream, its slices in the order of delivery.

    FEED/bid/000000.parquet …     links to the slices of a folder of events; or the firehose's own spool
    FEED/bid/000020.parquet       after the last slice, one row at the end of time: every window closes

Spark's file source takes files in the order of their modification times. Files that were written in another
order, by several tasks or by a copy, are copied here with times that are in order.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from causeway.nexmark.events.file_times import are_in_order, set_times_in_order
from causeway.nexmark.events.slices import Slices
from causeway.nexmark.model import MODELS, OPTIONAL
from causeway.runtime.errors import UserError

__all__ = ["END_OF_STREAM", "FileFeed"]

END_OF_STREAM: Final = datetime(9999, 1, 1, tzinfo=UTC)
"""The time of the row that ends a stream."""

_FORMATS: Final = {".parquet": "parquet", ".jsonl": "json"}


class FileFeed:
    """The folder `path` with the files of some streams."""

    def __init__(self, path: Path, model: str, streams: Iterable[str]) -> None:
        self.path = path
        self._model = MODELS[model]
        self._streams = list(streams)

    @staticmethod
    def of(source: Path, model: str, streams: Sequence[str], folder: Path) -> FileFeed:
        """The feed of a source: links in `folder`, made once; of a firehose's spool, the spool itself."""
        slices = Slices.of(source, model)
        if slices.is_spool:
            return FileFeed(source, model, streams)
        feed = FileFeed(folder, model, streams)
        if not folder.exists():
            unfinished = folder.with_name(f".{folder.name}.unfinished")
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir(parents=True)
            for stream in streams:
                _lay_out(slices, stream, unfinished)
            if (static := source / "category.parquet").exists():
                (unfinished / static.name).symlink_to(static.resolve())
            unfinished.replace(folder)
        return feed

    def folders(self, stream: str) -> list[Path]:
        """The folders of a stream: several bid streams of the paper's model have one each."""
        return Slices(self.path, self._model).folders(stream)

    def pattern(self, stream: str) -> Path:
        """The path that Spark reads a stream by."""
        folders = self.folders(stream)
        return folders[0] if len(folders) == 1 else self.path / f"{stream}-*"

    def format(self, stream: str) -> str:
        """`parquet` or `json`; Parquet before the first file."""
        for path in self.folders(stream)[0].iterdir():
            if path.suffix in _FORMATS and not path.name.startswith("."):
                return _FORMATS[path.suffix]
        return "parquet"

    def end(self, slices: int) -> None:
        """Let the streams end after so many slices; called again, it changes nothing."""
        for stream in self._streams:
            schema = self._model.streams[stream]
            row = {field.name: _last(field) for field in schema if field.name not in OPTIONAL}
            for folder in self.folders(stream):
                if self.format(stream) == "json":
                    line = json.dumps(row, default=lambda time: round(1000 * time.timestamp()))
                    _write_whole(folder / f"{slices:06d}.jsonl", f"{line}\n".encode())
                else:
                    buffer = pa.BufferOutputStream()
                    pq.write_table(pa.Table.from_pylist([row], schema=schema), buffer)
                    _write_whole(folder / f"{slices:06d}.parquet", buffer.getvalue().to_pybytes())


def _last(field: pa.Field) -> object:
    """A value of the row that ends a stream: none is null that an event must have."""
    if pa.types.is_timestamp(field.type):
        return END_OF_STREAM
    return "" if pa.types.is_string(field.type) else 0


def _lay_out(slices: Slices, stream: str, feed: Path) -> None:
    files = [slices.files(stream, number) for number in range(slices.total or 0)]
    wrong = {path.suffix for of_slice in files for path in of_slice} - set(_FORMATS)
    if wrong or not slices.has_streams_apart:
        found = f"*{wrong.pop()}" if wrong else "all streams in one file"
        raise UserError(
            f"{slices.folder} has {found}: Spark's file source takes a folder of Parquet files or JSON lines "
            "for each stream, as `causeway nexmark generate` makes it"
        )
    copies = [[feed / path.parent.name / path.name for path in of_slice] for of_slice in files]
    for folder in {path.parent for of_slice in copies for path in of_slice}:
        folder.mkdir()
    if are_in_order(files):
        for of_slice, links in zip(files, copies, strict=True):
            for path, link in zip(of_slice, links, strict=True):
                link.symlink_to(path.resolve())
        return
    for of_slice, paths in zip(files, copies, strict=True):
        for path, copied in zip(of_slice, paths, strict=True):
            shutil.copyfile(path, copied)
    set_times_in_order(copies)


def _write_whole(path: Path, content: bytes) -> None:
    if not path.exists():
        unfinished = path.with_name(f".{path.name}")
        unfinished.write_bytes(content)
        unfinished.replace(path)
