"""The statement at one tick, over relations as of that tick: the way that every continuous query can go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from causeway.streaming_tables.engine.catalog.moments import Moment
from causeway.streaming_tables.engine.plans.spark_errors import in_users_text
from causeway.streaming_tables.engine.reads.relations import Relations
from causeway.streaming_tables.engine.windows.query_windows import QueryWindows
from causeway.streaming_tables.engine.windows.window_state import TICK
from causeway.streaming_tables.language import Query, TablePiece, Window, WindowPiece
from causeway.streaming_tables.storage import SEQ, Snapshot

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["EachTick"]


class EachTick:
    """The statement of a continuous query, run once for each tick. Used by one thread at a time."""

    def __init__(self, relations: Relations, query: Query, windows: QueryWindows, kind: str) -> None:
        self._relations = relations
        self._query = query
        self._windows = windows
        self._kind = kind

    def rows(self, snapshots: Mapping[str, Snapshot], tick: int, *, pulled: bool = False) -> pa.Table:
        """The answer, with hidden columns; `pulled`: ticks are asked for in any order."""
        moment = np.array([tick], np.int64)
        frames: dict[str, DataFrame] = {}
        names: dict[tuple[str, Window | None, bool], str] = {}

        def add(key: tuple[str, Window | None, bool], frame: DataFrame) -> str:
            names[key] = self._relations.unused_name(key[0])
            frames[names[key]] = frame
            return names[key]

        contents: dict[tuple[str, Window], Any] = {}

        def window(piece: WindowPiece) -> str:
            table, links = piece.table.lower(), self._windows.has_links(piece)
            key = (table, piece.window, links)
            if key in names:
                return names[key]
            if pulled and not links:
                rows = self._windows.pulled(table, piece.window).rows(snapshots[table], tick)
                return add(key, self._relations.arrow(rows.drop_columns([SEQ])))
            if (table, piece.window) not in contents:
                state = self._windows.state(table, piece.window)
                contents[table, piece.window] = state.move(snapshots[table], moment)
            time_type = snapshots[table].definition.time.arrow_type
            rows = contents[table, piece.window].table(moment, time_type, links=links)
            return add(key, self._relations.arrow(rows.drop_columns([TICK])))

        def table(piece: TablePiece) -> str:
            name = piece.table.lower()
            key = (name, None, False)
            frame = None if key in names else self._relations.snapshot(snapshots[name], as_of=tick)
            return names[key] if frame is None else add(key, frame)

        rendered = self._query.rendered(window, Moment(tick, self._kind).literal, table_name=table)
        with in_users_text(rendered), self._relations.named(frames):
            return self._relations.spark.sql(rendered.text).toArrow()
