"""When vehicles are at points, or in regions: a row for each interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from causeway.berlinmod.model.arrays import F64, I32
from causeway.berlinmod.scans.rows import EVERYTHING, Rows, movements_of, runs_in_boxes
from causeway.berlinmod.scans.source import AT_POINT_METRES, ROUNDING_METRES, Source
from causeway.moving_objects.kernels.places import at_point, at_region
from causeway.moving_objects.kernels.values import Points, Shapes, Spans

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["scan", "visit_rows"]

_SCHEMA: Final = "vehicle int, Licence string, Id int, begin double, end double, end_closed boolean"


def scan(source: Source, relation: str, *licences: str) -> DataFrame:
    """Visits to the places of a relation of points or regions, of all vehicles or of some licences.

    An interval is closed at its begin. In TBA one that goes on over the end of a trip is several rows.
    """
    ids, places = source.places(relation)
    chosen = source.vehicles(*licences) if licences else None

    def work(rows: Rows) -> pa.Table:
        return visit_rows(rows, ids, places, chosen)

    return source.tasks(source.groups(chosen), _SCHEMA, work, EVERYTHING)


def visit_rows(rows: Rows, ids: I32, places: list[tuple[F64, F64]], chosen: I32 | None) -> pa.Table:
    """The visits of the vehicles of a row group. A place of one corner is a point."""
    near = AT_POINT_METRES if len(places) and len(places[0][0]) == 1 else 0.0
    wide = near + ROUNDING_METRES
    wanted = np.array([(x.min() - wide, x.max() + wide, y.min() - wide, y.max() + wide) for x, y in places])
    runs = runs_in_boxes(rows, wanted.reshape(-1, 4))
    if chosen is not None:
        kept = np.isin(rows.vehicle[runs.row], chosen)
        runs = type(runs)(*(column[kept] for column in runs))
    points = movements_of(rows, runs)
    if near:
        x, y = (np.array([place[k][0] for place in places])[runs.query] for k in (0, 1))
        spans = at_point(points, Points(x, y), np.full(len(x), near))
    else:
        spans = at_region(points, _shapes(places, runs.query))
    return _table(rows, runs.row, ids[runs.query], spans)


def _shapes(places: list[tuple[F64, F64]], query: np.ndarray) -> Shapes:
    sizes = np.array([len(x) for x, _ in places], np.int64)[query]
    part = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    x, y = (np.concatenate([places[q][k] for q in query]) if len(query) else np.empty(0) for k in (0, 1))
    return Shapes(np.arange(len(query) + 1, dtype=np.int64), part, x, y)


def _table(rows: Rows, row: np.ndarray, ids: I32, spans: Spans) -> pa.Table:
    each = np.repeat(np.arange(len(spans)), np.diff(spans.row))
    return pa.table(
        {
            "vehicle": rows.vehicle[row[each]],
            "Licence": rows.licence.take(pa.array(row[each])),
            "Id": pa.array(ids[each], pa.int32()),
            "begin": spans.begin,
            "end": spans.end,
            "end_closed": spans.end_closed,
        }
    )
