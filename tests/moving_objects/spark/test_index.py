"""A join by the index gives what a join of all with all gives."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import causeway.moving_objects as mo
from causeway.runtime.errors import UserError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

GRID = mo.Grid(metres=50, ms=60_000, units=4)
TRIPS = "vehicle int, Trip struct<t:array<bigint>,x:array<double>,y:array<double>>"
POINTS = "Id int, Pos struct<x:double,y:double>"

# The two statements of docs/moving-objects.md, with a smaller grid.
PASSED = """
SELECT DISTINCT p.Id, b.vehicle
FROM (SELECT *, explode(columns) AS cell_x
      FROM (SELECT *, cells(Pos.x - 0.01, Pos.x + 0.01, 50) AS columns FROM Places)) p
JOIN TripCells b ON b.cell_x = p.cell_x
    AND b.cell_y BETWEEN floor((p.Pos.y - 0.01) / 50) AND floor((p.Pos.y + 0.01) / 50)
    AND p.Pos.x BETWEEN b.x_min - 0.01 AND b.x_max + 0.01
    AND p.Pos.y BETWEEN b.y_min - 0.01 AND b.y_max + 0.01
JOIN Movements m ON m.vehicle = b.vehicle
WHERE passes(units_of(m.Trip.t, m.Trip.x, m.Trip.y, b.first, b.units, b.begin_closed, b.end_closed), p.Pos)
"""
MET = """
SELECT DISTINCT a.vehicle, b.vehicle
FROM Around a JOIN TripCells b USING (cell_x, cell_y, cell_t)
JOIN Movements m ON m.vehicle = a.vehicle JOIN Movements n ON n.vehicle = b.vehicle
WHERE a.vehicle < b.vehicle
    AND cell_x = first_cell(a.x_min - 25, b.x_min, 50)
    AND cell_y = first_cell(a.y_min - 25, b.y_min, 50)
    AND cell_t = first_cell(a.t_min, b.t_min, 60000)
    AND a.t_min <= b.t_max AND b.t_min <= a.t_max
    AND sometimes(le(distance(
        units_of(m.Trip.t, m.Trip.x, m.Trip.y, a.first, a.units, a.begin_closed, a.end_closed),
        units_of(n.Trip.t, n.Trip.x, n.Trip.y, b.first, b.units, b.begin_closed, b.end_closed)), 25))
"""


def _walks(chance: Random, count: int) -> list[tuple[int, dict[str, Any]]]:
    """Walks between corners of a grid of 25 m that also stand for minutes, with negative coordinates."""
    rows = []
    for vehicle in range(count):
        now, x, y = (
            chance.randrange(0, 200_000, 1000),
            chance.randrange(-8, 9) * 25,
            chance.randrange(-8, 9) * 25,
        )
        t, xs, ys = [now], [float(x)], [float(y)]
        for _ in range(14):
            now += chance.choice([2000, 2000, 7000, 300_000])
            x, y = x + chance.choice([-25, 0, 25]), y + chance.choice([-25, 0, 25])
            t.append(now)
            xs.append(float(x))
            ys.append(float(y))
        rows.append((vehicle, {"t": t, "x": xs, "y": ys}))
    return rows


def _pairs(frame: DataFrame) -> set[tuple[Any, ...]]:
    rows = [tuple(row) for row in frame.collect()]
    assert len(rows) == len(set(rows))
    return set(rows)


def test_joins_by_the_index_find_all_and_nothing_else(spark: SparkSession, tmp_path: Path) -> None:
    mo.register(spark)
    chance = Random(5)
    walks = _walks(chance, 16)
    trips = spark.createDataFrame(walks, TRIPS)
    # Corners of the walks are on borders of cells.
    places = [(k, {"x": w["x"][3], "y": w["y"][3]}) for k, (_, w) in enumerate(walks[:6])] + [
        (9, {"x": 1.0, "y": 2.0})
    ]
    mo.make_index(trips, tmp_path / "index", trip="Trip", keys=["vehicle"], grid=GRID)
    index = mo.open_index(spark, tmp_path / "index")
    assert index.grid == GRID
    views = {
        "Movements": trips,
        "Places": spark.createDataFrame(places, POINTS),
        "TripCells": index.cells,
        "Around": mo.with_cells(index.boxes, index.grid, margin=25.0),
    }
    try:
        for name, frame in views.items():
            frame.createOrReplaceTempView(name)
        passed = _pairs(spark.sql(PASSED))
        met = _pairs(spark.sql(MET))
        assert passed == _pairs(
            spark.sql("SELECT p.Id, m.vehicle FROM Places p, Movements m WHERE passes(m.Trip, p.Pos)")
        )
        assert met == _pairs(
            spark.sql(
                "SELECT a.vehicle, b.vehicle FROM Movements a, Movements b"
                " WHERE a.vehicle < b.vehicle AND sometimes(le(distance(a.Trip, b.Trip), 25))"
            )
        )
    finally:
        for name in views:
            spark.catalog.dropTempView(name)
    assert {pair[0] for pair in passed} == set(range(6))
    assert 0 < len(met) < 120


def test_a_column_that_is_not_there(spark: SparkSession, tmp_path: Path) -> None:
    trips = spark.createDataFrame(_walks(Random(1), 1), TRIPS)
    with pytest.raises(UserError, match="no column licence; it has vehicle, Trip"):
        mo.make_index(trips, tmp_path / "index", trip="Trip", keys=["licence"], grid=GRID)


@pytest.mark.parametrize("wrong", [{"metres": 0.0}, {"ms": -1.0}, {"units": 0}])
def test_cells_without_a_size(wrong: dict[str, Any]) -> None:
    with pytest.raises(UserError, match="must be above 0"):
        mo.Grid(**wrong)
