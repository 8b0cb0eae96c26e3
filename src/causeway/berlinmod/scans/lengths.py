"""Metres driven during periods: a row for each row of the relation and period in which it is observed.

The prefix sums of a data set make each of them two searches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from causeway.berlinmod.model.arrays import F64, I32, I64
from causeway.berlinmod.scans.rows import LENGTHS, Rows
from causeway.berlinmod.scans.source import Source
from causeway.runtime.compiled import kernel

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["length_rows", "scan"]

_SCHEMA: Final = "vehicle int, Licence string, Id int, Dist double"


def scan(source: Source, relation: str, *licences: str) -> DataFrame:
    """Metres in the periods of a relation, of all vehicles or of some licences; in TBA of each trip."""
    table = source.table(relation)
    ids = table.column("Id").to_numpy()
    periods = np.array([(one["begin"], one["end"]) for one in table.column("Period").to_pylist()], np.int64)
    chosen = source.vehicles(*licences) if licences else None

    def work(rows: Rows) -> pa.Table:
        return length_rows(rows, ids, periods.reshape(-1, 2), chosen)

    return source.tasks(source.groups(chosen), _SCHEMA, work, LENGTHS)


def length_rows(rows: Rows, ids: I32, periods: I64, chosen: I32 | None) -> pa.Table:
    """The metres of the rows of a row group."""
    wanted = np.ones(len(rows), np.bool_) if chosen is None else np.isin(rows.vehicle, chosen)
    row, which, metres = _lengths(rows.offsets, rows.t, rows.length, wanted, periods)
    return pa.table(
        {
            "vehicle": rows.vehicle[row],
            "Licence": rows.licence.take(pa.array(row)),
            "Id": pa.array(ids[which], pa.int32()),
            "Dist": metres,
        }
    )


@kernel
def _until(t: I64, length: F64, first: int, last: int, now: int) -> Any:
    """Metres from the start of a row to an instant of it."""
    if now >= t[last]:
        return length[last]
    u = first + np.searchsorted(t[first : last + 1], now, "right") - 1
    part = (now - t[u]) / (t[u + 1] - t[u])
    return length[u] + part * (length[u + 1] - length[u])


@kernel
def _lengths(offsets: I64, t: I64, length: F64, wanted: Any, periods: I64) -> Any:
    size = (len(offsets) - 1) * len(periods)
    row = np.empty(size, np.int64)
    which = np.empty(size, np.int64)
    out = np.empty(size)
    n = 0
    for r in range(len(offsets) - 1):
        if not wanted[r]:
            continue
        first = offsets[r]
        last = offsets[r + 1] - 1
        for k in range(len(periods)):
            begin = max(periods[k, 0], t[first])
            end = min(periods[k, 1], t[last])
            # A row is open at its end: what only touches it there is not in it.
            if begin > end or begin >= t[last]:
                continue
            row[n] = r
            which[n] = k
            out[n] = _until(t, length, first, last, end) - _until(t, length, first, last, begin)
            n += 1
    return row[:n], which[:n], out[:n]
