"""What a streaming table holds and what its windows are, in plain Python over all rows.

It follows the specification word by word and shares no code with the engine or the storage.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["MICROS", "Row", "Table", "view_content"]

Row = dict[str, Any]
MICROS = 1_000_000


@dataclass
class Table:
    """A streaming table. Times are whole numbers: seconds, or microseconds for timestamps."""

    columns: tuple[str, ...]
    period: int | None = None
    slack: int = 0
    counts_seconds: bool = True
    rows: list[Row] = field(default_factory=list)
    """Accepted rows in the order of arrival, each with its number."""
    late: list[Row] = field(default_factory=list)
    newest: int | None = None
    ended_at: int | None = None
    arrived: int = 0

    def append(self, rows: Iterable[Sequence[Any]]) -> None:
        """Rows in the order of arrival, the time last."""
        for values in rows:
            row = dict(zip((*self.columns, "T"), values, strict=True))
            is_late = self.newest is not None and row["T"] < self.newest - self.slack
            if self.ended_at is not None and row["T"] <= self.ended_at:
                is_late = True
            if is_late:
                self.late.append(row)
            else:
                self.rows.append({**row, "seq": self.arrived})
                self.arrived += 1
            self.newest = row["T"] if self.newest is None else max(self.newest, row["T"])

    @property
    def closed(self) -> int | None:
        """The largest time of which no more rows can come."""
        if self.newest is None:
            return None
        closed = self.newest - self.slack - 1
        return closed if self.ended_at is None else max(closed, self.ended_at)

    def end(self) -> None:
        """All sources have ended."""
        self.ended_at = self.newest

    def content(self, as_of: int | None = None) -> list[Row]:
        """The rows in the historical period, as of now or as of a time."""
        if self.newest is None:
            return []
        now = self.newest if as_of is None else as_of
        return [row for row in self.rows if self._first(now) <= row["T"] <= now]

    def by_time(self, as_of: int, length: int) -> list[Row]:
        """`[WINDOW INTERVAL length]`, the newest row first."""
        low = max(as_of - length, 0) if self.counts_seconds else as_of - length
        return [row for row in self._falling(as_of) if row["T"] >= low]

    def by_rows(self, as_of: int, count: int) -> list[Row]:
        """`[WINDOW ROWS count]`."""
        return self._falling(as_of)[:count]

    def by_partition(self, as_of: int, columns: Sequence[str], count: int) -> list[Row]:
        """`[WINDOW columns ROWS count]`."""
        taken: dict[tuple[str, ...], int] = defaultdict(int)
        found = []
        for row in self._falling(as_of):
            key = tuple(repr(row[column]) for column in columns)
            taken[key] += 1
            if taken[key] <= count:
                found.append(row)
        return found

    def chains(self, as_of: int, columns: Sequence[str], count: int, length: int) -> list[tuple[Row, ...]]:
        """Rows of a window by rows, each with the next older ones of its partition, `length` in all."""
        groups: dict[tuple[str, ...], list[Row]] = defaultdict(list)
        for row in self.by_partition(as_of, columns, count):
            groups[tuple(repr(row[column]) for column in columns)].append(row)
        return [
            tuple(rows[first : first + length])
            for rows in groups.values()
            for first in range(len(rows) - length + 1)
        ]

    def ticks(self, step: int | None) -> list[int]:
        """All ticks that are over: multiples of `step`, or the times at which rows arrived."""
        times = sorted({row["T"] for row in self.rows})
        if not times or self.closed is None:
            return []
        if step is None:
            return [time for time in times if time <= self.closed]
        return list(range(-(-times[0] // step) * step, self.closed + 1, step))

    def _falling(self, as_of: int) -> list[Row]:
        return sorted(self.content(as_of), key=lambda row: (row["T"], row["seq"]), reverse=True)

    def _first(self, now: int) -> int:
        if self.period is None:
            return -(1 << 62)
        return max(now - self.period, 0) if self.counts_seconds else now - self.period


def view_content(answers: Iterable[tuple[int, list[tuple[Any, ...]]]], period: int) -> list[tuple[Any, ...]]:
    """A view's rows after these ticks: those in (newest - period, newest], each with its tick."""
    ticks = list(answers)
    newest = max((tick for tick, _ in ticks), default=0)
    return [(*row, tick) for tick, rows in ticks for row in rows if tick > newest - period]
