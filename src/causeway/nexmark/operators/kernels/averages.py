"""Running means: of all closings of a category, and of a seller's last ten."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from causeway.nexmark.operators.kernels import Longs, State, longs, together
from causeway.nexmark.operators.kernels.chunks import runs_of

__all__ = ["category_averages", "last_bids", "last_closings", "mean_of", "window_averages"]

_CHUNK = 4096
_CLOSING = ["category", "closes", "price"]
_SALE = ["seller", "closes", "id", "bid", "price"]


def mean_of(total: Longs, count: Longs, how: str) -> NDArray[np.float64] | Longs:
    """A mean that is `exact`, `rounded` to the nearest whole number (half up), or `cut` to one."""
    if how == "exact":
        return total / count
    if how == "rounded":
        rounded: Longs = np.floor(total / count + 0.5).astype(np.int64)
        return rounded
    return total // count


def category_averages(category: Longs, price: Longs, state: State) -> tuple[Longs, Longs, Longs]:
    """Add closings to what is kept; returns the categories that changed, their sums and counts."""
    if not len(category):
        return category, category, category
    kept = state.get("categories")
    changed = np.unique(category)
    if kept is not None:
        category = np.r_[longs(kept, "category"), category]
        price = np.r_[longs(kept, "total"), price]
        count = np.r_[longs(kept, "count"), np.ones(len(category) - kept.num_rows, np.int64)]
    else:
        count = np.ones(len(category), np.int64)
    known, at = np.unique(category, return_inverse=True)
    total, counts = np.zeros(len(known), np.int64), np.zeros(len(known), np.int64)
    np.add.at(total, at, price)
    np.add.at(counts, at, count)
    state.put("categories", pa.table([known, total, counts], names=["category", "total", "count"]))
    which = np.searchsorted(known, changed)
    return changed, total[which], counts[which]


def last_closings(seller: Longs, price: Longs, limit: int, state: State) -> tuple[Longs, Longs, Longs]:
    """Add closings, in their order; returns for each the seller, and the sum and count of its last `limit`.

    Sellers are kept in chunks of neighbours: only those who sold are read and written.
    """
    totals, counts = np.zeros(len(seller), np.int64), np.zeros(len(seller), np.int64)
    for chunk, which in runs_of(seller // _CHUNK):
        name = f"sellers {chunk}"
        kept = state.get(name)
        sellers, prices = seller[which], price[which]
        new = np.arange(len(which))
        if kept is not None:
            sellers, prices = np.r_[longs(kept, "seller"), sellers], np.r_[longs(kept, "price"), prices]
            new = new + kept.num_rows
        order = np.argsort(sellers, kind="stable")
        sellers, prices = sellers[order], prices[order]
        begins = np.flatnonzero(np.r_[True, sellers[1:] != sellers[:-1]])
        sizes = np.diff(np.r_[begins, len(sellers)])
        first = np.repeat(begins, sizes)
        place = np.arange(len(sellers))
        start = np.maximum(first, place - limit + 1)
        before = np.r_[0, np.cumsum(prices)]
        back = np.empty(len(order), np.int64)
        back[order] = place
        mine = back[new]
        totals[which], counts[which] = before[mine + 1] - before[start[mine]], (place - start + 1)[mine]
        last = place >= first + np.repeat(sizes, sizes) - limit
        state.put(name, pa.table([sellers[last], prices[last]], names=["seller", "price"]))
    return seller, totals, counts


def window_averages(won: pa.Table, window: int, state: State) -> tuple[Longs, Longs, Longs]:
    """As `category_averages`, of closings since the last multiple of `window` milliseconds only.

    Beam's mean is over windows that begin with every multiple; what stands in the end is the last one.
    """
    new = pa.table([won.column(name) for name in ("category", "closes", "bid_price")], names=_CLOSING)
    kept = together(state.get("closings by category"), new)
    assert kept is not None
    category, closes, price = (longs(kept, name) for name in _CLOSING)
    known, at = np.unique(category, return_inverse=True)
    last = np.full(len(known), -(1 << 62))
    np.maximum.at(last, at, closes)
    recent = closes >= (last - last % window)[at]
    state.put("closings by category", kept.filter(pa.array(recent)))
    total, count = np.zeros(len(known), np.int64), np.zeros(len(known), np.int64)
    np.add.at(total, at[recent], price[recent])
    np.add.at(count, at[recent], 1)
    changed = np.isin(known, longs(won, "category"))
    return known[changed], total[changed], count[changed]


def last_bids(won: pa.Table, limit: int, but_the_last: bool, state: State) -> tuple[Longs, Longs, Longs]:
    """For each seller that sold the sum and count of the `limit` closings that were bid for last.

    With `but_the_last`, the last closing is one of them whenever it was bid for.
    """
    new = pa.table(
        [won.column(name) for name in ("seller", "closes", "id", "bid_time", "bid_price")], names=_SALE
    )
    kept = together(state.get("sales"), new)
    assert kept is not None
    seller, closes, item, bid, price = (longs(kept, name) for name in _SALE)
    order = np.lexsort((-item, -closes, seller))
    is_last = np.zeros(len(order), bool)
    is_last[order[_firsts(seller[order])]] = True
    # Of bids at the same time, that of the later closing; Flink's statement goes by the auction alone.
    ties = (-item, -closes) if but_the_last else (-item,)
    order = np.lexsort((*ties, -bid, ~is_last & but_the_last, seller))
    taken = np.zeros(len(order), bool)
    taken[order] = _places(seller[order]) < limit
    order = np.lexsort((*ties, -bid, seller))
    stays = np.zeros(len(order), bool)
    stays[order] = _places(seller[order]) < limit
    state.put("sales", kept.filter(pa.array(stays | taken)))
    known, at = np.unique(seller, return_inverse=True)
    total, count = np.zeros(len(known), np.int64), np.zeros(len(known), np.int64)
    np.add.at(total, at[taken], price[taken])
    np.add.at(count, at[taken], 1)
    changed = np.isin(known, longs(won, "seller"))
    return known[changed], total[changed], count[changed]


def _firsts(keys: Longs) -> Longs:
    """Where each key begins, in keys that are in order."""
    return np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]])


def _places(keys: Longs) -> Longs:
    """The place of each row among those of its key, from 0."""
    begins = _firsts(keys)
    return np.arange(len(keys)) - np.repeat(begins, np.diff(np.r_[begins, len(keys)]))
