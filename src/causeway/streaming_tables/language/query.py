"""A query with extensions: which spans of its text are ours, and how Spark SQL is made of it.

Only those spans are replaced. Every other byte of the user's text reaches Spark as it is.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from causeway.streaming_tables.language.catalog import RelationInfo
from causeway.streaming_tables.language.errors import StatementError, line_and_column
from causeway.streaming_tables.language.tokens import Kind, quote_identifier, quote_string, tokenize

__all__ = [
    "Edit",
    "NearPiece",
    "NowPiece",
    "Piece",
    "PrevPiece",
    "Query",
    "Rendered",
    "Sample",
    "StreamPiece",
    "TablePiece",
    "TrjPiece",
    "ValidPiece",
    "Window",
    "WindowPiece",
    "select_end",
]

ROW_COLUMN = "__row"
PREVIOUS_COLUMN = "__previous"


@dataclass(frozen=True)
class Window:
    """A sliding window (Definition 2): by time, by rows, or by rows of each partition."""

    interval_us: int | None = None
    rows: int | None = None
    partition_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sample:
    """When a continuous query is answered: every `interval_us`, or at every new time (`SAMPLE REALTIME`)."""

    interval_us: int | None = None

    @property
    def realtime(self) -> bool:
        return self.interval_us is None


@dataclass(frozen=True)
class WindowPiece:
    """A streaming table with a window in the place of a relation. `index` counts windows from 0."""

    table: str
    alias: str
    window: Window
    index: int
    info: RelationInfo = field(compare=False)


@dataclass(frozen=True)
class TablePiece:
    """A streaming table without a window in the place of a relation: all its rows as of now."""

    table: str
    alias: str
    index: int
    info: RelationInfo = field(compare=False)


@dataclass(frozen=True)
class NowPiece:
    """`NOW()`, with the intervals that are added to it or taken from it."""

    offset_us: int


@dataclass(frozen=True)
class ValidPiece:
    """`VALID(alias) OVERLAPS (a, b)`. The bounds stay where they are, pieces inside them included."""

    alias: str
    table: str
    time: str


@dataclass(frozen=True)
class TrjPiece:
    """`TRJ(*)`: the rows of one streaming relation in time order."""

    alias: str
    table: str
    columns: tuple[str, ...]
    time: str


@dataclass(frozen=True)
class NearPiece:
    """`NEAR(seg, x [, d])`. The arguments stay where they are."""

    has_distance: bool


@dataclass(frozen=True)
class PrevPiece:
    """`older = PREV(newer)`: both aliases name the same window of the same table."""

    newer: str
    older: str


@dataclass(frozen=True)
class StreamPiece:
    """`STREAM 'source' [OPTIONS (…)]` in the place of a relation."""

    source: str
    options: Mapping[str, str]
    alias: str | None
    index: int


Piece = WindowPiece | TablePiece | NowPiece | ValidPiece | TrjPiece | NearPiece | PrevPiece | StreamPiece


@dataclass(frozen=True)
class Edit:
    """A span `[start, end)` of the query's text and what stands there in Spark SQL.

    `before` and `after` are fixed text around what `piece` gives in its `role`.
    """

    start: int
    end: int
    before: str = ""
    piece: Piece | None = None
    role: Literal["", "relation", "alias", "time"] = ""
    after: str = ""


@dataclass(frozen=True)
class Rendered:
    """Spark SQL made of a query, and the way back from its characters to the user's."""

    text: str
    script: str
    starts: tuple[int, ...]
    """Where each run of `text` starts: unchanged text and replacements by turns."""
    origins: tuple[tuple[int, bool], ...]
    """Of each run: where it starts in the script, and whether it is the user's own text."""

    def original_offset(self, offset: int) -> int:
        """The character of the user's script that a character of this text comes from.

        A character of a replacement comes from the start of what was replaced.
        """
        run = max(0, bisect_right(self.starts, max(0, min(offset, len(self.text)))) - 1)
        origin, own = self.origins[run]
        return origin + (offset - self.starts[run] if own else 0)

    def original_position(self, line: int, position: int) -> tuple[int, int]:
        """Line and column, both from 1, of a place that Spark reports: line from 1, position from 0."""
        return line_and_column(self.script, self.original_offset(self._offset(line, position)))

    def error(self, message: str, line: int, position: int) -> StatementError:
        """An error that Spark reports for this text, placed in the user's text."""
        return StatementError(message, self.script, self.original_offset(self._offset(line, position)))

    def with_inserted(self, place: int, text: str) -> Rendered:
        """The same with `text` of our own at a place of unchanged text."""
        run = max(0, bisect_right(self.starts, place) - 1)
        after = run + 1
        rest = tuple(start + len(text) for start in self.starts[after:])
        origin = self.original_offset(place)
        return Rendered(
            self.text[:place] + text + self.text[place:],
            self.script,
            (*self.starts[:after], place, place + len(text), *rest),
            (*self.origins[:after], (origin, False), (origin, self.origins[run][1]), *self.origins[after:]),
        )

    def _offset(self, line: int, position: int) -> int:
        start = 0
        for _ in range(line - 1):
            found = self.text.find("\n", start)
            if found < 0:
                break
            start = found + 1
        return min(start + position, len(self.text))


@dataclass(frozen=True)
class Query:
    """A query, or a condition or expression of a statement, with the spans in it that are extensions.

    `text` is the user's, `script` all that the user wrote, where it stands at `offset`. The text may end with
    a comment that only a line feed ends: whoever puts something after it begins a new line.
    """

    text: str
    pieces: tuple[Piece, ...] = ()
    sample: Sample | None = None
    relations: tuple[str, ...] = ()
    """The streaming tables in the place of a relation, each once, in the order of the text."""
    has_order_by: bool = False
    """Whether the outermost query has ORDER BY."""
    has_limit: bool = False
    """Whether the outermost query has LIMIT or OFFSET."""
    edits: tuple[Edit, ...] = field(default=(), compare=False)
    script: str = field(default="", compare=False)
    offset: int = field(default=0, compare=False)

    @property
    def windows(self) -> tuple[WindowPiece, ...]:
        return tuple(piece for piece in self.pieces if isinstance(piece, WindowPiece))

    @property
    def tables(self) -> tuple[TablePiece, ...]:
        """The streaming tables that are read without a window."""
        return tuple(piece for piece in self.pieces if isinstance(piece, TablePiece))

    @property
    def streams(self) -> tuple[StreamPiece, ...]:
        return tuple(piece for piece in self.pieces if isinstance(piece, StreamPiece))

    @property
    def prev_links(self) -> tuple[tuple[str, str], ...]:
        """The pairs (newer alias, older alias) that `PREV` joins."""
        return tuple((piece.newer, piece.older) for piece in self.pieces if isinstance(piece, PrevPiece))

    @property
    def uses_now(self) -> bool:
        return any(isinstance(piece, NowPiece) for piece in self.pieces)

    @property
    def extended(self) -> bool:
        """Whether anything in the text is not Spark's own SQL."""
        return self.sample is not None or any(not isinstance(piece, TablePiece) for piece in self.pieces)

    def render(
        self,
        relation_name: Callable[[WindowPiece], str],
        now: Callable[[int], str],
        time: Callable[[str], str] | None = None,
        *,
        table_name: Callable[[TablePiece], str] | None = None,
        stream_name: Callable[[StreamPiece], str] | None = None,
    ) -> str:
        """Spark SQL for this query. See `rendered`."""
        return self.rendered(relation_name, now, time, table_name=table_name, stream_name=stream_name).text

    def rendered(
        self,
        relation_name: Callable[[WindowPiece], str],
        now: Callable[[int], str],
        time: Callable[[str], str] | None = None,
        *,
        table_name: Callable[[TablePiece], str] | None = None,
        stream_name: Callable[[StreamPiece], str] | None = None,
    ) -> Rendered:
        """Spark SQL for this query, every byte that is not an extension unchanged.

        `relation_name` gives the SQL name of a window's rows, `now` the literal of the time NOW() plus some
        microseconds, `time` the time column of a table (the catalog's unless given), `table_name` the name of
        a streaming table's rows (as the user has it, unless given), `stream_name` that of a source.
        """

        def content(edit: Edit) -> str | None:
            piece = edit.piece
            if isinstance(piece, TablePiece) and table_name is None:
                return None
            if edit.role == "alias":
                return ""
            if isinstance(piece, WindowPiece):
                return relation_name(piece)
            if isinstance(piece, TablePiece) and table_name is not None:
                return table_name(piece)
            if isinstance(piece, StreamPiece):
                return stream_name(piece) if stream_name is not None else None
            if isinstance(piece, NowPiece):
                return now(piece.offset_us)
            if isinstance(piece, ValidPiece):
                return quote_identifier(column_of(piece)) if edit.role == "time" else ""
            if isinstance(piece, TrjPiece):
                return _trajectory(piece, column_of(piece))
            return ""

        def column_of(piece: ValidPiece | TrjPiece) -> str:
            return time(piece.table) if time is not None else piece.time

        texts: list[str] = []
        starts: list[int] = []
        origins: list[tuple[int, bool]] = []
        length = 0

        def add(text: str, origin: int, own: bool) -> None:
            nonlocal length
            if text or not starts:
                texts.append(text)
                starts.append(length)
                origins.append((self.offset + origin, own))
                length += len(text)

        position = 0
        for edit in self.edits:
            replaced = content(edit)
            if replaced is None:
                continue
            add(self.text[position : edit.start], position, True)
            before = texts[-1][-1:] if texts else ""
            made = edit.before + replaced + edit.after
            add(_set_apart(before, made, self.text[edit.end : edit.end + 1]), edit.start, False)
            position = edit.end
        add(self.text[position:], position, True)
        return Rendered("".join(texts), self.script or self.text, tuple(starts), tuple(origins))


def _set_apart(before: str, made: str, after: str) -> str:
    """A replacement, with a space where it would run into its neighbour, as in `t[ROWS 2]p` or `-NOW()`."""
    if not made:
        return " " if _run_together(before, after) else ""
    left = " " if _run_together(before, made[0]) else ""
    right = " " if _run_together(made[-1], after) else ""
    return left + made + right


def _run_together(first: str, second: str) -> bool:
    def is_part(character: str) -> bool:
        return character.isalnum() or character in {"_", "`", "'", '"'}

    return (is_part(first) and is_part(second)) or first == second == "-"


def _trajectory(piece: TrjPiece, time: str) -> str:
    """The rows of a group as an array of structs in time order.

    Names are given as strings: Spark finds no name for a column that calls a Python function on `struct(…)`.
    """
    names = (*piece.columns, time)
    qualified = [f"{quote_identifier(piece.alias)}.{quote_identifier(name)}" for name in names]
    fields = ", ".join(
        f"{quote_string(name)}, {column}" for name, column in zip(names, qualified, strict=True)
    )
    row = f"named_struct('k', {qualified[-1]}, 'r', named_struct({fields}))"
    return f"transform(array_sort(collect_list({row})), x -> x.r)"


def select_end(text: str) -> int | None:
    """Where the first column of a SELECT may stand; None if the statement begins with something else."""
    tokens = [token for token in tokenize(text) if token.kind not in (Kind.SPACE, Kind.COMMENT)]
    if not tokens or tokens[0].word() != "SELECT":
        return None
    if len(tokens) > 1 and tokens[1].word() in ("ALL", "DISTINCT"):
        return None
    return tokens[1].end if len(tokens) > 1 and tokens[1].kind is Kind.HINT else tokens[0].end
