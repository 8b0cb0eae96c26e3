"""Procedure: account balances (type 2).

A toll is quoted when a vehicle enters a segment, and charged when it drives on into the next one. So both the
quote and the balance are running state of each vehicle. As SQL, the quote is the newest row of CROSSINGS of
each vehicle and road, and the balance a sum over all of them since the beginning: a window of rows holds
every vehicle that ever drove, and would be read again at every tick. Here a crossing costs one look-up in
each of two tables.

The state is a fold over CROSSINGS in the order of time. It is kept nowhere else: after a restart the rows
that were followed before are followed again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from causeway.linear_road.model.array_types import I32, I64
from causeway.linear_road.model.expressway import EXIT_LANE
from causeway.linear_road.pipeline.vehicles import Accounts, account_of, key_of
from causeway.runtime.compiled import kernel
from causeway.streaming.cells import Arrays

__all__ = ["Balances"]


class Balances:
    """What each vehicle was quoted last on each road, and has been charged on all of them."""

    def __init__(self) -> None:
        self._quotes = Accounts()
        self._accounts = Accounts()

    def follow(self, crossings: Arrays, request_time: I64, request_vid: I32) -> I64:
        """Follow rows of CROSSINGS in the order of time; returns the balances that are requested meanwhile.

        `crossings` has the view's columns. A request gets the balance of the second before it, which does not
        depend on the order of tuples within a second.
        """
        balance = np.zeros(len(request_time), np.int64)
        count = len(crossings["T"])
        self._quotes.make_room(count)
        self._accounts.make_room(count)
        _follow(
            crossings["T"],
            crossings["VID"],
            2 * crossings["XWAY"] + crossings["DIR"],
            crossings["LANE"],
            crossings["LEAVES"],
            crossings["TOLL"],
            self._quotes.vids,
            self._quotes.balances,
            self._quotes.count,
            self._accounts.vids,
            self._accounts.balances,
            self._accounts.count,
            request_time,
            request_vid,
            balance,
        )
        return balance


@kernel
def _follow(
    time: I64,
    vid: I32,
    road: I32,
    lane: I32,
    leaves: NDArray[np.bool_],
    toll: I32,
    quote_keys: I64,
    quotes: I64,
    quote_count: I64,
    account_vids: I64,
    balances: I64,
    account_count: I64,
    request_time: I64,
    request_vid: I32,
    request_balance: I64,
) -> None:
    requests = 0
    for i in range(len(time)):
        while requests < len(request_time) and request_time[requests] <= time[i]:
            account = account_of(request_vid[requests], account_vids)
            request_balance[requests] = balances[account] if account_vids[account] >= 0 else 0
            requests += 1
        key = key_of(vid[i], road[i])
        place = account_of(key, quote_keys)
        if quote_keys[place] < 0:
            quote_keys[place] = key
            quotes[place] = 0
            quote_count[0] += 1
        if leaves[i] and quotes[place] > 0:
            account = account_of(vid[i], account_vids)
            if account_vids[account] < 0:
                account_vids[account] = vid[i]
                balances[account] = 0
                account_count[0] += 1
            balances[account] += quotes[place]
        quotes[place] = 0 if lane[i] == EXIT_LANE else toll[i]
    while requests < len(request_time):
        account = account_of(request_vid[requests], account_vids)
        request_balance[requests] = balances[account] if account_vids[account] >= 0 else 0
        requests += 1
