"""Stateful queries as arrays in, arrays out: each kernel is one shard's part of a query, and knows no Spark.

A kernel gets the events of some slices at once, all events of a key in the same shard, and the tables of its
state. Time is the watermark: no older event will come. Late events are kept elsewhere before a kernel sees
them (`late_from`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = [
    "END_OF_TIME",
    "Flags",
    "Kernel",
    "Longs",
    "State",
    "Watermark",
    "best_of_each",
    "longs",
    "place_of",
    "put",
    "rows_where",
    "split_late",
    "text",
    "time",
    "together",
]

Longs = NDArray[np.int64]
Flags = NDArray[np.bool_]

END_OF_TIME: Final = 253_370_764_800_000
"""Milliseconds of the year 9999: the watermark when the streams have ended."""

text: Final = pa.string()
time: Final = pa.timestamp("ms", tz="UTC")


@dataclass(frozen=True)
class Watermark:
    """How far event time has got, in milliseconds."""

    before: int
    """What held for all slices before these: older events are late."""
    now: int
    """What holds after these slices: everything before it is complete."""


class State(Protocol):
    """What a shard keeps from batch to batch: tables by name. Only requested tables are read."""

    def get(self, name: str) -> pa.Table | None: ...

    def put(self, name: str, table: pa.Table) -> None: ...

    def remove(self, name: str) -> None: ...

    def keep_late(self, stream: str, late: pa.Table) -> None:
        """Keep late events, with the stream's own column names, where the user finds them."""


class Kernel(ABC):
    """A stateful query, made anew for every batch from its name and plain values: it knows only its state."""

    reads: ClassVar[Mapping[str, Sequence[str]]]
    """The columns that it needs of each stream."""
    key: ClassVar[Mapping[str, str] | None]
    """The column by which each stream is dealt to the shards; `None` where one shard must see everything.

    The reading of events and `combine` are many tasks' work in any case.
    """
    answer: pa.Schema

    @property
    def dealt_by(self) -> Mapping[str, str] | None:
        """`key`, unless a rule needs one shard."""
        return self.key

    def late_from(self, stream: str, events: pa.Table) -> Longs | None:
        """The watermark from which on each event is late; `None`: events of this stream never are.

        Evaluated where events are read. An event whose value is not above the watermark of the batches before
        is late: it is counted and kept as it is, and never reaches `combine` and `step`.
        """
        return None

    def combine(self, stream: str, events: pa.Table) -> pa.Table:
        """What a shard needs to know of a slice's events of a stream."""
        return events

    def combine_all(self, events: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
        """`combine` for all streams; called where events are read, before they travel to the shards."""
        return {stream: self.combine(stream, rows) for stream, rows in events.items()}

    @abstractmethod
    def step(self, events: Mapping[str, pa.Table], watermark: Watermark, state: State) -> pa.Table:
        """Take in the new events of each stream; returns answers, and changes the state."""


def split_late(events: pa.Table, late_from: Longs | None, watermark: int) -> tuple[pa.Table, pa.Table | None]:
    """Events in time, and late ones if there are any, by the watermark of the batches before."""
    if late_from is None:
        return events, None
    late = late_from <= watermark
    if not late.any():
        return events, None
    return events.filter(pa.array(~late)), events.filter(pa.array(late))


def longs(table: pa.Table, name: str) -> Longs:
    """A column of whole numbers or times, without a copy where there is one piece."""
    column = table.column(name)
    if not pa.types.is_int64(column.type):
        column = column.cast(pa.int64())
    if column.null_count:
        column = column.fill_null(0)
    found: Longs = column.to_numpy()
    return found


def best_of_each(rows: pa.Table, keys: Sequence[str], order: Sequence[tuple[str, int]]) -> pa.Table:
    """The first row of each key by `order`: columns of numbers, and 1 or -1 for up or down."""
    columns = [longs(rows, name) for name in keys]
    ranks = [sign * longs(rows, name) for name, sign in order]
    at = np.lexsort((*reversed(ranks), *reversed(columns)))
    first = np.zeros(len(at), bool)
    first[:1] = True
    for column in columns:
        first[1:] |= column[at][1:] != column[at][:-1]
    return rows.take(at[first])


def rows_where(rows: pa.Table, flags: Flags) -> pa.Table:
    """The rows with a flag; without a copy if all have one."""
    return rows if flags.all() else rows.filter(pa.array(flags))


def together(kept: pa.Table | None, new: pa.Table | None) -> pa.Table | None:
    """Rows of both, `None` if there are none."""
    tables = [table for table in (kept, new) if table is not None and table.num_rows]
    return pa.concat_tables(tables).combine_chunks() if tables else None


def put(state: State, name: str, table: pa.Table | None) -> None:
    """Keep rows, if there are any."""
    if table is not None and table.num_rows:
        state.put(name, table)
    else:
        state.remove(name)


def place_of(keys: Longs, sought: Longs) -> tuple[Longs, Flags]:
    """For each sought value a place in `keys` (unordered, each value once), and whether it is there at all.

    The place of a value that is not there is meaningless, but can be used as an index if `keys` has any.
    """
    if not len(keys):
        return np.zeros(len(sought), np.int64), np.zeros(len(sought), bool)
    order = np.argsort(keys, kind="stable")
    place = order[np.minimum(np.searchsorted(keys[order], sought), len(keys) - 1)]
    return place, keys[place] == sought
