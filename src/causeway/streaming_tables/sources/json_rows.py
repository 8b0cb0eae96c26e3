"""Lines of JSON: whole blocks go through pyarrow, single lines only where something is wrong near them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from causeway.streaming_tables.sources.rows import Reject
from causeway.streaming_tables.sources.target import Reading

__all__ = ["JsonRows"]


class JsonRows:
    """Makes rows of blocks of one file's lines."""

    def __init__(self, path: Path, reading: Reading) -> None:
        self._path = path
        self._reading = reading

    def __call__(self, block: bytes) -> tuple[pa.RecordBatch, list[Reject]]:
        raise NotImplementedError
