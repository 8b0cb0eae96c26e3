"""The language of streaming tables: Spark SQL, and what is added to it.

`split_script` cuts a script, `parse` tells what a statement says, `Query.render` makes Spark SQL of a query.
Nothing here knows Spark or the storage.
"""

from causeway.streaming_tables.language.catalog import Catalog, RelationInfo
from causeway.streaming_tables.language.errors import NotStreamingTableError, StatementError
from causeway.streaming_tables.language.parser import parse
from causeway.streaming_tables.language.query import (
    NearPiece,
    NowPiece,
    Piece,
    PrevPiece,
    Query,
    Rendered,
    Sample,
    StreamPiece,
    TablePiece,
    TrjPiece,
    ValidPiece,
    Window,
    WindowPiece,
)
from causeway.streaming_tables.language.script import SourceStatement, split_script
from causeway.streaming_tables.language.statements import (
    CreateIndex,
    CreateStreamingTable,
    CreateView,
    Delete,
    Describe,
    Drop,
    Explain,
    InsertFrom,
    InsertOnce,
    InsertSelectStream,
    Kill,
    Passthrough,
    Resume,
    Select,
    SetClock,
    Show,
    Statement,
    Update,
    WaitFor,
)

__all__ = [
    "Catalog",
    "CreateIndex",
    "CreateStreamingTable",
    "CreateView",
    "Delete",
    "Describe",
    "Drop",
    "Explain",
    "InsertFrom",
    "InsertOnce",
    "InsertSelectStream",
    "Kill",
    "NearPiece",
    "NotStreamingTableError",
    "NowPiece",
    "Passthrough",
    "Piece",
    "PrevPiece",
    "Query",
    "RelationInfo",
    "Rendered",
    "Resume",
    "Sample",
    "Select",
    "SetClock",
    "Show",
    "SourceStatement",
    "Statement",
    "StatementError",
    "StreamPiece",
    "TablePiece",
    "TrjPiece",
    "Update",
    "ValidPiece",
    "WaitFor",
    "Window",
    "WindowPiece",
    "parse",
    "split_script",
]
