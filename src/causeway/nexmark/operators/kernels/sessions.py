"""Sessions: a user's events with no pause that is too long.

State: the sessions that the watermark has not ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

import numpy as np
import pyarrow as pa

from causeway.nexmark.operators.kernels import Kernel, Longs, State, Watermark, longs, put, together
from causeway.nexmark.operators.kernels.groups import groups_of
from causeway.runtime.compiled import kernel

__all__ = ["USER", "Sessions"]

USER: Final = "user"
"""The column of combined events by which they are dealt to shards."""

_COLUMNS: Final = (USER, "start", "last", "events")


class Sessions(Kernel):
    """Gives each session when it has ended: the user, its first event, its end, how many events it had.

    A session ends a pause after its last event; an event at that very moment still belongs to it.
    """

    stream: ClassVar[str]
    user: ClassVar[str]
    when: ClassVar[str]
    pause: ClassVar[int]
    """Milliseconds."""

    def late_from(self, stream: str, events: pa.Table) -> Longs | None:
        """An event counts until the session ends that it would be alone."""
        end: Longs = longs(events, self.when) + self.pause
        return end

    def combine(self, stream: str, events: pa.Table) -> pa.Table:
        """The sessions of the slice alone. Its edges may cut them."""
        times = longs(events, self.when)
        return self._joined(longs(events, self.user), times, times, np.ones(events.num_rows, np.int64))

    def step(self, events: Mapping[str, pa.Table], watermark: Watermark, state: State) -> pa.Table:
        """Join sessions with those that are open, and answer with those that have ended."""
        some = together(state.get("sessions"), events.get(self.stream))
        if some is None:
            return self.answer.empty_table()
        sessions = self._joined(*(longs(some, name) for name in _COLUMNS))
        user, start, last, count = (longs(sessions, name) for name in _COLUMNS)
        # An event at the watermark may still come.
        open_ = last + self.pause >= watermark.now
        put(state, "sessions", sessions.filter(pa.array(open_)))
        ended = ~open_
        columns = [user[ended], count[ended], start[ended], last[ended] + self.pause]
        return pa.table(columns, names=self.answer.names).cast(self.answer)

    def _joined(self, user: Longs, start: Longs, last: Longs, count: Longs) -> pa.Table:
        """Sessions of which none can be joined with another, from any that overlap."""
        if len(start) and (start[1:] < start[:-1]).any():
            order = np.argsort(start, kind="stable")
            user, start, last, count = user[order], start[order], last[order], count[order]
        users, place = groups_of(user)
        return pa.table(
            _join(users, place, start, last, count, self.pause),
            names=list(_COLUMNS),
        )


@kernel
def _join(
    users: Longs, place: Longs, start: Longs, last: Longs, count: Longs, pause: int
) -> tuple[Longs, Longs, Longs, Longs]:
    """Join sessions that come in the order of their starts; `place` is that of the user in `users`."""
    current = np.full(len(users), -1, np.int64)
    owner = np.empty(len(start), np.int64)
    first = np.empty(len(start), np.int64)
    newest = np.empty(len(start), np.int64)
    events = np.zeros(len(start), np.int64)
    found = 0
    for row in range(len(start)):
        which = current[place[row]]
        if which >= 0 and start[row] <= newest[which] + pause:
            newest[which] = max(newest[which], last[row])
        else:
            which = found
            found += 1
            current[place[row]] = which
            owner[which] = users[place[row]]
            first[which] = start[row]
            newest[which] = last[row]
        events[which] += count[row]
    return owner[:found], first[:found], newest[:found], events[:found]
