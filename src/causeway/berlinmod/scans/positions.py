"""Where vehicles are at instants: a row for each vehicle and instant at which it is observed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from causeway.berlinmod.model.arrays import F64, I32, I64
from causeway.berlinmod.scans.rows import Rows
from causeway.berlinmod.scans.source import Source
from causeway.runtime.compiled import kernel

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["position_rows", "scan"]

_SCHEMA: Final = "vehicle int, Licence string, Id int, x double, y double"


def scan(source: Source, relation: str, *licences: str) -> DataFrame:
    """Positions at the instants of a relation, of all vehicles or of some licences."""
    table = source.table(relation)
    ids, instants = table.column("Id").to_numpy(), table.column("Instant").to_numpy()
    chosen = source.vehicles(*licences) if licences else None

    def work(rows: Rows) -> pa.Table:
        return position_rows(rows, ids, instants, chosen)

    return source.tasks(source.groups(chosen), _SCHEMA, work, ("vehicle", "Licence", "Trip"))


def position_rows(rows: Rows, ids: I32, instants: I64, chosen: I32 | None) -> pa.Table:
    """The positions of the vehicles of a row group."""
    wanted = np.ones(len(rows), np.bool_) if chosen is None else np.isin(rows.vehicle, chosen)
    row, which, x, y = _positions(rows.offsets, rows.t, rows.x, rows.y, wanted, instants)
    return pa.table(
        {
            "vehicle": rows.vehicle[row],
            "Licence": rows.licence.take(pa.array(row)),
            "Id": pa.array(ids[which], pa.int32()),
            "x": x,
            "y": y,
        }
    )


@kernel
def _positions(offsets: I64, t: I64, x: F64, y: F64, wanted: Any, instants: I64) -> Any:
    size = (len(offsets) - 1) * len(instants)
    row = np.empty(size, np.int64)
    which = np.empty(size, np.int64)
    out_x = np.empty(size)
    out_y = np.empty(size)
    n = 0
    for r in range(len(offsets) - 1):
        first = offsets[r]
        last = offsets[r + 1] - 1
        if not wanted[r]:
            continue
        for k in range(len(instants)):
            now = instants[k]
            # The end of a row belongs to the next one.
            if now < t[first] or now >= t[last]:
                continue
            u = first + np.searchsorted(t[first : last + 1], now, "right") - 1
            row[n] = r
            which[n] = k
            part = (now - t[u]) / (t[u + 1] - t[u])
            out_x[n] = x[u] + part * (x[u + 1] - x[u])
            out_y[n] = y[u] + part * (y[u + 1] - y[u])
            n += 1
    return row[:n], which[:n], out_x[:n], out_y[:n]
