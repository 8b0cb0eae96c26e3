"""Running means: of all closings of a category, and of a seller's last ten."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from causeway.nexmark.kernels import Longs, State, longs

__all__ = ["category_averages", "last_closings", "mean_of"]

_CHUNK = 4096


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


def last_closings(seller: Longs, price: Longs, most: int, state: State) -> tuple[Longs, Longs, Longs]:
    """Add closings, in their order; returns for each the seller, and the sum and count of its last `most`.

    Sellers are kept in chunks of neighbours: only those who sold are read and written.
    """
    totals, counts = np.zeros(len(seller), np.int64), np.zeros(len(seller), np.int64)
    for chunk in np.unique(seller // _CHUNK).tolist():
        name = f"sellers {chunk}"
        which = np.flatnonzero(seller // _CHUNK == chunk)
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
        start = np.maximum(first, place - most + 1)
        before = np.r_[0, np.cumsum(prices)]
        back = np.empty(len(order), np.int64)
        back[order] = place
        mine = back[new]
        totals[which], counts[which] = before[mine + 1] - before[start[mine]], (place - start + 1)[mine]
        last = place >= first + np.repeat(sizes, sizes) - most
        state.put(name, pa.table([sellers[last], prices[last]], names=["seller", "price"]))
    return seller, totals, counts
