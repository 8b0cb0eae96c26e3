"""Cutting a script into its statements."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Final

from causeway.streaming_tables.language.errors import StatementError
from causeway.streaming_tables.language.tokens import Kind, Token, significant, tokenize

__all__ = ["SourceStatement", "split_script"]

_BLOCK_STARTS: Final = frozenset({"THEN", "ELSE", "DO", "LOOP", "REPEAT", "BEGIN"})
_OTHER_ENDS: Final = frozenset({"IF", "CASE", "LOOP", "WHILE", "REPEAT", "FOR"})
_AFTER_A_COLUMN: Final = frozenset({"ELSE", "WHEN", "AND", "OR", "AS", "IS", "IN", "NOT", "LIKE", "BETWEEN"})


@dataclass(frozen=True)
class SourceStatement:
    """One statement of a script, byte for byte: `script[offset:]` starts with `text`.

    `line` and `column` are those of its first token, after the comments before it.
    """

    text: str
    offset: int
    line: int
    column: int
    script: str

    @classmethod
    def alone(cls, text: str) -> SourceStatement:
        """A statement that is all of its script."""
        return cls(text, 0, 1, 1, text)

    @property
    def end(self) -> int:
        """Where the statement ends in the script."""
        return self.offset + len(self.text)

    def tokens(self) -> list[Token]:
        """Its tokens without spaces, comments and hints, at their places in the script."""
        return significant(tokenize(self.script, self.offset, self.end))

    def error(self, message: str, offset: int) -> StatementError:
        """An error at a place of the script."""
        return StatementError(message, self.script, offset)


def split_script(text: str) -> list[SourceStatement]:
    """The statements of a script, without the `;` between them.

    Comments stay with the statement that follows them. A piece without any token is no statement. Spark's
    compound statement `BEGIN … END` is one statement, with all the `;` inside.
    """
    tokens = significant(tokenize(text))
    lines = [0, *(index + 1 for index, character in enumerate(text) if character == "\n")]
    statements = []
    start, first = 0, 0
    for last in [*_separators(tokens), len(tokens)]:
        end = tokens[last].start if last < len(tokens) else len(text)
        if last > first:
            body = text[start:end]
            offset = start + len(body) - len(body.lstrip())
            line = bisect_right(lines, tokens[first].start)
            statements.append(
                SourceStatement(body.strip(), offset, line, tokens[first].start - lines[line - 1] + 1, text)
            )
        start, first = end + 1, last + 1
    return statements


def _separators(tokens: list[Token]) -> list[int]:
    """Which tokens are the `;` that end statements."""
    found = []
    depth = 0
    first = 0
    for index, token in enumerate(tokens):
        if depth:
            depth += _block_change(tokens, index, first)
        elif token.word() == "BEGIN" and _starts_compound(tokens, first, index):
            depth = 1
            first = index + 1
        if token.symbol() == ";":
            first = index + 1
            if depth == 0:
                found.append(index)
    return found


def _starts_compound(tokens: list[Token], first: int, index: int) -> bool:
    labelled = index == first + 2 and tokens[first].is_name and tokens[first + 1].symbol() == ":"
    follows = tokens[index + 1] if index + 1 < len(tokens) else None
    return (index == first or labelled) and follows is not None and follows.symbol() != ";"


def _block_change(tokens: list[Token], index: int, first: int) -> int:
    """What a token inside a compound statement does to its depth.

    Only blocks are counted: lists of statements end with `;`, so the `END` of a block always follows one (or
    `BEGIN`), and the `END` of a `CASE` expression never does.
    """
    word = tokens[index].word()
    before = tokens[index - 1]
    after = tokens[index + 1] if index + 1 < len(tokens) else Token(Kind.SPACE, "", -1)
    if word == "BEGIN":
        follows_list_start = before.symbol() in {";", ":"} or before.word() in _BLOCK_STARTS
        handler = tokens[first].word() == "DECLARE" and any(
            t.word() == "HANDLER" for t in tokens[first:index]
        )
        column = after.word() in _AFTER_A_COLUMN or after.kind is Kind.SYMBOL
        return 1 if (follows_list_start or handler) and not column else 0
    if word == "END" and (before.symbol() == ";" or before.word() == "BEGIN"):
        return 0 if after.word() in _OTHER_ENDS else -1
    return 0
