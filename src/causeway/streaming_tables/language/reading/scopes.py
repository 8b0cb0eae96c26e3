"""Which names a part of a query sees."""

from __future__ import annotations

from dataclasses import dataclass, field

from causeway.streaming_tables.language.catalog import RelationInfo
from causeway.streaming_tables.language.query import Window

__all__ = ["Relation", "Scope"]


@dataclass
class Relation:
    """A name of a FROM clause. `info` is nothing for whatever is no streaming table."""

    alias: str
    alias_text: str
    info: RelationInfo | None
    window: Window | None = None


@dataclass
class Scope:
    """The relations of one SELECT, and the SELECT around it."""

    parent: Scope | None = None
    relations: list[Relation] = field(default_factory=list)

    def streaming(self) -> list[Relation]:
        return [relation for relation in self.relations if relation.info is not None]

    def find(self, name: str) -> Relation | None:
        """The relation that a name stands for here, the innermost first."""
        scope: Scope | None = self
        while scope is not None:
            for relation in scope.relations:
                if relation.alias.lower() == name.lower():
                    return relation
            scope = scope.parent
        return None
