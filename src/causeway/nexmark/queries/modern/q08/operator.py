"""Monitor new users: who registered and opened an auction in the same ten seconds, once for each person.

Streaming SQL can say it, as two aggregations and a join, but slowly: see docs/nexmark.md. State: persons and
sellers of windows that the watermark has not passed.
"""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import pyarrow as pa

from causeway.nexmark.operators.kernels import (
    Kernel,
    Longs,
    State,
    Watermark,
    longs,
    place_of,
    put,
    text,
    time,
    together,
)

WINDOW = 10_000


class NewUsers(Kernel):
    """A person and its auctions are in one shard."""

    reads: ClassVar = {"person": ["id", "name", "dateTime"], "auction": ["seller", "reserve", "dateTime"]}
    key: ClassVar[Mapping[str, str] | None] = {"person": "id", "auction": "seller"}
    answer = pa.schema([("id", pa.int64()), ("name", text), ("starttime", time), ("reserve", pa.int64())])

    def __init__(self, each_auction: bool = False) -> None:
        """With `each_auction`, a person is an answer once for every auction."""
        self._each = each_auction

    def late_from(self, stream: str, events: pa.Table) -> Longs | None:
        """Both count until their window ends."""
        return _end(events)

    def step(self, events: Mapping[str, pa.Table], watermark: Watermark, state: State) -> pa.Table:
        """Find the person of each auction among those of the same window."""
        persons = together(state.get("persons"), events.get("person"))
        auctions = together(state.get("auctions"), events.get("auction"))
        answers = self.answer.empty_table()
        if persons is not None and auctions is not None:
            at, known = place_of(longs(persons, "id"), longs(auctions, "seller"))
            met = known & (_window(persons)[at] == _window(auctions))
            pairs = np.flatnonzero(met)
            if not self._each:
                pairs = pairs[np.unique(at[pairs], return_index=True)[1]]
                answered = np.zeros(persons.num_rows, bool)
                answered[at[met]] = True
                found, persons = persons.take(at[pairs]), persons.filter(pa.array(~answered))
            else:
                found = persons.take(at[pairs])
            answers = _answers(found, auctions.take(pairs)).cast(self.answer)
            auctions = auctions.filter(pa.array(~met))
        for name, rows in (("persons", persons), ("auctions", auctions)):
            put(state, name, None if rows is None else rows.filter(pa.array(_end(rows) > watermark.now)))
        return answers


def _window(rows: pa.Table) -> Longs:
    window: Longs = longs(rows, "dateTime") // WINDOW
    return window


def _end(rows: pa.Table) -> Longs:
    end: Longs = (_window(rows) + 1) * WINDOW
    return end


def _answers(persons: pa.Table, auctions: pa.Table) -> pa.Table:
    start = pa.array(_window(persons) * WINDOW)
    columns = [persons.column("id"), persons.column("name"), start, auctions.column("reserve")]
    return pa.table(columns, names=["id", "name", "starttime", "reserve"])


KERNEL = NewUsers
RULES = {"ours": {}, "beam": {"each_auction": True}}
FINAL = {
    "ours": "SELECT id, name, starttime FROM answer",
    "beam": "SELECT id, name, reserve FROM answer",
}
