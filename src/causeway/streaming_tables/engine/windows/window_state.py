"""The rows of windows over streaming tables, for ticks that follow each other.

A window by time is a slice of the table. Of a window by rows, those that are in it are kept from one tick to
the next, so that the table is read only from where the last tick was.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from causeway.streaming_tables.engine.windows.sliding import (
    WindowRows,
    interval_window,
    partition_numbers,
    rows_window,
)
from causeway.streaming_tables.language import Window
from causeway.streaming_tables.storage import LONGEST, SEQ, Snapshot, TableDefinition

__all__ = [
    "TICK",
    "CarriedRows",
    "MovedRows",
    "WindowContent",
    "WindowState",
    "as_times",
    "partition_names",
    "partitions",
    "rows_in_order",
    "window_columns",
    "window_length",
    "window_now",
]

TICK = "__tick"
"""The column with the tick as of which a row is in a window."""
_MOST_CHUNKS: Final = 16
"""Rows that are kept are copied together when they lie in more pieces than this."""


def window_columns(window: Window, definition: TableDefinition, used: Collection[str]) -> list[str]:
    """The columns of a table that are used, and those that the window itself needs, in the table's order."""
    needed = {*used, definition.time.name, *partition_names(window, definition)}
    return [name for name in definition.arrow_schema().names if name in needed]


def window_length(window: Window, kind: str) -> int:
    """The length of a window by time in the table's own unit."""
    assert window.interval_us is not None
    return min(window.interval_us // 1_000_000 if kind == "seconds" else window.interval_us, LONGEST)


def as_times(column: pa.ChunkedArray) -> NDArray[np.int64]:
    """Times as whole numbers in the table's own unit."""
    return np.asarray(column.cast(pa.int64()).to_numpy(), np.int64)


@dataclass(frozen=True)
class WindowContent:
    """Rows in order, and which of them are in the window at each tick."""

    rows: pa.Table
    """With the hidden arrival number."""
    inside: WindowRows

    def table(self, ticks: NDArray[np.int64], time_type: pa.DataType, *, links: bool) -> pa.Table:
        """The content at all ticks; with `links`, each row's own number and that of its predecessor.

        Rows have the window's order within a tick: falling time, of equals the later arrival first.
        """
        order = _newest_first(self.inside.row, self.inside.tick)
        rows = self.rows.take(pa.array(self.inside.row[order]))
        seq = self.rows.column(SEQ).to_numpy()
        content = rows.drop_columns([SEQ])
        if links:
            previous = self.inside.previous[order]
            # No row has the number -1, so a comparison with it is false, not NULL.
            older = np.where(previous < 0, -1, seq[np.maximum(previous, 0)]) if len(seq) else previous
            content = content.append_column("__row", rows.column(SEQ)).append_column(
                "__previous", pa.array(older)
            )
        stamps = pa.array(ticks[self.inside.tick[order]], pa.int64()).cast(time_type)
        return content.append_column(TICK, stamps)


class CarriedRows:
    """The rows of a window by rows, carried from tick to tick: the table is read from the last tick on."""

    def __init__(self, window: Window, columns: Sequence[str] | None = None) -> None:
        """`columns` are read, those that the window needs among them; all unless given."""
        assert window.rows is not None
        self._window = window
        self._columns = columns
        self._count = window.rows
        self._rows: pa.Table | None = None
        self._last = 0
        self._changes = 0

    def move(self, snapshot: Snapshot, ticks: NDArray[np.int64]) -> MovedRows:
        """The rows as of the last of `ticks`, which rise and follow those of the call before.

        When the table was changed by a deletion or an update, the window is read anew.
        """
        definition = snapshot.definition
        parts = []
        carried = 0
        anew = self._rows is None or self._changes != snapshot.changes
        if anew:
            names = partition_names(self._window, definition)
            parts.append(snapshot.last_rows(self._count, names, self._columns, as_of=int(ticks[0])))
            self._last = int(ticks[0])
            self._changes = snapshot.changes
        elif self._rows is not None:
            parts.append(self._rows)
            carried = self._rows.num_rows
        arrived = snapshot.scan(
            self._columns,
            with_seq=True,
            time_from=self._last + 1,
            time_to=int(ticks[-1]),
            keep_expired=True,
        )
        names = arrived.schema.names
        return MovedRows(pa.concat_tables([*(part.select(names) for part in parts), arrived]), carried, anew)

    def keep(self, rows: pa.Table, tick: int) -> None:
        """Carry the rows that are in the window as of a tick to the next one."""
        if rows.num_columns and rows.column(0).num_chunks > _MOST_CHUNKS:
            rows = rows.combine_chunks()
        self._rows = rows
        self._last = tick


class MovedRows(NamedTuple):
    """Rows with arrival numbers: first those that were carried, then those that have come since."""

    rows: pa.Table
    carried: int
    anew: bool
    """Whether the window was read anew, so that what is known of earlier rows does not hold any more."""


class WindowState:
    """One window of a continuous query, moved from tick to tick."""

    def __init__(self, window: Window, columns: Sequence[str] | None = None) -> None:
        """`columns` are read, those that the window needs among them; all unless given."""
        self._window = window
        self._columns = columns
        self._carried = None if window.rows is None else CarriedRows(window, columns)

    def move(self, snapshot: Snapshot, ticks: NDArray[np.int64]) -> WindowContent:
        """The content at `ticks`, which rise and follow those of the call before."""
        definition = snapshot.definition
        kind, period = definition.time.kind, definition.range
        if self._carried is None:
            length = window_length(self._window, kind)
            length = length if period is None else min(length, period)
            rows = rows_in_order(
                snapshot.scan(
                    self._columns,
                    with_seq=True,
                    time_from=int(ticks[0]) - length,
                    time_to=int(ticks[-1]),
                    keep_expired=True,
                ),
                definition.time.name,
            )
            time = as_times(rows.column(definition.time.name))
            return WindowContent(rows, interval_window(time, ticks, length))
        assert self._window.rows is not None
        rows = rows_in_order(self._carried.move(snapshot, ticks).rows, definition.time.name)
        time = as_times(rows.column(definition.time.name))
        partition = partitions(rows, partition_names(self._window, definition))
        inside = rows_window(partition, time, ticks, self._window.rows, period)
        self._carried.keep(rows.take(pa.array(inside.row[inside.tick == len(ticks) - 1])), int(ticks[-1]))
        return WindowContent(rows, inside)


def partition_names(window: Window, definition: TableDefinition) -> list[str]:
    """The columns that a window is partitioned by, as the table writes them."""
    names = {name.lower(): name for name in definition.arrow_schema().names}
    return [names[column.lower()] for column in window.partition_by]


def partitions(rows: pa.Table, names: list[str]) -> NDArray[np.int64]:
    """The number of each row's partition; one partition if there are no columns."""
    if not names:
        return np.zeros(rows.num_rows, np.int64)
    return partition_numbers([rows.column(name) for name in names])


def window_now(window: Window, snapshot: Snapshot, now: int | None) -> pa.Table:
    """The rows of a window as of a moment, the newest first."""
    definition = snapshot.definition
    if now is None:
        return definition.arrow_schema().empty_table()
    moment = np.array([now], np.int64)
    content = WindowState(window).move(snapshot, moment)
    return content.table(moment, definition.time.arrow_type, links=False).drop_columns([TICK])


def rows_in_order(rows: pa.Table, time: str) -> pa.Table:
    """Rows by rising time and, of equals, arrival."""
    times, seq = as_times(rows.column(time)), rows.column(SEQ).to_numpy()
    if ((times[1:] > times[:-1]) | ((times[1:] == times[:-1]) & (seq[1:] > seq[:-1]))).all():
        return rows.combine_chunks()
    return rows.take(pa.array(np.lexsort((seq, times)))).combine_chunks()


def _newest_first(row: NDArray[np.int64], tick: NDArray[np.int64]) -> NDArray[np.int64]:
    """The order of pairs by rising tick and, within one, falling row."""
    if len(row) and tick[0] == tick[-1] and (row[1:] > row[:-1]).all() and (tick == tick[0]).all():
        return np.arange(len(row))[::-1]
    return np.lexsort((-row, tick))
