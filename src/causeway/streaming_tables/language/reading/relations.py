"""Finds the relations of a statement: what stands after FROM, JOIN or a comma of a FROM clause, at any depth.

Windows are read only there. A bracket anywhere else is a subscript and Spark's own.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from causeway.streaming_tables.language.catalog import Catalog, RelationInfo
from causeway.streaming_tables.language.cursor import Cursor
from causeway.streaming_tables.language.errors import NotStreamingTableError
from causeway.streaming_tables.language.query import Edit, Piece, StreamPiece, TablePiece, Window, WindowPiece
from causeway.streaming_tables.language.reading.options import read_options
from causeway.streaming_tables.language.reading.scopes import Relation, Scope
from causeway.streaming_tables.language.reading.windows import ends_operand, is_sample_clause, read_window
from causeway.streaming_tables.language.tokens import Kind, Token, identifier_value, string_value
from causeway.streaming_tables.language.words import FOLLOWED_BY_BY, NO_ALIAS, QUERY_STARTS, SET_OPERATIONS

__all__ = ["RelationWalk"]


@dataclass
class _Level:
    """A pair of parentheses or brackets that is open."""

    scope: Scope
    query: bool = False
    clause: str = ""
    """"" at the start of a query, then select, from or other."""
    expects_relation: bool = False
    bare_table: bool = False
    """The relation is expected after TABLE, where it has no alias."""
    relation_paren: bool = False
    inline_rows: bool = False
    """After VALUES in the place of a relation: commas separate its rows."""
    naming_ctes: bool = False
    recursive: bool = False
    cte: str | None = None
    """The name in the WITH clause around this level that its query defines."""
    pending_cte: str | None = None
    ctes: set[str] = field(default_factory=set)


class RelationWalk:
    """One pass over the tokens of a statement. Afterwards `scope_of` tells the scope of each token."""

    def __init__(
        self, cursor: Cursor, catalog: Catalog, scope: Scope | None = None, *, query: bool = True
    ) -> None:
        self.cursor = cursor
        self.catalog = catalog
        self.start = cursor.position
        self.pieces: list[tuple[int, Piece]] = []
        self.edits: list[Edit] = []
        self.infos: dict[str, RelationInfo] = {}
        self.has_order_by = False
        self.has_limit = False
        self._levels = [_Level(scope or Scope(), query=query)]
        self._outermost = 1 + self._wrapping()
        self._scope_starts = [cursor.position]
        self._scopes = [self._levels[0].scope]
        while not cursor.done:
            before = cursor.position
            self._step()
            if self._levels[-1].scope is not self._scopes[-1]:
                self._scope_starts.append(before)
                self._scopes.append(self._levels[-1].scope)

    def scope_of(self, position: int) -> Scope:
        """The scope of the token at `position`."""
        return self._scopes[bisect_right(self._scope_starts, position) - 1]

    def _wrapping(self) -> int:
        """How many parentheses stand around the whole of it."""
        count = 0
        while (
            self.cursor.peek(count).symbol() == "("
            and self.cursor.closing(self.start + count) == self.cursor.end - 1 - count
        ):
            count += 1
        return count

    def _before(self, back: int = 1) -> Token:
        position = self.cursor.position - back
        return self.cursor.tokens[position] if position >= self.start else Token(Kind.SPACE, "", -1)

    def _step(self) -> None:
        level = self._levels[-1]
        token = self.cursor.tokens[self.cursor.position]
        symbol = token.symbol()
        if level.expects_relation and symbol not in {"(", ")"}:
            self._relation(level)
        elif symbol in {"(", "["}:
            self._open(level, symbol)
        elif symbol in {")", "]"}:
            self._close()
        elif symbol == ",":
            self._comma(level)
        elif symbol == "|>":
            level.query, level.clause, level.expects_relation = True, "other", False
            self.cursor.next()
        elif token.is_name and self._before().symbol() != ".":
            self._word(level, token)
        else:
            self.cursor.position += 1

    def _open(self, level: _Level, symbol: str) -> None:
        before = self._before().word()
        self.cursor.next()
        starts_query = self.cursor.peek().word() in QUERY_STARTS and before != "TRIM"
        child = _Level(level.scope)
        if symbol == "(" and starts_query:
            child = _Level(Scope(level.scope), query=True)
        if symbol == "(" and level.expects_relation:
            level.expects_relation = False
            child.relation_paren = True
            if not child.query:
                child.clause, child.expects_relation = "from", True
        if level.pending_cte is not None and before == "AS":
            child.cte, level.pending_cte = level.pending_cte, None
        if before == "TABLE" and not child.query and symbol == "(":
            child.expects_relation, child.bare_table = True, True
        self._levels.append(child)

    def _close(self) -> None:
        self.cursor.next()
        if len(self._levels) == 1:
            return
        closed = self._levels.pop()
        level = self._levels[-1]
        if closed.cte is not None:
            level.ctes.add(closed.cte.lower())
            level.naming_ctes = self.cursor.peek().symbol() == ","
        if closed.relation_paren:
            self._refuse_window()

    def _refuse_window(self) -> None:
        """A subquery in the place of a relation is followed by a window, with or without an alias between."""
        cursor = self.cursor
        ahead = 1 if cursor.words("AS") else 0
        ahead += 1 if cursor.peek(ahead).is_name else 0
        if cursor.peek().symbol() == "[" or (ahead and cursor.peek(ahead).symbol() == "["):
            position = cursor.position + (0 if cursor.peek().symbol() == "[" else ahead)
            raise NotStreamingTableError(
                "a window belongs to a streaming table, not to a subquery",
                cursor.text,
                cursor.offset(position),
            )

    def _comma(self, level: _Level) -> None:
        self.cursor.next()
        if level.clause == "from" and not level.inline_rows:
            level.expects_relation = True

    def _word(self, level: _Level, token: Token) -> None:
        cursor = self.cursor
        word = token.word()
        level.inline_rows = False
        if level.naming_ctes and level.pending_cte is None and level.clause == "":
            if word not in {"WITH", "RECURSIVE"}:
                level.pending_cte = identifier_value(token)
                if level.recursive:
                    level.ctes.add(level.pending_cte.lower())
            cursor.next()
            return
        if self._before().word() == "AS" and (level.query or word not in QUERY_STARTS):
            cursor.next()
            return
        following = cursor.peek(1).word()
        if word == "WITH" and level.clause == "" and self._starts_ctes():
            level.query, level.naming_ctes, level.recursive = True, True, following == "RECURSIVE"
        elif word == "SELECT" and not (level.clause == "select" and self._before().word() == "SELECT"):
            if not level.query:
                level.scope = Scope(level.scope)
            level.query, level.clause, level.naming_ctes = True, "select", False
        elif word in {"MAP", "REDUCE"} and level.query and level.clause == "" and cursor.peek(1).is_name:
            level.clause = "select"
        elif word == "FROM" and level.query and self._starts_from(level):
            level.clause, level.expects_relation, level.naming_ctes = "from", True, False
        elif word == "JOIN" and level.clause in {"from", "other"} and (level.query or level.clause == "from"):
            level.clause, level.expects_relation = "from", True
        elif word == "TABLE" and self._names_a_table(level):
            level.expects_relation = level.bare_table = cursor.peek(1).symbol() != "("
        elif word in SET_OPERATIONS and level.query and level.clause and self._before().symbol() != "*":
            level.clause = ""
            level.scope = Scope(level.scope.parent)
        elif word == "USING" and not level.query and self._is_merge():
            level.expects_relation = True
        elif level.clause == "from" and self._ends_from(word):
            level.clause = "other"
        if len(self._levels) == self._outermost:
            self._note_order(word, following)
        cursor.next()

    def _is_merge(self) -> bool:
        return len(self._levels) == 1 and self.cursor.tokens[self.start].word() == "MERGE"

    def _starts_from(self, level: _Level) -> bool:
        """FROM is also part of IS DISTINCT FROM, and may be a column's name."""
        if self._before().word() == "DISTINCT" and self._before(2).word() in {"IS", "NOT"}:
            return False
        column = self._before().word() == "SELECT" and self.cursor.peek(1).word() == "FROM"
        return level.clause in {"", "select"} and not column

    def _note_order(self, word: str, following: str) -> None:
        clause_place = ends_operand(self._before()) or self._before().symbol() in {"|>", "*"}
        self.has_order_by = self.has_order_by or (word == "ORDER" and following == "BY")
        self.has_limit = self.has_limit or (word in {"LIMIT", "OFFSET"} and clause_place)

    def _starts_ctes(self) -> bool:
        """WITH is also a word of options and of other clauses: here it must be followed by a name and AS."""
        at = self.cursor.position + 1
        if self.cursor.peek(1).word() == "RECURSIVE":
            at += 1
        name = self.cursor.at(at)
        if not name.peek().is_name:
            return False
        name.next()
        if name.peek().symbol() == "(" and (closing := name.closing()) is not None:
            name.position = closing + 1
        return name.words("AS") or name.words("MAX", "RECURSION")

    def _names_a_table(self, level: _Level) -> bool:
        before = self._before()
        starts_query = level.query and level.clause == ""
        argument = before.symbol() in {"(", ",", "=>"} and level.clause != "select"
        follows = self.cursor.peek(1)
        return (starts_query or argument) and (follows.is_name or follows.symbol() == "(")

    def _ends_from(self, word: str) -> bool:
        following = self.cursor.peek(1)
        if word in FOLLOWED_BY_BY:
            return following.word() == "BY"
        if word == "WINDOW":
            return self.cursor.peek(2).word() == "AS"
        if word == "LATERAL":
            return following.word() == "VIEW"
        return word in {"WHERE", "HAVING", "LIMIT", "OFFSET", "QUALIFY", "PIVOT", "UNPIVOT", "INSERT"}

    def _relation(self, level: _Level) -> None:
        cursor = self.cursor
        first, word = cursor.peek(), cursor.peek().word()
        if word == "LATERAL":
            cursor.next()
            return
        bare, level.bare_table = level.bare_table, False
        level.expects_relation = False
        if not first.is_name:
            cursor.next()
            return
        if word == "VALUES" and (
            cursor.peek(1).symbol() == "(" or cursor.peek(1).kind in {Kind.NUMBER, Kind.STRING}
        ):
            level.inline_rows = True
            cursor.next()
            return
        if word == "STREAM" and cursor.peek(1).kind is Kind.STRING:
            self._stream(level)
            return
        if word == "TABLE" and cursor.peek(1).symbol() == "(":
            cursor.next()
            return
        position = cursor.position
        names = [cursor.next()]
        while cursor.peek().symbol() == "." and cursor.peek(1).is_name:
            cursor.next()
            names.append(cursor.next())
        if cursor.peek().symbol() == "(":
            return
        self._named_relation(level, position, names, bare=bare)

    def _stream(self, level: _Level) -> None:
        cursor = self.cursor
        position, start = cursor.position, cursor.offset()
        cursor.next()
        source = string_value(cursor.next())
        options = read_options(cursor) if cursor.words("OPTIONS") else {}
        end = cursor.tokens[cursor.position - 1].end
        alias = self._alias()
        index = sum(isinstance(piece, StreamPiece) for _, piece in self.pieces)
        piece = StreamPiece(source, options, identifier_value(alias) if alias else None, index)
        self.pieces.append((position, piece))
        self.edits.append(Edit(start, end, piece=piece, role="relation"))
        level.scope.relations.append(Relation(piece.alias or "", alias.text if alias else "", None))

    def _alias(self) -> Token | None:
        """Read `[AS] alias` if one is there."""
        cursor = self.cursor
        if cursor.words("AS") and cursor.peek(1).is_name:
            cursor.next()
            return cursor.next()
        token, follows = cursor.peek(), cursor.peek(1)
        word = token.word()
        if not token.is_name or word in NO_ALIAS or is_sample_clause(cursor, cursor.position):
            return None
        if word == "WINDOW" and cursor.peek(2).word() == "AS" and cursor.peek(3).symbol() in {"(", ""}:
            return None
        if word in {"PIVOT", "UNPIVOT"} and (
            follows.symbol() == "(" or follows.word() in {"INCLUDE", "EXCLUDE"}
        ):
            return None
        if self._is_time_travel():
            return None
        if word == "WITH" and follows.symbol() == "(":
            return None
        return cursor.next()

    def _is_time_travel(self) -> bool:
        """Whether Spark's `[FOR] VERSION AS OF …` or `[FOR] TIMESTAMP AS OF …` comes next."""
        ahead = 1 if self.cursor.words("FOR") else 0
        what = self.cursor.peek(ahead).word() in {"VERSION", "TIMESTAMP", "SYSTEM_TIME", "SYSTEM_VERSION"}
        return what and [self.cursor.peek(ahead + more).word() for more in (1, 2)] == ["AS", "OF"]

    def _named_relation(self, level: _Level, position: int, names: list[Token], *, bare: bool) -> None:
        cursor = self.cursor
        name = identifier_value(names[-1])
        is_cte = len(names) == 1 and any(name.lower() in outer.ctes for outer in self._levels)
        info = self.catalog.relation(name) if len(names) == 1 and not is_cte else None
        window: Window | None = None
        brackets: tuple[int, int] | None = None
        if cursor.peek().symbol() == "[":
            window, brackets = self._window(position, names, info, is_cte)
        if info is not None and self._is_time_travel():
            raise cursor.error(
                f"{info.name} is a streaming table; its past is read with VALID … OVERLAPS (from, to)"
            )
        sampled = self._skip_tablesample()
        alias = self._alias() if not bare else None
        if window is None and cursor.peek().symbol() == "[":
            if sampled:
                raise cursor.error("a window stands before TABLESAMPLE")
            window, brackets = self._window(position, names, info, is_cte)
        alias_name = identifier_value(alias) if alias else name
        level.scope.relations.append(Relation(alias_name, (alias or names[-1]).text, info, window))
        if info is None:
            return
        self.infos.setdefault(info.name, info)
        piece: WindowPiece | TablePiece
        if window is not None:
            index = sum(isinstance(piece, WindowPiece) for _, piece in self.pieces)
            piece = WindowPiece(info.name, alias_name, window, index, info)
        else:
            index = sum(isinstance(piece, TablePiece) for _, piece in self.pieces)
            piece = TablePiece(info.name, alias_name, index, info)
        self.pieces.append((position, piece))
        self._edit_relation(piece, names[0], brackets, alias, sampled, bare=bare)

    def _window(
        self, position: int, names: list[Token], info: RelationInfo | None, is_cte: bool
    ) -> tuple[Window, tuple[int, int]]:
        cursor = self.cursor
        if info is None:
            name = ".".join(identifier_value(part) for part in names)
            what = "a query of the WITH clause" if is_cte else "not a streaming table"
            raise NotStreamingTableError(
                f"{name} is {what}; a window needs a streaming table", cursor.text, cursor.offset(position)
            )
        start = cursor.offset()
        window = read_window(cursor, info)
        return window, (start, cursor.tokens[cursor.position - 1].end)

    def _skip_tablesample(self) -> int:
        """Read `TABLESAMPLE (…) [REPEATABLE (…)]`; how many tokens it has."""
        cursor = self.cursor
        before = cursor.position
        for word in ("TABLESAMPLE", "REPEATABLE"):
            if cursor.words(word) and cursor.peek(1).symbol() == "(":
                closing = cursor.closing(cursor.position + 1)
                if closing is None:
                    break
                cursor.position = closing + 1
        return cursor.position - before

    def _edit_relation(
        self,
        piece: WindowPiece | TablePiece,
        name: Token,
        brackets: tuple[int, int] | None,
        alias: Token | None,
        sampled: int,
        *,
        bare: bool,
    ) -> None:
        implied = "" if alias or bare else f" AS {name.text}"
        if brackets is not None and alias is not None and alias.start < brackets[0]:
            self.edits.append(Edit(name.start, name.end, piece=piece, role="relation"))
            self.edits.append(Edit(*brackets))
            return
        end = brackets[1] if brackets else name.end
        if sampled and implied:
            place = self.cursor.tokens[self.cursor.position - 1].end
            self.edits.append(Edit(name.start, end, piece=piece, role="relation"))
            self.edits.append(Edit(place, place, before=implied, piece=piece, role="alias"))
        else:
            self.edits.append(Edit(name.start, end, piece=piece, role="relation", after=implied))
