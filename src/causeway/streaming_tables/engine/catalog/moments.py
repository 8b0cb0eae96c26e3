"""Times of streaming tables: what NOW() is, and how a time is written in Spark SQL and for people."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from causeway.runtime.errors import UserError
from causeway.streaming_tables.engine.catalog.side_tables import SideTable
from causeway.streaming_tables.storage import Snapshot

__all__ = ["Moment", "moment_of", "time_literal", "time_text", "whole_seconds"]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Moment:
    """A point of a table's time: what NOW() is in a statement. None: the table is empty."""

    value: int | None
    kind: str

    def literal(self, offset: int = 0) -> str:
        """The moment, moved by `offset` microseconds, in Spark SQL."""
        if self.value is None:
            return f"CAST(NULL AS {'BIGINT' if self.kind == 'seconds' else 'TIMESTAMP'})"
        return time_literal(
            self.value + (whole_seconds(offset) if self.kind == "seconds" else offset), self.kind
        )


def moment_of(contents: Mapping[str, Snapshot | SideTable], clock: str) -> Moment:
    """What NOW() is: the newest time of the statement's streaming tables, or the wall clock's."""
    snapshots = {name: one for name, one in contents.items() if isinstance(one, Snapshot)}
    kinds = {snapshot.definition.time.kind for snapshot in snapshots.values()}
    if len(kinds) > 1:
        raise UserError(
            "NOW() has no meaning here: one of the tables counts seconds, another one has timestamps"
        )
    kind = kinds.pop() if kinds else "timestamp"
    if clock == "wall":
        return Moment(int(time.time() * (1 if kind == "seconds" else 1_000_000)), kind)
    newest = [snapshot.newest for snapshot in snapshots.values() if snapshot.newest is not None]
    return Moment(max(newest, default=None), kind)


def whole_seconds(duration: int) -> int:
    """A length of time in a query over tables that count seconds."""
    if duration % 1_000_000:
        raise UserError(f"the tables of the query count whole seconds; {duration / 1e6:g} s is none")
    return duration // 1_000_000


def time_literal(moment: int, kind: str) -> str:
    """A time in Spark SQL: one literal, which Spark's analyzer leaves as it is.

    A time that has no literal, as it is before the year 1 or after 9999, is written as a call.
    """
    if kind == "seconds":
        return f"{moment}L" if moment >= 0 else f"({moment}L)"
    try:
        stamp = _EPOCH + timedelta(microseconds=moment)
    except OverflowError:
        return f"timestamp_micros({moment}L)"
    return f"TIMESTAMP'{stamp.isoformat(sep=' ', timespec='microseconds')}'"


def time_text(moment: int | None, kind: str) -> str | None:
    """A time of a table for people."""
    if moment is None:
        return None
    if kind == "seconds":
        return str(moment)
    try:
        return (_EPOCH + timedelta(microseconds=moment)).isoformat(sep=" ", timespec="microseconds")
    except OverflowError:
        return "before the year 1" if moment < 0 else "after the year 9999"
