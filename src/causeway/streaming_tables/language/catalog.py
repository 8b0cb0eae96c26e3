"""What the language asks about the tables of a warehouse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

__all__ = ["Catalog", "RelationInfo", "TimeKind"]

TimeKind = Literal["seconds", "timestamp"]


@dataclass(frozen=True)
class RelationInfo:
    """A streaming table or a streaming view. `columns` are without the time column."""

    name: str
    columns: tuple[str, ...]
    time: str = "T"
    kind: TimeKind = "seconds"
    is_view: bool = False

    def column(self, name: str) -> str | None:
        """A column's name as the table has it, found in any case; the time column is none of them."""
        return next((column for column in self.columns if column.lower() == name.lower()), None)


class Catalog(Protocol):
    """The streaming tables and views of a warehouse."""

    def relation(self, name: str) -> RelationInfo | None:
        """The streaming table or view of this name, in any case; nothing for every other name."""
