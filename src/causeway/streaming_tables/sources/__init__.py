"""Sources of continuous inserts: files, growing folders, spools and sockets as streams of typed rows."""

from causeway.streaming_tables.sources.open import open_source
from causeway.streaming_tables.sources.parsing.target import ColumnsError, TargetColumns
from causeway.streaming_tables.sources.source import Source
from causeway.streaming_tables.sources.stream_columns import stream_columns

__all__ = ["ColumnsError", "Source", "TargetColumns", "open_source", "stream_columns"]
