"""The tables beside a streaming table: `t__late` and `t__rejected`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from causeway.streaming_tables.language import RelationInfo
from causeway.streaming_tables.storage import REJECTED_SCHEMA, TableStore

__all__ = ["LATE", "REJECTED", "SideTable", "base_of", "side_relation", "side_table"]

LATE: Final = "__late"
REJECTED: Final = "__rejected"


@dataclass(frozen=True)
class SideTable:
    """Rows that are not in a streaming table itself: those that came too late, or did not parse or fit."""

    name: str
    kind: str
    """How the streaming table counts time."""
    rows: pa.Table

    @property
    def schema(self) -> pa.Schema:
        return self.rows.schema


def base_of(name: str) -> tuple[str, str] | None:
    """The streaming table's name and which of the two tables beside it is meant; None for any other name."""
    for suffix in (LATE, REJECTED):
        if name.lower().endswith(suffix) and len(name) > len(suffix):
            return name[: -len(suffix)], suffix
    return None


def side_table(store: TableStore, suffix: str) -> SideTable:
    """The rows of a table beside a streaming table, as of now."""
    definition = store.definition
    snapshot = store.snapshot()
    rows = snapshot.late() if suffix == LATE else snapshot.rejected()
    return SideTable(f"{definition.name}{suffix}", definition.time.kind, rows)


def side_relation(store: TableStore, suffix: str) -> RelationInfo:
    """What the language must know of a table beside a streaming table."""
    definition = store.definition
    names = definition.arrow_schema().names[:-1] if suffix == LATE else REJECTED_SCHEMA.names
    return RelationInfo(
        f"{definition.name}{suffix}", tuple(names), definition.time.name, definition.time.kind, False
    )
