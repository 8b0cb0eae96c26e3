"""The ticks of a continuous query: the moments at which it is answered.

They are the multiples of its sample interval or, with SAMPLE REALTIME, the times of its tables' rows. A tick
can be answered when no row can come any more that belongs to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from causeway.runtime.errors import UserError
from causeway.streaming_tables.engine.catalog.moments import whole_seconds
from causeway.streaming_tables.engine.windows.window_state import as_times
from causeway.streaming_tables.language import Sample
from causeway.streaming_tables.storage import LONGEST, Snapshot

__all__ = ["MOST_TICKS", "Ticks", "closed_time", "kind_of_ticks", "oldest_time"]

MOST_TICKS: Final = 256
"""The most ticks that are answered together."""


class Ticks:
    """Finds the ticks of one query; `kind` tells whether its tables count seconds or have timestamps."""

    def __init__(self, sample: Sample, kind: str) -> None:
        self._sample = sample
        self._kind = kind
        self._step = None
        if sample.interval_us is not None:
            step = whole_seconds(sample.interval_us) if kind == "seconds" else sample.interval_us
            self._step = min(step, LONGEST)

    def newest(self, snapshots: Mapping[str, Snapshot], closed: int) -> int | None:
        """The last tick up to `closed`; None if there is none yet."""
        found = self._between(snapshots, None, closed, newest_only=True)
        return int(found[-1]) if len(found) else None

    def following(
        self, snapshots: Mapping[str, Snapshot], after: int | None, closed: int, limit: int
    ) -> NDArray[np.int64]:
        """The next ticks after `after` up to `closed`, rising, at most `limit` of them.

        Far behind the newest row, only the rows of some ticks are looked at.
        """
        begin = oldest_time(snapshots) if after is None else after + 1
        if not self._sample.realtime or self._kind != "seconds" or begin is None:
            return self._between(snapshots, after, closed)[:limit]
        span = limit
        while begin + span < closed:
            ticks = self._between(snapshots, after, begin + span)[:limit]
            if len(ticks):
                return ticks
            span *= 8
        return self._between(snapshots, after, closed)[:limit]

    def _between(
        self,
        snapshots: Mapping[str, Snapshot],
        after: int | None,
        closed: int,
        *,
        newest_only: bool = False,
    ) -> NDArray[np.int64]:
        """Ticks after `after` up to `closed`, rising; with `newest_only`, at least the last of them."""
        begin = oldest_time(snapshots) if after is None else after + 1
        if begin is None:
            return np.zeros(0, np.int64)
        if self._step is not None:
            start = -(-begin // self._step)
            end = closed // self._step
            if newest_only:
                start = max(start, end)
            return np.arange(start, min(end, start + MOST_TICKS) + 1, dtype=np.int64) * self._step
        moments = [
            _distinct_times(snapshot, begin, closed, newest_only=newest_only)
            for snapshot in snapshots.values()
        ]
        return np.unique(np.concatenate(moments))


def oldest_time(snapshots: Mapping[str, Snapshot]) -> int | None:
    """The oldest time that any of the tables holds: there are no ticks before it."""
    found = [one.oldest for one in snapshots.values() if one.oldest is not None]
    return min(found, default=None)


def kind_of_ticks(snapshots: Mapping[str, Snapshot]) -> str:
    """Whether ticks are seconds or timestamps, as the times of all tables are."""
    kinds = {snapshot.definition.time.kind for snapshot in snapshots.values()}
    if len(kinds) != 1:
        raise UserError("tables that count seconds and tables with timestamps have no ticks in common")
    return kinds.pop()


def closed_time(snapshots: Mapping[str, Snapshot]) -> int | None:
    """The time up to which no row can come any more to any of the tables."""
    closed = [snapshot.closed for snapshot in snapshots.values()]
    found = [moment for moment in closed if moment is not None]
    return min(found) if found and len(found) == len(closed) else None


def _distinct_times(snapshot: Snapshot, begin: int, end: int, *, newest_only: bool) -> NDArray[np.int64]:
    name = snapshot.definition.time.name
    if newest_only:
        rows = snapshot.last_rows(1, [], [name], as_of=end)
    else:
        rows = snapshot.scan([name], time_from=begin, time_to=end, keep_expired=True)
    times = np.unique(as_times(rows.column(name)))
    return times[(times >= begin) & (times <= end)]
