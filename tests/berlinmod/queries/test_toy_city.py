"""A city of five vehicles on two streets, small enough that every answer is counted by hand.

    A stands at (0, 0), drives east from second 100 to 200, and stands at (1000, 0)
    B stands at (1000, 0), drives west from second 110 to 210, and stands at (0, 0)
    C stands at (500, 5), a truck
    D stands at (500, -300), drives north from second 200 to 260, and stands at (500, 300), a truck
    E stands at (0, 0)

All drive at 10 m/s. A and B meet at second 155 at (550, 0).
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.berlinmod.made_city import Instant, MadeCity

from causeway import berlinmod
from causeway.berlinmod.model.parameters import make_parameters

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from causeway.berlinmod.runner.results import RunResult

FIRST = make_parameters(cars=1, days=1).first_ms
LAST = make_parameters(cars=1, days=1).last_ms
START = make_parameters(cars=1, days=1).begin_ms

P1, P2, P3, P4 = (500.0, 0.0), (1000.0, 0.0), (0.0, 0.0), (700.0, 700.0)


def at(second: float) -> int:
    return START + round(1000 * second)


I1, I2, I3 = at(150), at(50), at(230.5)
R1, R2, R3 = (at(140), at(160)), (at(0), at(100)), (at(200), at(3600))
CROSSING, CORNER = 1, 2
"""Regions: a rectangle around (500, 0), a square around (0, 0)."""


def stands(x: float, y: float) -> list[Instant]:
    return [(FIRST, x, y), (LAST, x, y)]


def drives(begin: float, *places: tuple[float, float]) -> list[Instant]:
    """Stands, drives along the places at 10 m/s, stands."""
    history, now = [(FIRST, *places[0]), (at(begin), *places[0])], begin
    for (x0, y0), (x1, y1) in itertools.pairwise(places):
        now += (abs(x1 - x0) + abs(y1 - y0)) / 10
        history.append((at(now), x1, y1))
    return [*history, (LAST, *places[-1])]


TOY = MadeCity(
    histories=[
        drives(100, (0, 0), (300, 0), (1000, 0)),
        drives(110, (1000, 0), (600, 0), (0, 0)),
        stands(500, 5),
        drives(200, (500, -300), (500, 300)),
        stands(0, 0),
    ],
    types=["passenger", "passenger", "truck", "truck", "passenger"],
    licences=["A", "B", "C", "D", "E"],
    points=[P1, P2, P3, P4],
    regions=[[(450, -50), (560, -50), (560, 50), (450, 50)], [(-10, -10), (10, -10), (10, 10), (-10, 10)]],
    instants=[I1, I2, I3],
    periods=[R1, R2, R3],
    asked=[0, 3, 0, 1, 2],
    nodes=[P1, P2, P3, P4],
    parts={"QueryLicences": (3, 2)},
)


@pytest.fixture(scope="module")
def run(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    folder = tmp_path_factory.mktemp("toy")
    dataset = TOY.write(folder / "city")
    return berlinmod.run(dataset, folder / "run", runs=1, spark=spark)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple(_plain(one) for one in value.values())
    return round(value, 6) if isinstance(value, float) else value


def answer(run: RunResult, query: str, *columns: str) -> list[tuple[Any, ...]]:
    """Columns of an answer, sorted."""
    rows = run[query].table().select(list(columns)).to_pylist()
    return sorted(tuple(_plain(row[name]) for name in columns) for row in rows)


def region_names(run: RunResult, query: str, *columns: str) -> list[tuple[Any, ...]]:
    """The same, where a region is its number."""
    rows = run[query].table().to_pylist()
    numbers = {tuple(float(c[0]) for c in ring): k + 1 for k, ring in enumerate(TOY.regions)}
    found = []
    for row in rows:
        row["Region"] = numbers[tuple(row["Region"]["x"])]
        found.append(tuple(_plain(row[name]) for name in columns))
    return sorted(found)


def test_both_representations_agree(run: RunResult) -> None:
    wrong = {(one.query, one.representation): one.differences for one in run.queries if one.passed is False}
    assert wrong == {}
    assert len(run.queries) == 52
    assert run.passed


def test_a_run_leaves_no_views_in_the_session(run: RunResult, spark: SparkSession) -> None:
    listed = {table.name.lower() for table in spark.catalog.listTables()}
    assert not listed & {"datascar", "datamtrip", "querypoints", "querypoints1"}


def test_query_1_and_2(run: RunResult) -> None:
    assert answer(run, "q1", "Licence", "Model") == [
        ("A", "model 0"), ("B", "model 1"), ("C", "model 2"), ("D", "model 3")
    ]  # fmt: skip
    assert answer(run, "q2", "Count") == [(3,)]


def test_query_3(run: RunResult) -> None:
    assert answer(run, "q3", "Licence", "Instant", "Pos") == sorted(
        [
            ("A", I1, (500.0, 0.0)), ("A", I2, (0.0, 0.0)), ("A", I3, (1000.0, 0.0)),
            ("D", I1, (500.0, -300.0)), ("D", I2, (500.0, -300.0)), ("D", I3, (500.0, 5.0)),
        ]
    )  # fmt: skip


def test_query_4(run: RunResult) -> None:
    assert answer(run, "q4", "Pos", "Licence") == sorted(
        [(P1, "A"), (P1, "B"), (P1, "D"), (P2, "A"), (P2, "B"), (P3, "A"), (P3, "B"), (P3, "E")]
    )


def test_query_5_and_6(run: RunResult) -> None:
    pairs = [("A", "B", 0.0), ("A", "C", 5.0), ("D", "B", 0.0), ("D", "C", 0.0)]
    assert answer(run, "q5", "Licence1", "Licence2", "Dist") == pairs
    assert answer(run, "q6", "Licence1", "Licence2") == [("C", "D")]


def test_query_7_has_everyone_who_ties(run: RunResult) -> None:
    assert answer(run, "q7", "Pos", "Licence") == sorted([(P1, "A"), (P2, "B"), (P3, "A"), (P3, "E")])


def test_query_8_and_9(run: RunResult) -> None:
    assert answer(run, "q8", "Licence", "Period", "Dist") == sorted(
        [
            ("A", R1, 200.0), ("A", R2, 0.0), ("A", R3, 0.0),
            ("D", R1, 0.0), ("D", R2, 0.0), ("D", R3, 600.0),
        ]
    )  # fmt: skip
    assert answer(run, "q9", "Period", "Dist") == sorted([(R1, 200.0), (R2, 0.0), (R3, 600.0)])


@pytest.mark.parametrize("representation", ["oba", "tba"])
def test_query_10_has_one_moving_point_for_each_pair(run: RunResult, representation: str) -> None:
    rows = run["q10", representation].table().to_pylist()
    met = {(row["QueryLicence"], row["OtherLicence"]): row["Pos"] for row in rows}
    assert met.keys() == {("A", "B"), ("A", "E"), ("D", "C")}
    for pair, begin, end in (
        (("A", "B"), at(154.85), at(155.15)),
        (("A", "E"), FIRST, at(100.3)),
        (("D", "C"), at(230.2), at(230.8)),
    ):
        place = met[pair]
        assert (len(place["first"]), place["begin_closed"], place["end_closed"]) == (1, [True], [True])
        assert (place["t"][0], place["t"][-1]) == pytest.approx((begin, end), abs=0.01)
    assert met["A", "B"]["x"][0] == pytest.approx(548.5)
    assert met["A", "E"]["x"] == pytest.approx([0.0, 0.0, 3.0])


def test_query_11_and_12(run: RunResult) -> None:
    assert answer(run, "q11", "Licence", "Pos", "Instant") == sorted(
        [
            ("A", P1, I1), ("E", P3, I1), ("A", P3, I2), ("E", P3, I2),
            ("B", P2, I2), ("A", P2, I3), ("B", P3, I3), ("E", P3, I3),
        ]
    )  # fmt: skip
    assert answer(run, "q12", "Pos", "Instant", "Licence1", "Licence2") == sorted(
        [(P3, I2, "A", "E"), (P3, I3, "B", "E")]
    )


def test_query_13_and_14(run: RunResult) -> None:
    during = {
        (CROSSING, R1): "ABC", (CORNER, R1): "E",
        (CROSSING, R2): "C", (CORNER, R2): "AE",
        (CROSSING, R3): "CD", (CORNER, R3): "BE",
    }  # fmt: skip
    expected = sorted((*where, licence) for where, licences in during.items() for licence in licences)
    assert region_names(run, "q13", "Region", "Period", "Licence") == expected
    then = {
        (CROSSING, I1): "AC", (CORNER, I1): "E",
        (CROSSING, I2): "C", (CORNER, I2): "AE",
        (CROSSING, I3): "CD", (CORNER, I3): "BE",
    }  # fmt: skip
    expected = sorted((*where, licence) for where, licences in then.items() for licence in licences)
    assert region_names(run, "q14", "Region", "Instant", "Licence") == expected


def test_query_15_takes_what_only_touches_the_end_of_a_period(run: RunResult) -> None:
    during = {(P1, R1): "AB", (P3, R1): "E", (P2, R2): "B", (P3, R2): "AE", (P1, R3): "D", (P2, R3): "A",
              (P3, R3): "BE"}  # fmt: skip
    expected = sorted((*where, licence) for where, licences in during.items() for licence in licences)
    assert answer(run, "q15", "Pos", "Period", "Licence") == expected


def test_query_16_leaves_out_those_who_meet(run: RunResult) -> None:
    """A and B meet in the region, A and C do not."""
    found = region_names(run, "q16", "Period", "Region", "Licence1", "Licence2")
    assert found == [(R1, CROSSING, "A", "C")]


def test_query_17_has_all_points_that_tie(run: RunResult) -> None:
    assert answer(run, "q17", "Pos") == sorted([(P1,), (P3,)])


def test_query_18_and_19(run: RunResult) -> None:
    assert len(answer(run, "q18", "Licence", "Instant", "Neighbour")) == 2 * 3 * 4
    near = [
        row for row in answer(run, "q18", "Licence", "Instant", "Neighbour", "Dist") if row[:2] == ("A", I1)
    ]
    assert [(row[2], row[3]) for row in near] == [("B", 100.0), ("C", 5.0), ("D", 300.0), ("E", 500.0)]
    mine = [
        row for row in answer(run, "q19", "Licence", "Period", "Id", "begin", "end") if row[:2] == ("A", R1)
    ]
    assert [row[2:] for row in mine] == [(1, *R1), (2, *R1), (3, *R1)]


def test_query_20_and_21_with_fewer_than_ten_neighbours(run: RunResult) -> None:
    for query, reference, who, count in (("q20", "Id", "Licence", 5), ("q21", "Licence", "Neighbour", 4)):
        rows = answer(run, query, reference, "Period", who, "begin", "end")
        assert len(rows) == 2 * 3 * count
        assert all(row[1] == row[3:] for row in rows)


def test_query_22_tells_who_passes_the_nearest_one(run: RunResult) -> None:
    """C is 5 m from the first point; A, B and D drive over it, each for a second."""
    rows = sorted(row[1:] for row in answer(run, "q22", "Id", "begin", "end", "Licence") if row[0] == 1)
    assert rows == [
        (FIRST, at(149.5), "C"),
        (at(149.5), at(150.5), "A"),
        (at(150.5), at(159.5), "C"),
        (at(159.5), at(160.5), "B"),
        (at(160.5), at(229.5), "C"),
        (at(229.5), at(230.5), "D"),
        (at(230.5), LAST, "C"),
    ]


def test_query_23_is_about_the_nearest_node(run: RunResult) -> None:
    rows = answer(run, "q23", "Pos", "Period", "Licence", "begin", "end")
    assert [row[2:] for row in rows if row[:2] == (P1, R1)] == [(name, *R1) for name in "ABCD"]
    assert [row[2:] for row in rows if row[:2] == (P1, R3)] == [(name, *R3) for name in "CD"]


def test_query_24_leaves_out_the_vehicle_itself(run: RunResult) -> None:
    rows = answer(run, "q24", "Licence", "Period", "Neighbour", "begin", "end")
    assert [row[2:] for row in rows if row[:2] == ("A", R2)] == [("E", *R2)]


def test_query_25_and_26_have_one_group(run: RunResult) -> None:
    """A, B, C and D before anyone drives: the point in the middle, and the truck beside it."""
    rows = answer(run, "q25", "Group", "Period", "Id", "begin", "end")
    assert [row[2:] for row in rows if row[1] == R2] == [(1, *R2)]
    rows = answer(run, "q26", "Group1", "Group2", "Period", "Licence", "begin", "end")
    assert [row[3:] for row in rows if row[2] == R2] == [("C", *R2)]


def test_a_licence_of_nobody_changes_nothing(run: RunResult, spark: SparkSession, tmp_path: Path) -> None:
    """As an import has it, of a vehicle without a trip."""
    dataset = replace(TOY, asked=[0, 3, -1, 0, 1, -1, 2], parts={"QueryLicences": (4, 3)}).write(
        tmp_path / "city"
    )
    queries = "q5,q10,q19,q22,q24,q25,q26"
    other = berlinmod.run(
        dataset, tmp_path / "run", queries=queries, representation="tba", check=True, runs=1, spark=spark
    )
    assert {one.query: one.differences for one in other.queries if not one.passed} == {}
    for one in other.queries:
        columns = [name for name in one.table().column_names if name != "Pos"]
        assert answer(other, one.query, *columns) == answer(run, one.query, *columns), one.query


def test_without_anything_that_is_asked_for(spark: SparkSession, tmp_path: Path) -> None:
    """As an import makes it of files without query relations."""
    dataset = replace(TOY, points=[], regions=[], instants=[], periods=[], asked=[]).write(tmp_path / "city")
    queries = "q4,q5,q10,q16,q19,q20,q22,q23,q25,q26"
    run = berlinmod.run(dataset, tmp_path / "run", queries=queries, representation="tba", runs=1, spark=spark)
    assert [one.table().num_rows for one in run.queries] == [0] * 10


def test_a_group_is_those_who_are_observed(spark: SparkSession, tmp_path: Path) -> None:
    """C comes after 50 seconds; until then D is nearest to A, B and D."""
    histories = [*TOY.histories]
    histories[2] = [(at(50), 500.0, 5.0), (LAST, 500.0, 5.0)]
    dataset = replace(TOY, histories=histories).write(tmp_path / "city")
    run = berlinmod.run(dataset, tmp_path / "run", queries="q25,q26", check=True, runs=1, spark=spark)
    assert {one.query: one.differences for one in run.queries if not one.passed} == {}
    rows = answer(run, "q26", "Group1", "Group2", "Period", "Licence", "begin", "end")
    assert [row[3:] for row in rows if row[2] == R2] == [("C", at(50), at(100)), ("D", at(0), at(50))]
