"""Statistics of a day's bids: how many, of how many bidders, on how many auctions, by rank of the price.

State: the counts of days that have not ended, and who has been counted: bidders and auctions, in chunks of
neighbouring identifiers, so that a batch reads and writes only those that bid or are bid for now.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import ClassVar, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from causeway.nexmark.operators.kernels import Kernel, Longs, State, Watermark, longs, put, text
from causeway.nexmark.operators.kernels.chunks import runs_of
from causeway.nexmark.operators.kernels.groups import groups_of

__all__ = ["BidStatistics", "ChannelStatistics"]

_DAY: Final = 86_400_000
_MINUTE: Final = 60_000
_CHUNK: Final = 4096
_RANK_2, _RANK_3 = 10_000, 1_000_000
_RANKS: Final = (1, 2, 3)
_KINDS: Final = ("bids", "bidders", "auctions")
_COMBINED: Final = ("day", "kind", "id", "bits", "bids")
"""The place of a kind, the bidder or the auction and a bit for each rank; or a rank's bit and its bids."""
_COUNTS: Final = [f"{which}_{kind}" for kind in _KINDS for which in ("total", "rank1", "rank2", "rank3")]


class BidStatistics(Kernel):
    """Gives a day's statistics whenever they change: an update of the answer."""

    reads: ClassVar = {"bid": ["auction", "bidder", "price", "dateTime"]}
    key: ClassVar[Mapping[str, str] | None] = None
    answer = pa.schema([("day", text), *((name, pa.int64()) for name in _COUNTS)])

    def late_from(self, stream: str, events: pa.Table) -> Longs | None:
        """A bid counts until its day ends."""
        end: Longs = (longs(events, "dateTime") // _DAY + 1) * _DAY
        return end

    def combine(self, stream: str, events: pa.Table) -> pa.Table:
        """How many bids of each rank a slice has, and each of its bidders and auctions once."""
        bits = _bit_of_rank(longs(events, "price"))
        parts = [np.zeros((len(_COMBINED), 0), np.int64)]
        for day, which in runs_of(longs(events, "dateTime") // _DAY):
            of_day = bits[which]
            counts = [(1 << (rank - 1), int((of_day == 1 << (rank - 1)).sum())) for rank in _RANKS]
            parts.append(np.array([(day, 0, bit, bit, bids) for bit, bids in counts if bids]).T)
            for place, kind in enumerate(("bidder", "auction"), 1):
                ids, group = groups_of(longs(events, kind)[which])
                seen = np.zeros((4, len(ids)), np.int64)
                for bit in (1, 2, 4):
                    seen[2, group[of_day == bit]] |= bit
                seen[0], seen[1] = place, ids
                parts.append(np.vstack([np.full(len(ids), day), seen]))
        return pa.table(list(np.hstack(parts)), names=list(_COMBINED))

    def step(self, events: Mapping[str, pa.Table], watermark: Watermark, state: State) -> pa.Table:
        """Count new bids."""
        bids = events.get("bid")
        if bids is None:
            return self.answer.empty_table()
        found = [self._day(day, bids.take(which), state) for day, which in runs_of(self.days(bids))]
        self._forget(state, watermark)
        return pa.concat_tables(found).cast(self.answer) if found else self.answer.empty_table()

    def days(self, bids: pa.Table) -> Longs:
        """The day of each row."""
        return longs(bids, "day")

    def counts(self, bids: pa.Table, group: Longs, size: int) -> tuple[Longs, Longs]:
        """The bids of each group, in all and by rank, and the minute of its last one."""
        found = np.zeros((size, 4), np.int64)
        for rank in _RANKS:
            of_rank = (longs(bids, "kind") == 0) & (longs(bids, "bits") == 1 << (rank - 1))
            found[:, rank] = longs(bids, "bids")[of_rank].sum()
        found[:, 0] = found.sum(axis=1)
        return found, np.full(size, -1)

    def seen(self, bids: pa.Table, group: Longs, place: int) -> tuple[Longs, Longs, Longs]:
        """Bidders or auctions, by the place of the kind: for each group and id the bits of its ranks."""
        of_kind = longs(bids, "kind") == place
        return group[of_kind], longs(bids, "id")[of_kind], longs(bids, "bits")[of_kind]

    def group(self, bids: pa.Table, state: State) -> tuple[Longs, pa.Table]:
        """The number of each bid's group, and what is known of all groups, by their numbers."""
        return np.zeros(bids.num_rows, np.int64), pa.table({"group": [0]})

    def describe(self, groups: pa.Table, counts: pa.Table) -> dict[str, pa.Array]:
        """The columns of an answer besides the day and the counts."""
        return {}

    def _day(self, day: int, bids: pa.Table, state: State) -> pa.Table:
        group, groups = self.group(bids, state)
        size = groups.num_rows
        new = np.zeros((size, 12), np.int64)
        new[:, :4], last = self.counts(bids, group, size)
        chunks: list[str] = []
        for place, kind in enumerate(("bidder", "auction"), 1):
            owners, ids, bits = self.seen(bids, group, place)
            for chunk, which in runs_of(ids // _CHUNK):
                name = f"{kind} {day} {chunk}"
                new[:, 4 * place : 4 * place + 4] += _first_seen(
                    state, name, owners[which], ids[which], bits[which], size
                )
                chunks.append(name)
        counts = _grown(state.get(f"counts {day}"), size)
        totals = np.stack([longs(counts, name) for name in _COUNTS], axis=1) + new
        last = np.maximum(last, longs(counts, "last"))
        counts = pa.table([*totals.T, last], names=[*_COUNTS, "last"])
        state.put(f"counts {day}", counts)
        _remember(state, day, [*chunks, f"counts {day}"])
        changed = np.flatnonzero(new[:, 0])
        counts, groups = counts.take(changed), groups.take(changed)
        name = str(np.datetime64(day, "D"))
        columns = {"day": pa.array([name] * len(changed), text)} | self.describe(groups, counts)
        columns |= {name: counts.column(name) for name in _COUNTS}
        return pa.table([columns[name] for name in self.answer.names], names=self.answer.names)

    @staticmethod
    def _forget(state: State, watermark: Watermark) -> None:
        """Days that have ended change no more."""
        kept = state.get("days")
        if kept is None:
            return
        for day in kept.column("day").to_pylist():
            if (day + 1) * _DAY <= watermark.now:
                names = state.get(f"names {day}")
                for name in [] if names is None else names.column("name").to_pylist():
                    state.remove(name)
                state.remove(f"names {day}")
        put(state, "days", kept.filter(pc.greater(kept.column("day"), watermark.now // _DAY - 1)))


class ChannelStatistics(BidStatistics):
    """The same for each channel, and the minute of its last bid. All bids of a channel are in one shard."""

    reads: ClassVar = {"bid": ["auction", "bidder", "price", "channel", "dateTime"]}
    key: ClassVar[Mapping[str, str] | None] = {"bid": "shard"}
    answer = pa.schema(
        [("channel", text), ("day", text), ("minute", text), *((name, pa.int64()) for name in _COUNTS)]
    )

    def combine(self, stream: str, events: pa.Table) -> pa.Table:
        """A number to deal channels by."""
        coded = events.column("channel").combine_chunks().dictionary_encode()
        numbers = np.array(
            [zlib.crc32((name or "").encode()) for name in coded.dictionary.to_pylist()], np.int64
        )
        shard = (
            numbers[coded.indices.fill_null(0).to_numpy(zero_copy_only=False)]
            if len(numbers)
            else np.zeros(events.num_rows, np.int64)
        )
        return events.append_column("shard", pa.array(shard))

    def days(self, bids: pa.Table) -> Longs:
        """Each row is a bid."""
        day: Longs = longs(bids, "dateTime") // _DAY
        return day

    def counts(self, bids: pa.Table, group: Longs, size: int) -> tuple[Longs, Longs]:
        """Of rows that are a bid each."""
        bits = _bit_of_rank(longs(bids, "price"))
        of_rank = [np.bincount(group[bits == 1 << (rank - 1)], minlength=size) for rank in _RANKS]
        last = np.full(size, -1)
        np.maximum.at(last, group, longs(bids, "dateTime") // _MINUTE)
        return np.stack([sum(of_rank), *of_rank], axis=1), last

    def seen(self, bids: pa.Table, group: Longs, place: int) -> tuple[Longs, Longs, Longs]:
        """Of rows that are a bid each."""
        ids = longs(bids, ("bidder", "auction")[place - 1])
        return group, ids, _bit_of_rank(longs(bids, "price"))

    def group(self, bids: pa.Table, state: State) -> tuple[Longs, pa.Table]:
        """Channels are numbered as they come."""
        kept = state.get("channels")
        known = pa.array([], text) if kept is None else kept.column("channel").combine_chunks()
        names = bids.column("channel").combine_chunks()
        new = pc.unique(names.filter(pc.invert(pc.is_in(names, known))))
        known = pa.concat_arrays([known, new])
        groups = pa.table({"channel": known})
        if len(new):
            state.put("channels", groups)
        return pc.index_in(names, known).cast(pa.int64()).to_numpy(), groups

    def describe(self, groups: pa.Table, counts: pa.Table) -> dict[str, pa.Array]:
        """The channel's name, and the minute of the day as HH:mm."""
        minute = longs(counts, "last") % (24 * 60)
        names = [f"{at // 60:02d}:{at % 60:02d}" for at in range(24 * 60)]
        return {
            "channel": groups.column("channel"),
            "minute": pa.array(names, text).take(pa.array(minute)),
        }


def _bit_of_rank(price: Longs) -> Longs:
    """1, 2 or 4: the bit of a price's rank."""
    bits: Longs = 1 << ((price >= _RANK_2).astype(np.int64) + (price >= _RANK_3))
    return bits


def _first_seen(state: State, name: str, group: Longs, ids: Longs, bits: Longs, size: int) -> Longs:
    """How many are counted for the first time, of each group: in all, and by rank. Remembers them."""
    kept = state.get(name)
    old = 0
    if kept is not None:
        old = kept.num_rows
        group = np.r_[longs(kept, "group"), group]
        ids = np.r_[longs(kept, "id"), ids]
        bits = np.r_[longs(kept, "bits"), bits]
    order = np.lexsort((ids, group))
    starts = np.flatnonzero(
        np.r_[True, (group[order][1:] != group[order][:-1]) | (ids[order][1:] != ids[order][:-1])]
    )
    before = np.where(np.arange(len(ids)) < old, bits, 0)[order]
    before, now = np.bitwise_or.reduceat(before, starts), np.bitwise_or.reduceat(bits[order], starts)
    group, ids = group[order][starts], ids[order][starts]
    state.put(name, pa.table([group, ids, now], names=["group", "id", "bits"]))
    first = np.zeros((size, 4), np.int64)
    first[:, 0] = np.bincount(group[before == 0], minlength=size)
    for rank in (1, 2, 3):
        bit = 1 << (rank - 1)
        first[:, rank] = np.bincount(group[(now & bit != 0) & (before & bit == 0)], minlength=size)
    return first


def _grown(counts: pa.Table | None, size: int) -> pa.Table:
    """Counts with a row for each group, zero for new ones."""
    there = 0 if counts is None else counts.num_rows
    new = pa.table(
        [np.zeros(size - there, np.int64)] * len(_COUNTS) + [np.full(size - there, -1)],
        names=[*_COUNTS, "last"],
    )
    return new if counts is None else pa.concat_tables([counts, new]).combine_chunks()


def _remember(state: State, day: int, names: list[str]) -> None:
    """Note what is kept of a day."""
    days, known = state.get("days"), state.get(f"names {day}")
    if days is None or day not in days.column("day").to_pylist():
        kept = [] if days is None else days.column("day").to_pylist()
        state.put("days", pa.table({"day": pa.array([*kept, day], pa.int64())}))
    before = [] if known is None else known.column("name").to_pylist()
    if not set(names) <= set(before):
        state.put(f"names {day}", pa.table({"name": sorted({*before, *names})}))
