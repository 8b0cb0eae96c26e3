"""Statistics of each auction's day: how many bids, by rank of the price, and their prices.

State: the auctions of days that the watermark has not passed, in chunks of neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

import numpy as np
import pyarrow as pa

from causeway.nexmark.operators.kernels import Kernel, Longs, State, Watermark, longs, text
from causeway.nexmark.operators.kernels.averages import mean_of
from causeway.nexmark.operators.kernels.chunks import Chunks, chunks_of, runs_of
from causeway.nexmark.operators.kernels.groups import groups_of
from causeway.runtime.compiled import kernel

__all__ = ["AuctionDays"]

_DAY: Final = 86_400_000
_CHUNK: Final = 4096
_RANK_2, _RANK_3 = 10_000, 1_000_000
_COUNTED: Final = ("total_bids", "rank1_bids", "rank2_bids", "rank3_bids")
_FIGURES: Final = (*_COUNTED, "min_price", "max_price", "sum_price")


class AuctionDays(Kernel):
    """Gives an auction's statistics of the day whenever they change: an update of the answer."""

    reads: ClassVar = {"bid": ["auction", "price", "dateTime"]}
    key: ClassVar[Mapping[str, str] | None] = {"bid": "auction"}

    def __init__(self, mean: str = "exact") -> None:
        """The `mean` is exact, or cut to a whole number."""
        self._mean = mean
        price = pa.float64() if mean == "exact" else pa.int64()
        figures = {name: pa.int64() for name in (*_COUNTED, "min_price", "max_price")}
        figures |= {"avg_price": price, "sum_price": pa.int64()}
        self.answer = pa.schema([("auction", pa.int64()), ("day", text), *figures.items()])

    def late_from(self, stream: str, events: pa.Table) -> Longs | None:
        """A bid counts until its day ends."""
        end: Longs = (longs(events, "dateTime") // _DAY + 1) * _DAY
        return end

    def combine(self, stream: str, events: pa.Table) -> pa.Table:
        """The statistics of the slice alone."""
        price = longs(events, "price")
        low, high = price < _RANK_2, price >= _RANK_3
        figures = np.stack([np.ones_like(price), low, ~(low | high), high, price, price, price])
        auction, day = longs(events, "auction"), longs(events, "dateTime") // _DAY
        return _concatenated(
            [_day_table(number, *_summed(auction[at], figures[:, at])) for number, at in runs_of(day)]
        )

    def step(self, events: Mapping[str, pa.Table], watermark: Watermark, state: State) -> pa.Table:
        """Add new bids to what is kept, and answer for their auctions."""
        new = events.get("bid")
        found = []
        chunks = Chunks(state)
        if new is not None:
            for day, at in runs_of(longs(new, "day")):
                of_day = new.take(at)
                for number, rows in chunks_of(of_day, longs(of_day, "auction"), _CHUNK).items():
                    found.append(self._step_of_chunk(day, number, rows, chunks))
        chunks.finish(watermark)
        return pa.concat_tables(found) if found else self.answer.empty_table()

    def _step_of_chunk(self, day: int, number: int, rows: pa.Table, chunks: Chunks) -> pa.Table:
        name = f"{day} {number}"
        kept = chunks.get(name)
        together = rows if kept is None else pa.concat_tables([kept, rows])
        auction, figures = _summed(
            longs(together, "auction"), np.stack([longs(together, figure) for figure in _FIGURES])
        )
        chunks.put(name, _day_table(day, auction, figures), (day + 1) * _DAY)
        changed = np.isin(auction, longs(rows, "auction"))
        columns: dict[str, object] = dict(zip(_FIGURES, figures[:, changed], strict=True))
        columns["auction"] = auction[changed]
        columns["day"] = pa.array([str(np.datetime64(day, "D"))] * int(changed.sum()), text)
        total, count = figures[_FIGURES.index("sum_price"), changed], figures[0, changed]
        columns["avg_price"] = mean_of(total, count, self._mean)
        return pa.table([columns[name] for name in self.answer.names], names=self.answer.names).cast(
            self.answer
        )


def _day_table(day: int, auction: Longs, figures: Longs) -> pa.Table:
    return pa.table([np.full(len(auction), day), auction, *figures], names=["day", "auction", *_FIGURES])


def _concatenated(tables: list[pa.Table]) -> pa.Table:
    if tables:
        return pa.concat_tables(tables)
    nothing = np.zeros(0, np.int64)
    return _day_table(0, nothing, np.zeros((len(_FIGURES), 0), np.int64))


def _summed(auction: Longs, figures: Longs) -> tuple[Longs, Longs]:
    """The auctions in order, with the figures of all their rows."""
    auctions, place = groups_of(auction)
    return auctions, _add(place, figures, len(auctions))


@kernel
def _add(place: Longs, figures: Longs, groups: int) -> Longs:
    """Figures of groups: four counts, the least, the most, and the sum."""
    found = np.zeros((7, groups), np.int64)
    for row in range(len(place)):
        group = place[row]
        first = found[0, group] == 0
        for figure in (0, 1, 2, 3, 6):
            found[figure, group] += figures[figure, row]
        if first or figures[4, row] < found[4, group]:
            found[4, group] = figures[4, row]
        if first or figures[5, row] > found[5, group]:
            found[5, group] = figures[5, row]
    return found
