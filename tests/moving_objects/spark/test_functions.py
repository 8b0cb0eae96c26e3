"""The functions in SQL and on DataFrames: each once, on a movement whose answers are counted by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import causeway.moving_objects as mo
from causeway.spark.errors import explain

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TRIP = "named_struct('t', array(0L, 10000L, 20000L), 'x', array(0D, 100D, 100D), 'y', array(0D, 0D, 0D))"
"""East for 10 s at 10 m/s, then it stands for 10 s."""
OTHER = "named_struct('t', array(5000L, 15000L), 'x', array(50D, 50D), 'y', array(3D, 3D))"
SQUARE = "named_struct('x', array(20D, 40D, 40D, 20D), 'y', array(-5D, -5D, 5D, 5D))"


@pytest.fixture(scope="module")
def sql(spark: SparkSession) -> Any:
    mo.register(spark)

    def ask(expression: str) -> Any:
        row = f"SELECT {TRIP} AS trip, {OTHER} AS other, {SQUARE} AS square"
        text = f"SELECT {expression} AS answer FROM ({row})"
        value = spark.sql(text).collect()[0].answer
        return value.asDict(recursive=True) if hasattr(value, "asDict") else value

    return ask


def _instants(value: dict[str, Any]) -> list[tuple[float, float, float]]:
    return list(zip(value["t"], value["x"], value["y"], strict=True))


def _intervals(value: dict[str, Any]) -> list[tuple[float, float, bool, bool]]:
    names = ("begin", "end", "begin_closed", "end_closed")
    return list(zip(*(value[name] for name in names), strict=True))


def test_all_functions_in_one_query(sql: Any) -> None:
    """One query, since each costs Spark a second or two."""
    answers = sql(
        "struct("
        "val(atinstant(trip, 2500)) AS val, inst(atinstant(trip, 2500)) AS inst,"
        "atinstant(trip, 20000) AS late, val(atinstant(trip, 20000)) AS nowhere,"
        "inside(val(atinstant(trip, 20000)), square) AS unknown,"
        "initial(trip) AS initial, present(trip, 19999) AS present, present(trip, 20000) AS gone,"
        "present(trip, struct(-5L AS begin, 0L AS end)) AS touched,"
        "atperiods(trip, struct(-5L AS begin, 0L AS end)) AS instant,"
        "atperiods(trip, struct(5000L AS begin, 12000L AS end)) AS part,"
        "at(trip, struct(30D AS x, 0D AS y)) AS near, at(trip, struct(30D AS x, 3D AS y), 5.0) AS nearer,"
        "at(trip, square) AS within, passes(trip, square) AS passes,"
        "passes(trip, struct(30D AS x, 1D AS y)) AS misses,"
        "deftime(trip) AS deftime, trajectory(trip) AS line, mo_length(trip) AS metres,"
        "mo_length(trajectory(trip)) AS line_metres,"
        "line_distance(trajectory(trip), trajectory(other)) AS apart,"
        "distance(trip, other) AS distance, sometimes(le(distance(trip, other), 3.0)) AS met,"
        "deftime(at_bool(le(distance(trip, other), 5.0), TRUE)) AS meeting,"
        "intersection(trip, other, 5.0) AS together, isempty(intersection(trip, other)) AS never,"
        "inside(struct(20D AS x, 0D AS y), square) AS inside,"
        "circle(struct(1D AS x, 2D AS y), 10, 4) AS circle,"
        "mo_concat(atperiods(trip, struct(5000L AS begin, 6000L AS end)),"
        " atperiods(trip, struct(1000L AS begin, 2000L AS end))) AS joined,"
        "mo_concat(array(atperiods(trip, struct(1000L AS begin, 2000L AS end)), CAST(NULL AS "
        + mo.functions.types.MOVING_POINT
        + "))) AS listed,"
        "create_instant('2007-05-28-09:30:00.250') AS created, create_instant('2007-05-28 09:30') AS minute,"
        "from_meos(as_meos(trip)) AS meos, from_mfjson(as_mfjson(trip)) AS json,"
        "point_from_wkb(point_as_wkb(struct(1D AS x, 2D AS y))) AS point,"
        "line_from_wkb(line_as_wkb(trajectory(trip))) AS wkb_line,"
        "region_from_wkb(region_as_wkb(square)) AS wkb_region, boxes(trip, 1, 1000000) AS boxes"
        ")"
    )
    assert answers["val"] == {"x": 25.0, "y": 0.0}
    assert answers["inst"] == 2500.0
    assert (answers["late"], answers["nowhere"], answers["unknown"]) == (None, None, None)
    assert answers["initial"] == {"t": 0.0, "x": 0.0, "y": 0.0}
    assert (answers["present"], answers["gone"], answers["touched"]) == (True, False, True)
    assert _instants(answers["instant"]) == [(0.0, 0.0, 0.0)]
    assert _instants(answers["part"]) == [(5000.0, 50.0, 0.0), (10000.0, 100.0, 0.0), (12000.0, 100.0, 0.0)]
    assert answers["part"]["end_closed"] == [True]
    assert answers["near"]["t"] == pytest.approx([2999, 3001])
    assert answers["nearer"]["x"] == pytest.approx([26, 34])
    assert _instants(answers["within"]) == [(2000.0, 20.0, 0.0), (4000.0, 40.0, 0.0)]
    assert (answers["passes"], answers["misses"]) == (True, False)
    assert _intervals(answers["deftime"]) == [(0.0, 20000.0, True, False)]
    assert answers["line"] == {"x": [0.0, 100.0], "y": [0.0, 0.0], "first": [0]}
    assert (answers["metres"], answers["line_metres"], answers["apart"]) == (100.0, 100.0, 3.0)
    assert answers["distance"]["a"] == [100.0, 0.0]
    assert answers["met"]
    assert _intervals(answers["meeting"]) == [(5000.0, 5400.0, True, True)]
    assert answers["together"]["x"] == pytest.approx([50, 54])
    assert (answers["never"], answers["inside"]) == (True, True)
    assert answers["circle"]["x"] == pytest.approx([11, 1, -9, 1])
    assert answers["joined"]["first"] == [0, 2]
    assert answers["joined"]["t"] == [1000.0, 2000.0, 5000.0, 6000.0]
    assert answers["listed"]["t"] == [1000.0, 2000.0]
    assert answers["created"] == 1180344600250
    assert answers["minute"] == 1180344600000
    assert (
        _instants(answers["meos"])
        == _instants(answers["json"])
        == [(0, 0, 0), (10000, 100, 0), (20000, 100, 0)]
    )
    assert answers["meos"]["end_closed"] == answers["json"]["end_closed"] == [False]
    assert answers["point"] == {"x": 1.0, "y": 2.0}
    assert answers["wkb_line"] == answers["line"]
    assert answers["wkb_region"]["x"] == [20.0, 40.0, 40.0, 20.0]
    assert [(box["first"], box["units"], box["x_max"]) for box in answers["boxes"]] == [
        (0, 1, 100.0),
        (1, 1, 100.0),
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("lt", False), ("le", True), ("eq", True), ("ne", False), ("ge", True), ("gt", False)],
)
def test_comparisons_at_the_limit(sql: Any, name: str, expected: bool) -> None:
    """While it stands at (100, 0), the distance from (100, 5) is exactly 5."""
    standing = "atperiods(trip, struct(10000L AS begin, 20000L AS end))"
    assert sql(f"sometimes({name}(distance({standing}, struct(100D AS x, 5D AS y)), 5.0))") == expected


def test_on_dataframes_and_from_rows(spark: SparkSession) -> None:
    from pyspark.sql import functions as spark_functions

    rows = [("a", 2000, 4.0, 0.0), ("a", 0, 0.0, 0.0), ("b", 500, 9.0, 9.0), ("a", 1000, 4.0, 3.0)]
    frame = spark.createDataFrame(rows, "id string, t bigint, x double, y double")
    gathered = frame.groupBy("id").agg(
        spark_functions.collect_list(spark_functions.struct("t", "x", "y")).alias("rows")
    )
    trips = gathered.select("id", mo.moving_point("rows").alias("trip"))
    answers = trips.select(
        "id",
        mo.length("trip").alias("metres"),
        mo.val(mo.initial("trip")).alias("start"),
        mo.inst(mo.initial("trip")).alias("begin"),
        mo.passes(
            "trip",
            spark_functions.struct(spark_functions.lit(4.0).alias("x"), spark_functions.lit(1.0).alias("y")),
        ).alias("passes"),
        mo.create_instant(spark_functions.lit("1970-01-01-00:00:01")).alias("second"),
    )
    found = {row.id: row for row in answers.collect()}
    assert found["a"].metres == 8.0
    assert found["a"].start.asDict() == {"x": 0.0, "y": 0.0}
    assert (found["a"].passes, found["b"].passes) == (True, False)
    assert (found["b"].begin, found["b"].second) == (500.0, 1000)


def test_errors_are_in_the_users_words(sql: Any) -> None:
    from pyspark.errors import PySparkException

    with pytest.raises(PySparkException) as failure:
        sql("mo_length(named_struct('t', array(5L, 5L), 'x', array(0D, 1D), 'y', array(0D, 1D)))")
    assert explain(failure.value).startswith("UserError: moving point: times must increase")


def test_times_of_other_types(sql: Any) -> None:
    times = "array(TIMESTAMP'1970-01-01 00:00:00Z', TIMESTAMP'1970-01-01 00:00:01Z')"
    trip = f"named_struct('t', {times}, 'x', array(0, 10), 'y', array(0, 0))"
    assert sql(f"val(atinstant({trip}, TIMESTAMP'1970-01-01 00:00:00.5Z'))") == {"x": 5.0, "y": 0.0}
