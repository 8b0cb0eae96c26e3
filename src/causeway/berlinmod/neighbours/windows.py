"""All vehicles together, a window of time at a time: histories cut by the clock and dealt to tasks.

Files hold some vehicles for all time; a nearest neighbour needs all vehicles for some time. So a first stage
cuts each history at the borders of windows of some hours, and Spark brings those of a window together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from causeway.berlinmod.model.arrays import BOOL, F64, I64
from causeway.berlinmod.neighbours.intervals import INTERVALS, joined
from causeway.berlinmod.neighbours.slabs import Tracks
from causeway.berlinmod.scans.rows import Rows
from causeway.berlinmod.scans.source import Source
from causeway.moving_objects.conversions.binary import binary_array, flat_bytes
from causeway.runtime.compiled import kernel
from causeway.spark.collection import leave_little_to_collect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = [
    "WINDOW_MS",
    "Window",
    "by_window",
    "cut_rows",
    "histories",
    "interval_table",
    "periods_of",
    "spans_of",
    "united_spans",
]

WINDOW_MS: Final = 4 * 3_600_000
# The JVM copies bytes as they are; arrays it would take apart, which costs a hundred times as much.
_CUT_SCHEMA: Final = "window long, vehicle int, t binary, x binary, y binary"
_ALWAYS: Final = np.array([[-(2**60), 2**60]], np.int64)


class Window:
    """The vehicles of a window; `tracks` has seconds from its begin, in the order of `vehicle`."""

    def __init__(self, number: int, table: pa.Table) -> None:
        self.begin = number * WINDOW_MS
        order = np.argsort(table.column("vehicle").to_numpy(), kind="stable")
        table = table.take(pa.array(order)).combine_chunks()
        self.vehicle = table.column("vehicle").to_numpy()
        offsets, t = _numbers(table.column("t"), np.int64)
        _, x = _numbers(table.column("x"), np.float64)
        _, y = _numbers(table.column("y"), np.float64)
        self.tracks = Tracks(offsets, (t - self.begin) / 1000.0, x, y)

    def places(self, vehicles: Any) -> I64:
        """Where vehicles stand among the tracks; those that are not observed then are left out."""
        wanted = np.asarray(vehicles)
        found = np.searchsorted(self.vehicle, wanted)
        there = found < len(self.vehicle)
        there[there] = self.vehicle[found[there]] == wanted[there]
        return found[there].astype(np.int64)

    def spans(self, spans: I64) -> F64:
        """The parts of spans (ms) that are in the window, in its seconds."""
        clipped = np.clip(spans, self.begin, self.begin + WINDOW_MS)
        clipped = clipped[clipped[:, 0] < clipped[:, 1]]
        return (clipped - self.begin) / 1000.0


def _numbers(column: pa.ChunkedArray, kind: type) -> tuple[I64, Any]:
    """The numbers of all rows of a column of bytes, one after the other, and where each row begins."""
    binary = column.combine_chunks()
    offsets, data = flat_bytes(binary.chunk(0) if isinstance(binary, pa.ChunkedArray) else binary)
    # A copy is aligned, as kernels want it.
    return offsets // 8, data.view(kind).copy()


def histories(rows: Rows) -> tuple[Any, Tracks]:
    """Vehicles and their whole histories, in ms: in TBA the trips of a vehicle, one after the other."""
    starts = np.flatnonzero(np.concatenate([[True], rows.vehicle[1:] != rows.vehicle[:-1]]))
    # A trip begins where the one before ends; only one of the two instants stays.
    kept = np.ones(len(rows.t), np.bool_)
    inner = np.setdiff1d(np.arange(len(rows)), starts)
    kept[rows.offsets[inner]] = False
    before = np.concatenate([[0], np.cumsum(kept)])
    ends = np.concatenate([starts[1:], [len(rows)]])
    offsets = before[np.concatenate([rows.offsets[starts], [rows.offsets[ends[-1]]]])].astype(np.int64)
    tracks = Tracks(offsets, rows.t[kept].astype(np.float64), rows.x[kept], rows.y[kept])
    return rows.vehicle[starts], tracks


def periods_of(source: Source, relation: str) -> I64:
    """Begin and end of the periods of a relation."""
    periods = source.table(relation).column("Period").to_pylist()
    return np.array([(one["begin"], one["end"]) for one in periods], np.int64).reshape(-1, 2)


def united_spans(periods: I64) -> I64:
    """The times that are in any of the periods: disjoint, in order."""
    found: list[list[int]] = []
    for begin, end in sorted(map(tuple, periods.tolist())):
        if found and begin <= found[-1][1]:
            found[-1][1] = max(found[-1][1], end)
        else:
            found.append([begin, end])
    return np.array(found, np.int64).reshape(-1, 2)


def spans_of(source: Source, relation: str | None) -> I64:
    """The times that a query is about: of the periods of a relation, or all."""
    return _ALWAYS if relation is None else united_spans(periods_of(source, relation))


@kernel
def _cut(offsets: I64, t: F64, x: F64, y: F64, spans: I64, size: int) -> Any:
    """Pieces of the histories in the windows that a span touches: numbers, offsets of instants, instants."""
    window = np.empty(64, np.int64)
    owner = np.empty(64, np.int64)
    out_offsets = np.zeros(65, np.int64)
    out = np.empty((1024, 3))
    pieces = 0
    n = 0
    for v in range(len(offsets) - 1):
        first = offsets[v]
        last = offsets[v + 1] - 1
        u = first
        number = int(t[first] // size)
        s = 0
        while number * size < t[last]:
            begin = max(number * size, t[first])
            end = min((number + 1) * size, t[last])
            while s < len(spans) and spans[s, 1] <= begin:
                s += 1
            if s == len(spans):
                break
            if spans[s, 0] >= end:
                number = max(number + 1, int(spans[s, 0] // size))
                continue
            while t[u + 1] <= begin:
                u += 1
            if pieces == len(window):
                longer = np.empty(2 * pieces, np.int64)
                longer[:pieces] = window
                window = longer
                owners = np.empty(2 * pieces, np.int64)
                owners[:pieces] = owner
                owner = owners
                starts = np.zeros(2 * pieces + 1, np.int64)
                starts[: pieces + 1] = out_offsets
                out_offsets = starts
            window[pieces] = number
            owner[pieces] = v
            k = u
            now = begin
            while True:
                if n == len(out):
                    more = np.empty((2 * n, 3))
                    more[:n] = out
                    out = more
                part = (now - t[k]) / (t[k + 1] - t[k])
                out[n, 0] = now
                out[n, 1] = x[k] + part * (x[k + 1] - x[k])
                out[n, 2] = y[k] + part * (y[k + 1] - y[k])
                n += 1
                if now >= end:
                    break
                if t[k + 1] >= end:
                    now = end
                else:
                    k += 1
                    now = t[k]
            pieces += 1
            out_offsets[pieces] = n
            number += 1
    return window[:pieces], owner[:pieces], out_offsets[: pieces + 1], out[:n]


def cut_rows(rows: Rows, spans: I64) -> pa.Table:
    """The histories of a row group, cut into the windows that a span touches."""
    vehicle, tracks = histories(rows)
    window, owner, offsets, out = _cut(*tracks, spans, WINDOW_MS)
    columns = [out[:, 0].astype(np.int64), np.ascontiguousarray(out[:, 1]), np.ascontiguousarray(out[:, 2])]
    t, x, y = (binary_array(8 * offsets, values.view(np.uint8)) for values in columns)
    return pa.table({"window": window, "vehicle": vehicle[owner], "t": t, "x": x, "y": y})


def by_window(source: Source, spans: I64, work: Callable[[Window], pa.Table]) -> DataFrame:
    """`work` on each window that a span touches: intervals of pairs, joined over the windows' borders."""

    def cut(rows: Rows) -> pa.Table:
        return cut_rows(rows, spans)

    def run(table: pa.Table) -> pa.Table:
        found = work(Window(table.column("window")[0].as_py(), table))
        leave_little_to_collect()
        return found

    columns = ("vehicle", "Trip")
    pieces = source.tasks(source.groups(), _CUT_SCHEMA, cut, columns)
    # A few windows a task, so that the cores end together.
    return joined(pieces.groupBy("window").applyInArrow(run, INTERVALS))


def interval_table(
    window: Window, reference: Any, candidate: Any, begin: F64, end: F64, kept: BOOL | None = None
) -> pa.Table:
    """Intervals in seconds of a window as a table in ms."""
    columns = {
        "reference": pa.array(reference, pa.int32()),
        "candidate": pa.array(candidate, pa.int32()),
        "begin": window.begin + 1000.0 * begin,
        "end": window.begin + 1000.0 * end,
    }
    table = pa.table(columns)
    return table if kept is None else table.filter(pa.array(kept))
