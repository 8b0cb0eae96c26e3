"""Finds what a query has beyond Spark SQL: windows, SAMPLE, NOW(), VALID … OVERLAPS, TRJ, NEAR and PREV."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from causeway.streaming_tables.language.catalog import Catalog, RelationInfo
from causeway.streaming_tables.language.cursor import Cursor
from causeway.streaming_tables.language.errors import NotStreamingTableError, StatementError
from causeway.streaming_tables.language.query import (
    PREVIOUS_COLUMN,
    ROW_COLUMN,
    Edit,
    NearPiece,
    NowPiece,
    Piece,
    PrevPiece,
    Query,
    Sample,
    TrjPiece,
    ValidPiece,
)
from causeway.streaming_tables.language.reading.durations import SECOND, read_duration
from causeway.streaming_tables.language.reading.relations import RelationWalk
from causeway.streaming_tables.language.reading.scopes import Relation, Scope
from causeway.streaming_tables.language.reading.windows import find_sample, is_sample_clause
from causeway.streaming_tables.language.tokens import Kind, identifier_value, quote_identifier

__all__ = ["read_fragment", "read_query"]

_BINDS_TIGHTER: Final = frozenset({"*", "/", "%", "::", "[", "."})
_WORDS: Final = frozenset({"SAMPLE", "INTERVAL", "NOW", "VALID", "TRJ", "NEAR", "PREV"})
_EQUALS: Final = frozenset({"=", "=="})


def read_query(
    cursor: Cursor,
    catalog: Catalog,
    *,
    query: bool = True,
    start: int | None = None,
    stop: int | None = None,
    target: RelationInfo | None = None,
) -> Query:
    """The query that the cursor's tokens make up. Its text is `[start, stop)`, or else its tokens'.

    With `query` false the tokens are a statement that has a query somewhere inside. `target` is the streaming
    table that the rows go to, whose time NOW() is when the query reads no other.
    """
    sample, end = find_sample(cursor)
    found = _Finder(cursor.at(cursor.position, end), catalog, None, query=query, target=target)
    if sample is not None and not found.walk.infos:
        raise cursor.error("SAMPLE needs a streaming table to sample", end)
    return found.query(cursor, sample, end, start, stop)


def read_fragment(cursor: Cursor, catalog: Catalog, relation: Relation) -> Query:
    """A condition or an expression over one streaming table."""
    return _Finder(cursor.at(cursor.position), catalog, Scope(None, [relation]), query=False).query(
        cursor, None, cursor.end
    )


class _Finder:
    """The second pass: what looks like a function, now that all relations and their names are known."""

    def __init__(
        self,
        cursor: Cursor,
        catalog: Catalog,
        scope: Scope | None,
        *,
        query: bool,
        target: RelationInfo | None = None,
    ) -> None:
        self.cursor = cursor
        self.start = cursor.position
        self.walk = RelationWalk(cursor.at(cursor.position), catalog, scope, query=query)
        self.pieces: list[tuple[int, Piece]] = list(self.walk.pieces)
        self.edits: list[Edit] = list(self.walk.edits)
        self.streaming = list(self.walk.infos.values())
        if scope is not None:
            self.streaming += [relation.info for relation in scope.relations if relation.info is not None]
        if target is not None:
            self.streaming.append(target)
        while not cursor.done:
            if cursor.tokens[cursor.position].word() in _WORDS:
                self._step()
            else:
                cursor.position += 1

    def query(
        self,
        cursor: Cursor,
        sample: Sample | None,
        end: int,
        start: int | None = None,
        stop: int | None = None,
    ) -> Query:
        start = cursor.offset() if start is None else start
        last = cursor.tokens[cursor.end - 1].end if cursor.end > cursor.position else start
        stop = last if stop is None else stop
        edits = self.edits
        if sample is not None:
            # Nothing but the clause itself is taken out: a comment before it stays.
            edits = [*edits, Edit(cursor.tokens[end].start, last)]
        return Query(
            text=cursor.text[start:stop],
            pieces=tuple(piece for _, piece in sorted(self.pieces, key=lambda found: found[0])),
            sample=sample,
            relations=tuple(self.walk.infos),
            has_order_by=self.walk.has_order_by,
            has_limit=self.walk.has_limit,
            edits=tuple(
                replace(edit, start=edit.start - start, end=edit.end - start)
                for edit in sorted(edits, key=lambda edit: (edit.start, edit.end))
            ),
            script=cursor.text,
            offset=start,
        )

    def _step(self) -> None:
        cursor = self.cursor
        word = cursor.peek().word()
        position = cursor.position
        if position > self.start and cursor.tokens[position - 1].symbol() == ".":
            cursor.next()
        elif word == "SAMPLE" and self.streaming and is_sample_clause(cursor, position):
            raise cursor.error(
                "SAMPLE belongs at the end of the statement, or of the query of CREATE VIEW … RANGE"
            )
        elif word == "INTERVAL" and self._interval_before_now():
            self._now_after_interval()
        elif cursor.peek(1).symbol() != "(":
            cursor.next()
        elif word == "NOW" and self.streaming and cursor.peek(2).symbol() == ")":
            self._now()
        elif word == "VALID" and self._is_valid():
            self._valid()
        elif word == "TRJ" and self.streaming:
            self._trj()
        elif word == "NEAR" and self.streaming:
            self._near()
        elif word == "PREV" and self.streaming:
            self._prev()
        else:
            cursor.next()

    def _scope(self, position: int) -> Scope:
        return self.walk.scope_of(position)

    def _add(self, position: int, piece: Piece, start: int, end: int, before: str = "") -> None:
        self.pieces.append((position, piece))
        self.edits.append(Edit(start, end, before=before, piece=piece))

    def _now(self) -> None:
        cursor = self.cursor
        position = cursor.position
        before = cursor.tokens[position - 1] if position > self.start else None
        cursor.position += 3
        # x - NOW() - i is x - (NOW() + i); after * or || nothing can be drawn into NOW().
        sign = -1 if before is not None and before.symbol() == "-" else 1
        offset = 0
        if before is None or not (before.symbol() in {"*", "/", "%", "||"} or before.word() == "DIV"):
            offset = sign * self._intervals()
        self._require_seconds(offset, position)
        piece = NowPiece(offset)
        self._add(position, piece, cursor.offset(position), cursor.tokens[cursor.position - 1].end)

    def _intervals(self) -> int:
        """Read `± INTERVAL …` as often as it comes; the sum."""
        cursor = self.cursor
        total = 0
        while (sign := cursor.peek().symbol()) in {"+", "-"} and cursor.peek(1).word() == "INTERVAL":
            ahead = cursor.at(cursor.position + 1)
            if (length := self._literal(ahead)) is None:
                break
            total += length if sign == "+" else -length
            cursor.position = ahead.position
        return total

    def _literal(self, cursor: Cursor) -> int | None:
        """Read an interval that is a literal and stands by itself; nothing if it does not."""
        value = cursor.peek(2 if cursor.peek(1).symbol() in {"-", "+"} else 1)
        if value.kind not in {Kind.STRING, Kind.NUMBER}:
            return None
        try:
            length = read_duration(cursor)
        except StatementError:
            # Spark can add months to a timestamp; whole seconds have no months.
            if all(info.kind == "timestamp" for info in self.streaming):
                return None
            raise
        after = cursor.peek()
        return None if after.symbol() in _BINDS_TIGHTER or after.word() == "DIV" else length

    def _interval_before_now(self) -> bool:
        """Whether `INTERVAL … + NOW()` stands here."""
        if not self.streaming:
            return False
        cursor = self.cursor
        before = cursor.tokens[cursor.position - 1] if cursor.position > self.start else None
        if before is not None and (
            before.symbol() in {"+", "-", "*", "/", "%", "||"} or before.word() == "DIV"
        ):
            return False
        ahead = cursor.at(cursor.position)
        try:
            read_duration(ahead)
        except StatementError:
            return False
        return (
            ahead.symbol("+")
            and ahead.words("NOW")
            and [ahead.peek(n).symbol() for n in (1, 2)] == ["(", ")"]
        )

    def _now_after_interval(self) -> None:
        cursor = self.cursor
        position = cursor.position
        offset = read_duration(cursor)
        cursor.position += 4
        offset += self._intervals()
        self._require_seconds(offset, position)
        piece = NowPiece(offset)
        self._add(position, piece, cursor.offset(position), cursor.tokens[cursor.position - 1].end)

    def _require_seconds(self, offset: int, position: int) -> None:
        seconds = [info for info in self.streaming if info.kind == "seconds"]
        if offset % SECOND and seconds:
            raise self.cursor.error(
                f"the time of {seconds[0].name} is in whole seconds; this interval has a fraction", position
            )

    def _is_valid(self) -> bool:
        closing = self.cursor.closing(self.cursor.position + 1)
        return closing is not None and self.cursor.at(closing + 1).words("OVERLAPS")

    def _valid(self) -> None:
        cursor = self.cursor
        position = cursor.position
        cursor.position += 2
        name = cursor.peek()
        if not name.is_name or cursor.peek(1).symbol() != ")":
            raise cursor.error("VALID takes the name of one streaming table of the FROM clause")
        relation = self._scope(position).find(identifier_value(name))
        if relation is None or relation.info is None:
            raise NotStreamingTableError(
                f"{name.text} is not a streaming table of this FROM clause; VALID needs one",
                cursor.text,
                name.start,
            )
        cursor.position += 3
        opened = cursor.position
        bounds = self._arguments(opened)
        if bounds is None or len(bounds) != 2:
            raise cursor.error("OVERLAPS takes a period of two times: (from, to)", opened)
        (comma, closing) = bounds
        piece = ValidPiece(relation.alias, relation.info.name, relation.info.time)
        self.pieces.append((position, piece))
        first = Edit(
            cursor.offset(position), cursor.tokens[opened].end, f"({name.text}.", piece, "time", " BETWEEN ("
        )
        self.edits.append(first)
        self._replace(comma, ") AND (")
        self._replace(closing, "))")
        cursor.position = opened + 1

    def _replace(self, position: int, text: str) -> None:
        token = self.cursor.tokens[position]
        self.edits.append(Edit(token.start, token.end, before=text))

    def _arguments(self, opened: int) -> list[int] | None:
        """Where the arguments end that open at `opened`: the commas, then the closing parenthesis.

        Nothing when it is not closed, or an argument is empty.
        """
        cursor = self.cursor
        if opened >= cursor.end or cursor.tokens[opened].symbol() != "(":
            return None
        closing = cursor.closing(opened)
        if closing is None:
            return None
        ends = []
        depth = 0
        for position in range(opened + 1, closing):
            symbol = cursor.tokens[position].symbol()
            depth += (symbol in {"(", "["}) - (symbol in {")", "]"})
            if symbol == "," and depth == 0:
                ends.append(position)
        ends.append(closing)
        starts = [opened, *ends[:-1]]
        return ends if all(end > start + 1 for start, end in zip(starts, ends, strict=True)) else None

    def _trj(self) -> None:
        cursor = self.cursor
        position = cursor.position
        inside = cursor.at(position + 2)
        scope = self._scope(position)
        if inside.peek().is_name and inside.peek(1).symbol() == ".":
            name = inside.next()
            inside.next()
            relation = scope.find(identifier_value(name))
            if relation is None or relation.info is None:
                raise NotStreamingTableError(
                    f"{name.text} is not a streaming table of this FROM clause; TRJ needs one",
                    cursor.text,
                    name.start,
                )
        else:
            streaming = scope.streaming()
            relation = streaming[0] if len(streaming) == 1 else None
        if not (inside.symbol("*") and inside.symbol(")")):
            raise cursor.error(
                "TRJ takes a star: TRJ(*), or TRJ(alias.*) for one of several streaming tables"
            )
        if relation is None or relation.info is None:
            names = ", ".join(found.alias for found in scope.streaming())
            reason = (
                f"has several streaming tables; write TRJ(alias.*) for one of {names}"
                if names
                else "has none"
            )
            raise cursor.error(f"TRJ(*) needs one streaming table in its FROM clause, which {reason}")
        piece = TrjPiece(relation.alias, relation.info.name, relation.info.columns, relation.info.time)
        self._add(position, piece, cursor.offset(), cursor.tokens[inside.position - 1].end)
        cursor.position = inside.position

    def _near(self) -> None:
        cursor = self.cursor
        position = cursor.position
        ends = self._arguments(position + 1)
        if ends is None or len(ends) not in {2, 3}:
            raise cursor.error(
                "NEAR takes a segment, the one it is near to and, if wanted, how far: NEAR(seg, x, 2)"
            )
        self.pieces.append((position, NearPiece(has_distance=len(ends) == 3)))
        self.edits.append(Edit(cursor.offset(), cursor.tokens[position + 1].end, before="(abs(("))
        self._replace(ends[0], ") - (")
        if len(ends) == 3:
            self._replace(ends[1], ")) <= (")
            self._replace(ends[2], "))")
        else:
            self._replace(ends[1], ")) <= 1)")
        cursor.position = position + 2

    def _prev(self) -> None:
        cursor = self.cursor
        position = cursor.position
        use = "PREV is for comparing two windows: P2 = PREV(P1)"
        newer = cursor.peek(2)
        if not newer.is_name or cursor.peek(3).symbol() != ")":
            raise cursor.error(use)
        last = position + 3
        start, end = position, last
        back = [cursor.tokens[at] for at in range(max(self.start, position - 3), position)]
        if len(back) >= 2 and back[-1].symbol() in _EQUALS and back[-2].is_name:
            if len(back) == 3 and back[0].symbol() == ".":
                raise cursor.error(use)
            older, start = back[-2], position - 2
        elif (
            cursor.peek(4).symbol() in _EQUALS
            and cursor.peek(5).is_name
            and cursor.peek(6).symbol() not in {".", "("}
        ):
            older, end = cursor.peek(5), last + 2
        else:
            raise cursor.error(use)
        scope = self._scope(position)
        relations = [self._windowed(scope, identifier_value(token), token.start) for token in (newer, older)]
        if relations[0] is relations[1]:
            raise cursor.error(f"PREV compares two windows; {newer.text} is on both sides")
        same_table = relations[0].info == relations[1].info
        if not same_table or relations[0].window != relations[1].window:
            raise StatementError(
                f"{older.text} and {newer.text} must have the same window of the same table for PREV",
                cursor.text,
                older.start,
            )
        piece = PrevPiece(relations[0].alias, relations[1].alias)
        row = f"{older.text}.{quote_identifier(ROW_COLUMN)}"
        previous = f"{newer.text}.{quote_identifier(PREVIOUS_COLUMN)}"
        self._add(position, piece, cursor.offset(start), cursor.tokens[end].end, f"({row} = {previous})")
        cursor.position = end + 1

    def _windowed(self, scope: Scope, name: str, offset: int) -> Relation:
        relation = scope.find(name)
        if relation is None:
            raise StatementError(
                f"no relation of this FROM clause is called {name}", self.cursor.text, offset
            )
        if relation.window is None:
            raise StatementError(
                f"{name} has no window; PREV needs one, such as [ROWS 2]", self.cursor.text, offset
            )
        return relation
