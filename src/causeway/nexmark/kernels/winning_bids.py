"""Winning bids: the best bid of every auction, when the auction closes.

State: the auctions that are open, the best bid of each so far, and bids whose auction has not come yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import pyarrow as pa

from causeway.nexmark.kernels import (
    Flags,
    Kernel,
    Longs,
    State,
    Watermark,
    best_of_each,
    longs,
    put,
    together,
)
from causeway.nexmark.slices import ARRIVAL

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

    def __init__(self, reserve: bool = True, from_opening: bool = True, until: str = "before") -> None:
        """The rule: whether the reserve must be met, and whether a bid must not come before the opening.

        It comes before the moment of closing (`until` is "before"), or at the latest "at" it.
        """
        self._reserve = reserve
        self._from_opening = from_opening
        self._last = 0 if until == "before" else 1

    def step(self, given: Mapping[str, pa.Table], watermark: Watermark, state: State) -> pa.Table:
        """Take in auctions and bids, and close what the watermark has passed."""
        opened = _renamed(given.get(self.auctions), self.auction_columns)
        bids = _renamed(given.get("bid"), self.bid_columns)
        auctions = together(state.get("auctions"), opened)
        best = state.get("best")
        bids = together(state.get("waiting"), bids)
        if auctions is None:
            if bids is not None:
                self._keep_waiting(bids, np.ones(bids.num_rows, bool), _newest(state), watermark, state)
            return self.answer.empty_table()
        ids = longs(auctions, "id")
        order = np.argsort(ids, kind="stable")
        auctions, ids = auctions.take(order), ids[order]
        if bids is not None:
            owner = longs(bids, "auction")
            at = np.minimum(np.searchsorted(ids, owner), len(ids) - 1)
            known = ids[at] == owner
            self._keep_waiting(bids, ~known, max(_newest(state), int(ids[-1])), watermark, state)
            good = np.flatnonzero(known)
            good = good[self._qualifies(auctions, at[good], bids, good)]
            # Almost all bids fall here, before any of their text is moved.
            price, top = longs(bids, "price")[good], np.full(len(ids), -(1 << 62))
            np.maximum.at(top, at[good], price)
            best = together(best, bids.take(good[price == top[at[good]]]))
            best = None if best is None else best_of_each(best, ("auction",), _BEST_FIRST)
        closed = self.closed(auctions, given, watermark, state)
        if best is None or not best.num_rows:
            answers = None
        else:
            owner = np.searchsorted(ids, longs(best, "auction"))
            won = closed[owner]
            answers = _side_by_side(auctions.take(owner[won]), best.take(np.flatnonzero(won)))
            best = best.take(np.flatnonzero(~won))
        if not self._from_opening:
            state.put("newest", pa.table({"id": [max(_newest(state), int(ids[-1]))]}))
        put(state, "auctions", auctions.take(np.flatnonzero(~closed)))
        put(state, "best", best)
        if answers is None:
            return self.answer.empty_table()
        by_closing = np.lexsort((longs(answers, "id"), longs(answers, "closes")))
        return self.answers(answers.take(by_closing), state).cast(self.answer)

    def closed(
        self, auctions: pa.Table, given: Mapping[str, pa.Table], watermark: Watermark, state: State
    ) -> Flags:
        """Which auctions are over, so that no bid of theirs is still to come."""
        over: Flags = longs(auctions, "closes") + self._last <= watermark.now
        return over

    def answers(self, won: pa.Table, state: State) -> pa.Table:
        """The query's answers, from closed auctions with their winning bids, in order of closing."""
        return won.select(self.answer.names)

    def _qualifies(self, auctions: pa.Table, at: Longs, bids: pa.Table, which: Longs) -> Flags:
        when = longs(bids, "time")[which]
        good: Flags = when < longs(auctions, "closes")[at] + self._last
        if self._from_opening:
            good &= when >= longs(auctions, "opened")[at]
        if self._reserve:
            good &= longs(bids, "price")[which] >= longs(auctions, "reserve")[at]
        return good

    def _keep_waiting(
        self, bids: pa.Table, unknown: Flags, newest: int, watermark: Watermark, state: State
    ) -> None:
        """Keep bids of auctions that may still come: one that had opened before the watermark would be here.

        Where bids may come before their auction opens, those wait whose auction is newer than all that came.
        """
        may_come = longs(bids, "time") >= watermark.now
        if not self._from_opening:
            may_come |= longs(bids, "auction") > newest
        put(state, "waiting", bids.take(np.flatnonzero(unknown & may_come)))
        too_late = unknown & ~may_come & (longs(bids, "time") < watermark.before)
        state.set_aside("bid", bids.take(np.flatnonzero(too_late)))


_BEST_FIRST = (("price", -1), ("time", 1), ("bidder", 1), (ARRIVAL, 1))
"""The highest, the earliest of equals; what is left is for the sake of one answer."""


def _renamed(table: pa.Table | None, names: Mapping[str, str]) -> pa.Table | None:
    if table is None:
        return None
    return table.select([*names.values(), ARRIVAL]).rename_columns([*names, ARRIVAL])


def _newest(state: State) -> int:
    kept = state.get("newest")
    return -1 if kept is None else int(kept.column("id")[0].as_py())


def _side_by_side(auctions: pa.Table, bids: pa.Table) -> pa.Table:
    columns = {name: auctions.column(name) for name in auctions.column_names if name != ARRIVAL}
    columns |= {f"bid_{name}": bids.column(name) for name in bids.column_names if name != ARRIVAL}
    return pa.table(columns)
