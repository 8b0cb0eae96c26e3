"""The statements of the language, as plain facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from causeway.streaming_tables.language.catalog import TimeKind
from causeway.streaming_tables.language.query import Query, Rendered, StreamPiece

__all__ = [
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
    "Passthrough",
    "Resume",
    "Select",
    "SetClock",
    "Show",
    "Statement",
    "Update",
    "WaitFor",
]


@dataclass(frozen=True)
class CreateStreamingTable:
    """`CREATE STREAMING TABLE … RANGE …`. `range_us` is nothing for an unbounded historical period."""

    name: str
    columns: tuple[tuple[str, str], ...]
    time_name: str
    time_kind: TimeKind
    range_us: int | None
    slack_us: int
    compartment_us: int | None
    if_not_exists: bool


@dataclass(frozen=True)
class CreateIndex:
    """`CREATE INDEX name ON table (column)`."""

    name: str
    table: str
    column: str
    if_not_exists: bool


@dataclass(frozen=True)
class InsertFrom:
    """`INSERT INTO table VALUES FROM 'source' [OPTIONS (…)]`: continuous. Option names are in lower case."""

    table: str
    source: str
    options: Mapping[str, str]


@dataclass(frozen=True)
class InsertSelectStream:
    """`INSERT INTO table [(columns)] SELECT … FROM STREAM 'source'`: continuous."""

    table: str
    query: Query
    streams: tuple[StreamPiece, ...]
    columns: tuple[str, ...] | None = None
    by_name: bool = False


@dataclass(frozen=True)
class InsertOnce:
    """`INSERT INTO table [(columns)] VALUES (…)` or a query, once. `query` is the body, ready to render."""

    table: str
    columns: tuple[str, ...] | None
    body_text: str
    query: Query
    by_name: bool = False


@dataclass(frozen=True)
class CreateView:
    """`CREATE VIEW … RANGE … AS (… SAMPLE …)`."""

    name: str
    columns: tuple[str, ...] | None
    range_us: int | None
    query: Query
    or_replace: bool
    if_not_exists: bool


@dataclass(frozen=True)
class Select:
    """A query that names a streaming table or has an extension."""

    query: Query


@dataclass(frozen=True)
class Delete:
    """`DELETE FROM table [alias] [WHERE …]`. `where` is the condition, ready to render."""

    table: str
    alias: str | None
    where_text: str | None
    where: Query | None


@dataclass(frozen=True)
class Update:
    """`UPDATE table [alias] SET column = expression, … [WHERE …]`. `values` are ready to render."""

    table: str
    alias: str | None
    assignments: tuple[tuple[str, str], ...]
    where_text: str | None
    values: tuple[tuple[str, Query], ...]
    where: Query | None


@dataclass(frozen=True)
class Resume:
    """`RESUME id`: the answer of a pull query as of now. `RESUME INSERT n | VIEW v`: try one again."""

    id: str
    what: Literal["query", "insert", "view"] = "query"


@dataclass(frozen=True)
class Kill:
    """`KILL id`: end a continuous query. `KILL INSERT n`: end a continuous insert."""

    id: str
    what: Literal["query", "insert"] = "query"


@dataclass(frozen=True)
class Show:
    """`SHOW TABLES | VIEWS [LIKE 'pattern']`, `SHOW INDEXES [ON table]`, `SHOW QUERIES`."""

    what: Literal["tables", "views", "indexes", "queries"]
    pattern: str | None = None
    table: str | None = None


@dataclass(frozen=True)
class Describe:
    """`DESCRIBE table` of a streaming table or view."""

    name: str


@dataclass(frozen=True)
class Drop:
    """`DROP TABLE | VIEW | INDEX name`. `table` is the one that `DROP INDEX … ON` names."""

    what: Literal["table", "view", "index"]
    name: str
    if_exists: bool
    table: str | None = None


@dataclass(frozen=True)
class WaitFor:
    """`WAIT FOR table [UNTIL n]`: a whole number for seconds, a string for a timestamp."""

    table: str
    until: int | str | None


@dataclass(frozen=True)
class SetClock:
    """`SET causeway.clock = stream | wall`."""

    clock: Literal["stream", "wall"]


@dataclass(frozen=True)
class Passthrough:
    """A statement of Spark's own, byte for byte. `query` is there when it reads streaming tables.

    `script` is the text it stands in (at `offset`).
    """

    text: str
    query: Query | None = None
    script: str = field(default="", compare=False)
    offset: int = field(default=0, compare=False)

    @property
    def unchanged(self) -> Rendered:
        """The text as Spark gets it."""
        return Rendered(self.text, self.script or self.text, (0,), ((self.offset, True),))


@dataclass(frozen=True)
class Explain:
    """`EXPLAIN [mode]` of one of our statements."""

    inner: Statement
    mode_text: str


Statement = (
    CreateStreamingTable
    | CreateIndex
    | InsertFrom
    | InsertSelectStream
    | InsertOnce
    | CreateView
    | Select
    | Delete
    | Update
    | Resume
    | Kill
    | Show
    | Describe
    | Drop
    | Explain
    | WaitFor
    | SetClock
    | Passthrough
)
