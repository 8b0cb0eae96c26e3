"""Monitor new users: who registered and opened an auction in the same ten seconds, once for each person.

Streaming SQL can say it, as two aggregations and a join, but slowly: see docs/nexmark.md. State: persons and
sellers of windows that the watermark has not passed.
"""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import pyarrow as pa

from causeway.nexmark.operators.kernels import (
    Flags,
    Kernel,
    Longs,
    State,
    Watermark,
    longs,
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

    def step(self, given: Mapping[str, pa.Table], watermark: Watermark, state: State) -> pa.Table:
        """Find the person of each auction among those of the same window."""
        came = {stream: self._in_time(stream, rows, watermark, state) for stream, rows in given.items()}
        persons = together(state.get("persons"), came.get("person"))
        auctions = together(state.get("auctions"), came.get("auction"))
        answers = self.answer.empty_table()
        if persons is not None and auctions is not None:
            ids = longs(persons, "id")
            order = np.argsort(ids, kind="stable")
            sought = longs(auctions, "seller")
            at = order[np.minimum(np.searchsorted(ids[order], sought), len(ids) - 1)]
            met = (ids[at] == sought) & (_window(persons)[at] == _window(auctions))
            pairs = np.flatnonzero(met)
            if not self._each:
                pairs = pairs[np.unique(at[pairs], return_index=True)[1]]
                told = np.zeros(len(ids), bool)
                told[at[met]] = True
                found, persons = persons.take(at[pairs]), persons.filter(pa.array(~told))
            else:
                found = persons.take(at[pairs])
            answers = _answers(found, auctions.take(pairs)).cast(self.answer)
            auctions = auctions.filter(pa.array(~met))
        for name, rows in (("persons", persons), ("auctions", auctions)):
            put(state, name, None if rows is None else rows.filter(pa.array(~_ended(rows, watermark.now))))
        return answers

    @staticmethod
    def _in_time(stream: str, rows: pa.Table, watermark: Watermark, state: State) -> pa.Table:
        late = _ended(rows, watermark.before)
        state.set_aside(stream, rows.filter(pa.array(late)))
        return rows.filter(pa.array(~late))


def _window(rows: pa.Table) -> Longs:
    window: Longs = longs(rows, "dateTime") // WINDOW
    return window


def _ended(rows: pa.Table, watermark: int) -> Flags:
    ended: Flags = (_window(rows) + 1) * WINDOW <= watermark
    return ended


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
