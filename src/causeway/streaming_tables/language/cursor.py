"""A place in the significant tokens of a statement, with the few moves that a parser needs."""

from __future__ import annotations

from causeway.streaming_tables.language.errors import StatementError
from causeway.streaming_tables.language.tokens import Kind, Token, identifier_value, string_value

__all__ = ["Cursor"]

_END = Token(Kind.SPACE, "", -1)
_OPENING = {"(": ")", "[": "]"}


class Cursor:
    """Reads tokens `[position, end)` of a statement. Errors point to the token that was not expected."""

    def __init__(
        self,
        text: str,
        tokens: list[Token],
        position: int = 0,
        end: int | None = None,
        text_end: int | None = None,
    ) -> None:
        """`text` is the user's whole text; the statement in it ends at `text_end`."""
        self.text = text
        self.text_end = len(text) if text_end is None else text_end
        self.tokens = tokens
        self.position = position
        self.end = len(tokens) if end is None else end

    def at(self, position: int, end: int | None = None) -> Cursor:
        """Another cursor on the same tokens."""
        return Cursor(self.text, self.tokens, position, self.end if end is None else end, self.text_end)

    def peek(self, ahead: int = 0) -> Token:
        """A token that is not read yet; an empty one after the end."""
        position = self.position + ahead
        return self.tokens[position] if position < self.end else _END

    @property
    def done(self) -> bool:
        return self.position >= self.end

    def offset(self, position: int | None = None) -> int:
        """Where a token starts in the text, the next one unless given; at the end, where the last ends."""
        position = self.position if position is None else position
        if position < self.end:
            return self.tokens[position].start
        return self.tokens[self.end - 1].end if self.end > 0 else self.text_end

    def error(self, message: str, position: int | None = None) -> StatementError:
        return StatementError(message, self.text, self.offset(position))

    def unexpected(self, expected: str) -> StatementError:
        """The error that something else was expected here."""
        token = self.peek()
        if self.done:
            return self.error(f"the statement ends here, where {expected} is expected")
        if token.kind is Kind.UNCLOSED:
            return self.error("what begins here has no end")
        return self.error(f"expected {expected}, found {token.text}")

    def next(self) -> Token:
        token = self.peek()
        self.position += 1
        return token

    def words(self, *words: str) -> bool:
        """Whether these words come next."""
        return all(self.peek(ahead).word() == word for ahead, word in enumerate(words))

    def accept(self, *words: str) -> bool:
        """Read these words if all of them come next."""
        if not self.words(*words):
            return False
        self.position += len(words)
        return True

    def expect(self, *words: str) -> None:
        if not self.accept(*words):
            raise self.unexpected(" ".join(words))

    def symbol(self, symbol: str) -> bool:
        """Read this symbol if it comes next."""
        if self.peek().symbol() != symbol:
            return False
        self.position += 1
        return True

    def expect_symbol(self, symbol: str) -> None:
        if not self.symbol(symbol):
            raise self.unexpected(symbol)

    def expect_name(self, what: str) -> str:
        """Read a plain or quoted identifier."""
        if not self.peek().is_name:
            raise self.unexpected(what)
        return identifier_value(self.next())

    def expect_string(self, what: str) -> str:
        if self.peek().kind is not Kind.STRING:
            raise self.unexpected(what)
        return string_value(self.next())

    def expect_end(self) -> None:
        if not self.done:
            raise self.unexpected("the end of the statement")

    def closing(self, position: int | None = None) -> int | None:
        """Where the bracket closes that opens at `position` (or next); nothing if it does not."""
        position = self.position if position is None else position
        stack: list[str] = []
        for index in range(position, self.end):
            symbol = self.tokens[index].symbol()
            if symbol in _OPENING:
                stack.append(_OPENING[symbol])
            elif stack and symbol == stack[-1]:
                stack.pop()
                if not stack:
                    return index
        return None

    def source(self, start: int, end: int) -> str:
        """The user's text of tokens `[start, end)`, byte for byte."""
        return self.text[self.tokens[start].start : self.tokens[end - 1].end] if start < end else ""
