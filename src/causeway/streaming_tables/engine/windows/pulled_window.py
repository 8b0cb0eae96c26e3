"""A window of a pull query, kept from one answer to the next.

Between two answers only rows that have arrived since are read, by their arrival numbers: rows of any time, as
a pull query does not wait until no more can come.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from causeway.streaming_tables.engine.windows.sliding import valid_until
from causeway.streaming_tables.engine.windows.window_state import (
    as_times,
    partition_names,
    partitions,
    rows_in_order,
    window_length,
)
from causeway.streaming_tables.language import Window
from causeway.streaming_tables.storage import SEQ, Comparison, Predicate, Snapshot

__all__ = ["PulledWindow"]


class PulledWindow:
    """The rows of one window as of any moment. Used by one thread at a time."""

    def __init__(self, window: Window, columns: Sequence[str] | None = None) -> None:
        """`columns` are read, those that the window needs among them; all unless given."""
        self._window = window
        self._columns = columns
        self._kept: pa.Table | None = None
        """The rows in the window, with arrival numbers; None if a part of the table was left out."""
        self._seen = 0
        """Rows with smaller arrival numbers have been looked at."""
        self._changes = 0

    def rows(self, snapshot: Snapshot, now: int) -> pa.Table:
        """The window's rows as of `now`, the newest first, with their arrival numbers."""
        definition = snapshot.definition
        time, period = definition.time.name, definition.range
        if self._window.interval_us is not None:
            length = window_length(self._window, definition.time.kind)
            length = length if period is None else min(length, period)
            found = snapshot.scan(
                self._columns, with_seq=True, time_from=now - length, time_to=now, keep_expired=True
            )
        else:
            found = self._last_rows(snapshot, now)
            if period is not None:
                inside = as_times(found.column(time)) + period >= now
                found = found if inside.all() else found.filter(pa.array(inside))
        ordered = rows_in_order(found, time)
        return ordered.take(pa.array(np.arange(ordered.num_rows)[::-1]))

    def _last_rows(self, snapshot: Snapshot, now: int) -> pa.Table:
        count = self._window.rows
        assert count is not None
        names = partition_names(self._window, snapshot.definition)
        # Before the rows are read: a read may go on with a newer state of the table.
        seen, changes, newest = snapshot.rows_total, snapshot.changes, snapshot.newest
        kept = self._kept if self._changes == changes else None
        if kept is None or newest is None or newest > now:
            found = snapshot.last_rows(count, names, self._columns, as_of=now)
        else:
            arrived = snapshot.scan(
                self._columns, Predicate.all_of(Comparison(SEQ, ">=", self._seen)), with_seq=True
            )
            found = _joined(kept, arrived, names, snapshot.definition.time.name, count)
        # Rows that are newer than `now` were not looked at, and may count at a later moment.
        self._kept = found if newest is not None and newest <= now else None
        self._seen, self._changes = seen, changes
        return found


def _joined(kept: pa.Table, arrived: pa.Table, names: list[str], time: str, count: int) -> pa.Table:
    """The last rows of each partition, out of those so far and what has arrived."""
    known = kept.column(SEQ).to_numpy()
    arrived = arrived.filter(pa.array(~np.isin(arrived.column(SEQ).to_numpy(), known)))
    if not arrived.num_rows:
        return kept
    rows = pa.concat_tables([kept, arrived.select(kept.schema.names)])
    number = partitions(rows, names)
    has_new = np.zeros(int(number.max()) + 1, np.bool_)
    has_new[number[kept.num_rows :]] = True
    busy = has_new[number]
    moved = rows_in_order(rows.take(pa.array(np.flatnonzero(busy))), time)
    _, pushed_out = valid_until(partitions(moved, names), as_times(moved.column(time)), count)
    idle, moved = rows.filter(pa.array(~busy)), moved.filter(pa.array(~pushed_out))
    return pa.concat_tables([idle, moved]).combine_chunks()
