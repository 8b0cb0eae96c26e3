"""Sources of continuous inserts: files, growing folders, spools and sockets as streams of typed rows."""

from causeway.streaming_tables.sources.open import open_source
from causeway.streaming_tables.sources.parsing.casts import sql_type
from causeway.streaming_tables.sources.parsing.rows import shorten
from causeway.streaming_tables.sources.parsing.target import (
    REJECT_FIELDS,
    ColumnsError,
    TargetColumns,
)
from causeway.streaming_tables.sources.parsing.unfit_rows import unfit_rows
from causeway.streaming_tables.sources.source import Source
from causeway.streaming_tables.sources.stream_columns import stream_columns

__all__ = [
    "REJECT_FIELDS",
    "ColumnsError",
    "Source",
    "TargetColumns",
    "open_source",
    "shorten",
    "sql_type",
    "stream_columns",
    "unfit_rows",
]
