"""When two vehicles are near each other, and where the first one is then.

Two rows are walked along in time by their boxes; only where these are near are units looked at.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from causeway.berlinmod.model.arrays import F64, I32, I64
from causeway.berlinmod.scans.gather import Gatherer
from causeway.berlinmod.scans.rows import BOX_UNITS, EVERYTHING, Rows, choose_rows, read_rows
from causeway.berlinmod.scans.source import CIRCLE, ROUNDING_METRES, Source
from causeway.moving_objects.conversions.arrow_values import write_moving_points
from causeway.moving_objects.kernels.spans import append, grown, restrict
from causeway.moving_objects.kernels.values import MovingPoints, Spans
from causeway.moving_objects.types import MOVING_POINT
from causeway.runtime.compiled import kernel

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["meeting_rows", "scan"]

_SCHEMA: Final = (
    "vehicle1 int, Licence1 string, vehicle2 int, Licence2 string,"
    " begin array<double>, end array<double>, begin_closed array<boolean>, end_closed array<boolean>,"
    f" Pos {MOVING_POINT}"
)
_SLICES: Final = 4
"""Tasks that share the pairs of two small sets of vehicles."""


def scan(source: Source, ones: str, others: str, metres: str) -> DataFrame:
    """Meetings of the vehicles of `ones` with those of `others` (or `all`), at most so far apart.

    A row is a pair of rows of the relation: in TBA of two trips. `begin`, `end` and the flags are periods;
    `Pos` is the first vehicle while they are near. `same` metres: at one place.
    """
    # Section 7.6: what is at one place in exact data is within a circle in disturbed data.
    same = CIRCLE[0] if source.is_disturbed else 0.01
    limit = same if metres == "same" else float(metres)
    gatherer = Gatherer(source)
    first = source.vehicles(ones)
    if others == "all":
        groups = source.groups() if len(first) else {}
        files = sorted(groups)
        paths = {file: source.dataset.part(source.relation, file).absolute() for file in files}
        counters = source.read

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            mine = gatherer.rows(first)
            for batch in batches:
                for place in batch.column(0).to_pylist():
                    for group in groups[files[place]]:
                        rows = read_rows(paths[files[place]], group, EVERYTHING, counters)
                        yield from meeting_rows(mine, rows, limit).to_batches()

        return source.spread(len(files), run, _SCHEMA)
    second = source.vehicles(others)

    def share(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for place in batch.column(0).to_pylist():
                theirs = second[place::_SLICES]
                if len(theirs):
                    both = gatherer.rows(np.union1d(first, theirs))
                    mine = choose_rows(both, np.isin(both.vehicle, first))
                    rows = choose_rows(both, np.isin(both.vehicle, theirs))
                    yield from meeting_rows(mine, rows, limit).to_batches()

    return source.spread(_SLICES, share, _SCHEMA)


def meeting_rows(ones: Rows, others: Rows, metres: float) -> pa.Table:
    """The meetings of each row of `ones` with each of `others` that is of another vehicle."""
    pair, row, begin, end, closed = _meetings(*_arrays(ones), *_arrays(others), metres)
    first, second = pair[:, 0].copy(), pair[:, 1].copy()
    spans = Spans(row, begin, end, closed[:, 0].copy(), closed[:, 1].copy())
    lists = {
        name: pa.ListArray.from_arrays(pa.array(row.astype(np.int32)), pa.array(getattr(spans, name)))
        for name in ("begin", "end", "begin_closed", "end_closed")
    }
    return pa.table(
        {
            "vehicle1": ones.vehicle[first],
            "Licence1": ones.licence.take(pa.array(first)),
            "vehicle2": others.vehicle[second],
            "Licence2": others.licence.take(pa.array(second)),
            **lists,
            "Pos": write_moving_points(_restricted(ones, first, spans)),
        }
    )


def _restricted(rows: Rows, which: I64, spans: Spans) -> MovingPoints:
    """The movements of some rows while the spans last."""
    parts = []
    for k in range(len(spans)):
        low, high = rows.offsets[which[k]], rows.offsets[which[k] + 1]
        begin, end = spans.begin[spans.row[k]], spans.end[spans.row[k + 1] - 1]
        # Only the units around the spans.
        first = low + max(int(np.searchsorted(rows.t[low:high], begin, "right")) - 1, 0)
        last = min(low + int(np.searchsorted(rows.t[low:high], end, "right")), high - 1)
        parts.append((first, max(last, first + 1)))
    sizes = np.array([last - first + 1 for first, last in parts], np.int64)
    piece = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    starts = np.array([first for first, _ in parts], np.int64)
    take = np.repeat(starts - piece[:-1], sizes) + np.arange(piece[-1])
    closed = np.ones(len(parts), np.bool_)
    row = np.arange(len(parts) + 1, dtype=np.int64)
    t = rows.t[take].astype(np.float64)
    # The last instant taken is never part of the row (it is open), or is after the spans.
    points = MovingPoints(row, piece, t, rows.x[take], rows.y[take], closed, ~closed)
    return restrict(points, spans)


def _arrays(rows: Rows) -> tuple[I32, I64, I64, F64, F64, I64, F64]:
    return rows.vehicle, rows.offsets, rows.t, rows.x, rows.y, rows.box_offsets, rows.boxes


@kernel
def _meetings(
    vehicle1: I32,
    offsets1: I64,
    t1: I64,
    x1: F64,
    y1: F64,
    box_offsets1: I64,
    boxes1: F64,
    vehicle2: I32,
    offsets2: I64,
    t2: I64,
    x2: F64,
    y2: F64,
    box_offsets2: I64,
    boxes2: F64,
    metres: float,
) -> Any:
    pairs = np.empty((16, 2), np.int64)
    row = np.zeros(17, np.int64)
    begin = np.empty(64)
    end = np.empty(64)
    closed = np.empty((64, 2), np.bool_)
    found = 0
    n = 0
    wide = metres + ROUNDING_METRES
    for r in range(len(vehicle1)):
        for s in range(len(vehicle2)):
            if vehicle1[r] == vehicle2[s]:
                continue
            first1 = offsets1[r]
            last1 = offsets1[r + 1] - 1
            first2 = offsets2[s]
            last2 = offsets2[s + 1] - 1
            if t1[first1] >= t2[last2] or t2[first2] >= t1[last1]:
                continue
            start = n
            b = box_offsets1[r]
            c = box_offsets2[s]
            while b < box_offsets1[r + 1] and c < box_offsets2[s + 1]:
                i0 = first1 + BOX_UNITS * (b - box_offsets1[r])
                i1 = min(i0 + BOX_UNITS, last1)
                j0 = first2 + BOX_UNITS * (c - box_offsets2[s])
                j1 = min(j0 + BOX_UNITS, last2)
                if (
                    t1[i0] < t2[j1]
                    and t2[j0] < t1[i1]
                    and boxes1[b, 0] - wide <= boxes2[c, 1]
                    and boxes2[c, 0] - wide <= boxes1[b, 1]
                    and boxes1[b, 2] - wide <= boxes2[c, 3]
                    and boxes2[c, 2] - wide <= boxes1[b, 3]
                ):
                    if n + 2 * BOX_UNITS + 2 > len(begin):
                        begin = grown(begin, n + 2 * BOX_UNITS + 2)
                        end = grown(end, len(begin))
                        flags = np.empty((len(begin), 2), np.bool_)
                        flags[:n] = closed[:n]
                        closed = flags
                    n = _near(t1, x1, y1, i0, i1, t2, x2, y2, j0, j1, metres, begin, end, closed, n, start)
                if t1[i1] < t2[j1]:
                    b += 1
                elif t1[i1] > t2[j1]:
                    c += 1
                else:
                    b += 1
                    c += 1
            if n > start:
                if found + 2 > len(row):
                    row = grown(row, found + 2)
                if found == len(pairs):
                    more = np.empty((2 * found, 2), np.int64)
                    more[:found] = pairs
                    pairs = more
                pairs[found, 0] = r
                pairs[found, 1] = s
                found += 1
                row[found] = n
    return pairs[:found], row[: found + 1].copy(), begin[:n].copy(), end[:n].copy(), closed[:n].copy()


@kernel
def _between(t: I64, x: F64, y: F64, u: int, now: int) -> Any:
    part = (now - t[u]) / (t[u + 1] - t[u])
    return x[u] + part * (x[u + 1] - x[u]), y[u] + part * (y[u + 1] - y[u])


@kernel
def _near(
    t1: I64,
    x1: F64,
    y1: F64,
    i0: int,
    i1: int,
    t2: I64,
    x2: F64,
    y2: F64,
    j0: int,
    j1: int,
    metres: float,
    begin: F64,
    end: F64,
    closed: Any,
    n: int,
    start: int,
) -> Any:
    """Write when the units i0..i1 and j0..j1 are at most so far from each other; gives the new count."""
    now = max(t1[i0], t2[j0])
    until = min(t1[i1], t2[j1])
    i = i0 + np.searchsorted(t1[i0 : i1 + 1], now, "right") - 1
    j = j0 + np.searchsorted(t2[j0 : j1 + 1], now, "right") - 1
    square = metres * metres
    wide = metres + ROUNDING_METRES
    while now < until:
        after = min(t1[i + 1], t2[j + 1])
        if (
            min(x1[i], x1[i + 1]) - wide <= max(x2[j], x2[j + 1])
            and min(x2[j], x2[j + 1]) - wide <= max(x1[i], x1[i + 1])
            and min(y1[i], y1[i + 1]) - wide <= max(y2[j], y2[j + 1])
            and min(y2[j], y2[j + 1]) - wide <= max(y1[i], y1[i + 1])
        ):
            ax, ay = _between(t1, x1, y1, i, now)
            bx, by = _between(t2, x2, y2, j, now)
            cx, cy = _between(t1, x1, y1, i, after)
            dx, dy = _between(t2, x2, y2, j, after)
            fx = ax - bx
            fy = ay - by
            gx = cx - dx
            gy = cy - dy
            # The test at an instant is the same for both units that it belongs to.
            was_near = fx * fx + fy * fy <= square
            is_near = gx * gx + gy * gy <= square
            begins = 0.0
            ends = 1.0
            meets = was_near and is_near
            if not meets:
                wx = gx - fx
                wy = gy - fy
                speed = wx * wx + wy * wy
                if speed > 0.0:
                    nearest = -(fx * wx + fy * wy) / speed
                    across = fx * wy - fy * wx
                    left = square - across * across / speed
                    if was_near or is_near or (left >= 0.0 and 0.0 <= nearest <= 1.0):
                        half = math.sqrt(max(left, 0.0) / speed)
                        meets = True
                        if not was_near:
                            begins = min(max(nearest - half, 0.0), 1.0)
                        if not is_near:
                            ends = min(max(nearest + half, 0.0), 1.0)
            if meets:
                lasts = after - now
                b = now + begins * lasts if begins < 1.0 else float(after)
                e = now + ends * lasts if ends < 1.0 else float(after)
                n = append(begin, end, closed, n, start, b, e, True, e < after)
        now = after
        if t1[i + 1] == now:
            i += 1
        if t2[j + 1] == now:
            j += 1
    return n
