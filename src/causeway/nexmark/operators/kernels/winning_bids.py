"""Winning bids: the best bid of every auction, when the auction closes.

State: the auctions that are open, the best bid of each so far, and bids whose auction has not come yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import pyarrow as pa

from causeway.nexmark.model import ARRIVAL
from causeway.nexmark.operators.kernels import (
    END_OF_TIME,
    Flags,
    Kernel,
    Longs,
    State,
    Watermark,
    best_of_each,
    longs,
    place_of,
    put,
    together,
)

__all__ = ["WinningBids"]


class WinningBids(Kernel):
    """Gives an auction's columns and its winning bid's, as `bid_…`, when the auction has closed.

    An auction without a winning bid gives nothing. Subclasses name the columns; the auction's are called
    `id`, `opened`, `closes` and `reserve` here, the bid's `auction`, `bidder`, `price` and `time`.
    """

    auctions: ClassVar[str] = "auction"
    auction_columns: ClassVar[Mapping[str, str]]
    """What is needed of an auction: our name, and the stream's."""
    bid_columns: ClassVar[Mapping[str, str]]

    def __init__(
        self, reserve: bool = True, until: str = "before", in_turn: bool = False, equals: str = "bidder"
    ) -> None:
        """The rule: whether the reserve must be met, when a bid is too late, and which of equal bids wins.

        It comes before the moment of closing (`until` is "before"), or at the latest "at" it. With `in_turn`,
        which is Beam's simulator's, it counts as long as the auction or bid just before it, in the order of
        time, came before the closing; and it may come before the opening. Of the same price and time, the
        bid of the lower "bidder" wins, or the first by "arrival".
        """
        self._reserve = reserve
        self._last = 0 if until == "before" else 1
        self._in_turn = in_turn
        self._best_first = (("price", -1), ("time", 1), *_EQUALS[equals])

    @property
    def dealt_by(self) -> Mapping[str, str] | None:
        """Only a shard that sees everything knows the predecessor of a bid."""
        return None if self._in_turn else self.key

    def late_from(self, stream: str, events: pa.Table) -> Longs | None:
        """An auction counts until the watermark has passed its opening: no earlier bid waits for it then.

        A bid counts while its auction is open, which only the shard knows (see `_keep_waiting`); where turns
        count, until the watermark reaches it.
        """
        if stream == self.auctions:
            return longs(events, self.auction_columns["opened"]) + 1
        return longs(events, self.bid_columns["time"]) + 1 if self._in_turn else None

    def step(self, events: Mapping[str, pa.Table], watermark: Watermark, state: State) -> pa.Table:
        """Take in auctions and bids, and close what the watermark has passed."""
        opened = _renamed(events.get(self.auctions), self.auction_columns)
        bids = _renamed(events.get("bid"), self.bid_columns)
        if self._in_turn:
            opened, bids = _in_turn(opened, bids, watermark, state)
        auctions = together(state.get("auctions"), opened)
        best = state.get("best")
        bids = together(state.get("waiting"), bids)
        if auctions is None:
            if bids is not None:
                self._keep_waiting(bids, np.ones(bids.num_rows, bool), watermark, state)
            return self.answer.empty_table()
        ids = longs(auctions, "id")
        order = np.argsort(ids, kind="stable")
        auctions, ids = auctions.take(order), ids[order]
        if bids is not None:
            at, known = place_of(ids, longs(bids, "auction"))
            self._keep_waiting(bids, ~known, watermark, state)
            good = np.flatnonzero(known)
            good = good[self._qualifies(auctions, at[good], bids, good)]
            # Almost all bids fall here, before any of their text is moved.
            price, top = longs(bids, "price")[good], np.full(len(ids), -(1 << 62))
            np.maximum.at(top, at[good], price)
            best = together(best, bids.take(good[price == top[at[good]]]))
            best = None if best is None else best_of_each(best, ("auction",), self._best_first)
        closed = self.closed(auctions, watermark, state)
        if best is None or not best.num_rows:
            answers = None
        else:
            # A best bid is kept only as long as its auction is.
            owner = np.searchsorted(ids, longs(best, "auction"))
            won = closed[owner]
            answers = _side_by_side(auctions.take(owner[won]), best.take(np.flatnonzero(won)))
            best = best.take(np.flatnonzero(~won))
        if self._in_turn:
            put(state, "closed", together(state.get("closed"), pa.table({"id": ids[closed]})))
        put(state, "auctions", auctions.take(np.flatnonzero(~closed)))
        put(state, "best", best)
        if answers is None or not answers.num_rows:
            return self.answer.empty_table()
        by_closing = np.lexsort((longs(answers, "id"), longs(answers, "closes")))
        return self.answers(answers.take(by_closing), state).cast(self.answer)

    def closed(self, auctions: pa.Table, watermark: Watermark, state: State) -> Flags:
        """Which auctions are over, so that no bid of theirs is still to come."""
        now = watermark.now
        if self._in_turn and now < END_OF_TIME // 2:
            # One more may count, the first that comes after it.
            now = _last_turn(state)
        over: Flags = longs(auctions, "closes") + self._last <= now
        return over

    def answers(self, won: pa.Table, state: State) -> pa.Table:
        """The query's answers, from closed auctions with their winning bids, in order of closing."""
        return won.select(self.answer.names)

    def _qualifies(self, auctions: pa.Table, at: Longs, bids: pa.Table, which: Longs) -> Flags:
        when = longs(bids, "before" if self._in_turn else "time")[which]
        good: Flags = when < longs(auctions, "closes")[at] + self._last
        if not self._in_turn:
            good &= when >= longs(auctions, "opened")[at]
        if self._reserve:
            good &= longs(bids, "price")[which] >= longs(auctions, "reserve")[at]
        return good

    def _keep_waiting(self, bids: pa.Table, unknown: Flags, watermark: Watermark, state: State) -> None:
        """Keep bids of auctions that may still come: one that had opened before the watermark would be here.

        Where bids may come before the opening, they wait for any auction that has not been closed.
        """
        if self._in_turn:
            closed = state.get("closed")
            if closed is not None:
                unknown = unknown & ~np.isin(longs(bids, "auction"), longs(closed, "id"))
            put(state, "waiting", bids.take(np.flatnonzero(unknown)))
            return
        may_come = longs(bids, "time") >= watermark.now
        put(state, "waiting", bids.take(np.flatnonzero(unknown & may_come)))
        late = unknown & ~may_come & (longs(bids, "time") < watermark.before)
        if late.any():
            names = {**self.bid_columns, ARRIVAL: ARRIVAL}
            state.keep_late("bid", bids.filter(pa.array(late)).rename_columns(names))


_EQUALS = {"bidder": (("bidder", 1), (ARRIVAL, 1)), "arrival": ((ARRIVAL, 1),)}
"""How bids of the same price and time are told apart, so that there is one answer."""


def _renamed(table: pa.Table | None, names: Mapping[str, str]) -> pa.Table | None:
    if table is None:
        return None
    return table.select([*names.values(), ARRIVAL]).rename_columns([*names, ARRIVAL])


def _in_turn(
    opened: pa.Table | None, bids: pa.Table | None, watermark: Watermark, state: State
) -> tuple[pa.Table | None, pa.Table | None]:
    """Auctions and bids up to the watermark; a bid's `before` is the time of its predecessor.

    Those after the watermark are held back: something may still come between.
    """
    opened = together(state.get("auctions to come"), opened)
    bids = together(state.get("bids to come"), bids)
    ready = []
    for name, rows, column in (("auctions to come", opened, "opened"), ("bids to come", bids, "time")):
        there = np.zeros(0, bool) if rows is None else longs(rows, column) < watermark.now
        put(state, name, None if rows is None else rows.take(np.flatnonzero(~there)))
        ready.append(None if rows is None else rows.take(np.flatnonzero(there)))
    opened, bids = ready
    nothing = np.zeros(0, np.int64)
    times = [
        nothing if rows is None else longs(rows, column)
        for rows, column in ((opened, "opened"), (bids, "time"))
    ]
    arrivals = [nothing if rows is None else longs(rows, ARRIVAL) for rows in (opened, bids)]
    when = np.concatenate(times)
    if not len(when):
        return opened, bids
    order = np.lexsort((np.concatenate(arrivals), when))
    before = np.empty(len(when), np.int64)
    before[order] = np.r_[_last_turn(state), when[order][:-1]]
    state.put("last turn", pa.table({"time": [int(when.max())]}))
    if bids is not None:
        bids = bids.append_column("before", pa.array(before[len(times[0]) :]))
    return opened, bids


def _last_turn(state: State) -> int:
    kept = state.get("last turn")
    return -(1 << 62) if kept is None else int(kept.column("time")[0].as_py())


def _side_by_side(auctions: pa.Table, bids: pa.Table) -> pa.Table:
    columns = {name: auctions.column(name) for name in auctions.column_names if name != ARRIVAL}
    columns |= {
        f"bid_{name}": bids.column(name) for name in bids.column_names if name not in (ARRIVAL, "before")
    }
    return pa.table(columns)
