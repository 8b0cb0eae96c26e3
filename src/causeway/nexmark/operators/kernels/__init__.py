"""Stateful queries as arrays in, arrays out: each kernel is one shard's part of a query, and knows no Spark.

A kernel gets the events of some slices at once, all events of a key in the same shard, and tables that it
kept. Time is the watermark: no event that is older will come, but for late ones, which are set aside.
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
    "put",
    "sweep_chunks",
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
    """What a shard keeps from batch to batch: tables by name. Only those that are asked for are read."""

    def get(self, name: str) -> pa.Table | None: ...

    def put(self, name: str, table: pa.Table) -> None: ...

    def remove(self, name: str) -> None: ...

    def set_aside(self, stream: str, late: pa.Table) -> None:
        """Keep events that came too late where the user finds them."""


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

    def combine(self, stream: str, events: pa.Table) -> pa.Table:
        """What a shard needs to know of a slice's events; called where they are read, before they travel."""
        return events

    @abstractmethod
    def step(self, given: Mapping[str, pa.Table], watermark: Watermark, state: State) -> pa.Table:
        """Take in what came of each stream; returns answers, and changes the state."""


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


def sweep_chunks(state: State, touched: Mapping[str, int], watermark: Watermark) -> None:
    """Note until when (of the watermark) `touched` chunks are needed; take away what no longer is."""
    kept = state.get("chunks")
    ends = {} if kept is None else dict(zip(*kept.to_pydict().values(), strict=True))
    ends |= touched
    for name in [name for name, end in ends.items() if end <= watermark.now]:
        state.remove(name)
        del ends[name]
    put(state, "chunks", pa.table([list(ends), list(ends.values())], names=["name", "until"]))
