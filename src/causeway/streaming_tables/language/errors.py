"""Errors in a statement, told with the line, the column and the line of text they are about."""

from __future__ import annotations

from causeway.runtime.errors import UserError

__all__ = ["NotStreamingTableError", "StatementError", "line_and_column"]


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Line and column of a character, both from 1. Lines end with a line feed, as in Spark's errors."""
    offset = max(0, min(offset, len(text)))
    start = text.rfind("\n", 0, offset) + 1
    return text.count("\n", 0, offset) + 1, offset - start + 1


class StatementError(UserError):
    """A statement that cannot be understood. `text` is the user's own, and the place is in it."""

    def __init__(self, message: str, text: str, offset: int) -> None:
        self.message = message
        self.text = text
        self.offset = max(0, min(offset, len(text)))
        self.line, self.column = line_and_column(text, self.offset)
        super().__init__(str(self))

    def __str__(self) -> str:
        start = self.offset - self.column + 1
        line = self.text[start:].split("\n", 1)[0].rstrip("\r")
        # Tabs are kept, so that the caret stands below its character however wide a tab is shown.
        pad = "".join("\t" if character == "\t" else " " for character in line[: self.column - 1])
        return f"line {self.line}, column {self.column}: {self.message}\n{line}\n{pad}^"

    def __reduce__(self) -> tuple[type[StatementError], tuple[str, str, int]]:
        return type(self), (self.message, self.text, self.offset)


class NotStreamingTableError(StatementError):
    """Something that only streaming tables have was asked of a name that is no streaming table."""
