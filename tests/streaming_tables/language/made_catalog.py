"""A catalog with the streaming tables of the paper, one with timestamps, and a view."""

from __future__ import annotations

from typing import Final

from causeway.streaming_tables.language import RelationInfo

__all__ = ["CATALOG", "MadeCatalog"]


class MadeCatalog:
    """Knows the relations it is made of, in any case."""

    def __init__(self, *relations: RelationInfo) -> None:
        self._relations = {relation.name.lower(): relation for relation in relations}

    def relation(self, name: str) -> RelationInfo | None:
        return self._relations.get(name.lower())


CATALOG: Final = MadeCatalog(
    RelationInfo("POSREPORTS", ("VID", "SPD", "XWAY", "LANE", "DIR", "SEG", "POS")),
    RelationInfo("SEGSTAT", ("XWAY", "DIR", "SEG", "CNT", "AVGSPEED"), is_view=True),
    RelationInfo("readings", ("sensor", "value"), time="at", kind="timestamp"),
    RelationInfo("odd name", ("rows", "window")),
)
