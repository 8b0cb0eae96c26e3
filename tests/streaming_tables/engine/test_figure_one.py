"""Figure 1 of the paper: a table, its windows at time 7, and the two kinds of queries."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.streaming_tables.engine.reading import ask, pulled, pushed, tuples

import causeway
from causeway.streaming_tables.engine.connection import Connection

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# (a); the time is last. (b) shows SPD 32 for VID 1, where (a) has 0: (a) holds.
REPORTS = [
    (1, 0, 0, 0, 0, 10, 53320, 0),
    (2, 32, 0, 0, 1, 10, 53320, 1),
    (2, 0, 0, 0, 0, 11, 53320, 3),
    (4, 0, 0, 0, 0, 11, 53320, 4),
    (4, 32, 0, 0, 0, 11, 53320, 6),
]
ONE, TWO_FIRST, TWO, FOUR_FIRST, FOUR = REPORTS


@pytest.fixture(scope="module")
def figure(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Iterator[Connection]:
    with causeway.connect(tmp_path_factory.mktemp("figure") / "w", spark=spark) as db:
        db.sql(
            "CREATE STREAMING TABLE POSREPORTS (VID INT, SPD INT, XWAY INT, LANE INT, DIR INT, SEG INT, "
            "POS INT) RANGE INTERVAL '2' WEEK"
        )
        db.append("posreports", REPORTS)
        yield db


def test_the_table_is_figure_1a(figure: Connection) -> None:
    assert sorted(ask(figure, "SELECT * FROM posreports"), key=lambda row: row[-1]) == REPORTS


# Time 7 without a report at time 7: a report of another vehicle is left out of the answers.
@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ("[INTERVAL 3]", [FOUR, FOUR_FIRST]),
        ("[ROWS 3]", [FOUR, FOUR_FIRST, TWO]),
        ("[VID ROWS 1]", [FOUR, TWO, ONE]),
    ],
)
def test_the_windows_at_time_7_are_figure_1b(
    tmp_path: Path, spark: SparkSession, window: str, expected: list[tuple[int, ...]]
) -> None:
    with causeway.connect(tmp_path / "w", spark=spark) as db:
        db.sql(
            "CREATE STREAMING TABLE POSREPORTS (VID INT, SPD INT, XWAY INT, LANE INT, DIR INT, SEG INT, "
            "POS INT) RANGE INTERVAL '2' WEEK"
        )
        db.append("POSREPORTS", REPORTS)
        # A tick is over when a newer row has come, so time 8 lets time 7 be answered.
        db.append("POSREPORTS", [(9, 99, 0, 0, 0, 99, 0, 8)])
        query = pushed(
            db, f"SELECT VID, SPD, XWAY, LANE, DIR, SEG, POS FROM POSREPORTS {window} SAMPLE INTERVAL 7"
        )
        tick, rows = next(query)
        query.kill()
        assert tick == 7
        # Definition 2: in decreasing order of T.
        assert sorted(tuples(rows)) == sorted(row[:-1] for row in expected)


def test_the_windows_are_in_decreasing_order_of_time(figure: Connection) -> None:
    assert tuples(pulled(figure, "SELECT * FROM posreports [WINDOW ROWS 3]").to_arrow()) == [
        FOUR,
        FOUR_FIRST,
        TWO,
    ]


def test_stopped_cars_once_are_figure_1c(figure: Connection) -> None:
    stopped = ask(figure, "SELECT * FROM posreports WHERE SPD = 0")
    assert sorted(stopped) == [ONE, TWO, FOUR_FIRST]


def test_stopped_cars_every_2_instants_are_figure_1c(figure: Connection) -> None:
    figure.sql(
        "CREATE VIEW stopped RANGE INTERVAL 2 AS "
        "(SELECT * FROM posreports [INTERVAL 4] WHERE SPD = 0 SAMPLE INTERVAL 2)"
    )
    # The answers at times 5 and 7 are those of the last ticks, 4 and 6. At 4 the period is (2, 4].
    figure.append("posreports", [(9, 99, 0, 0, 0, 99, 0, 7)])
    figure.sql("WAIT FOR stopped")
    last = ask(figure, "SELECT * FROM stopped")
    assert sorted(last) == [(*TWO[:-1], 6), (*FOUR_FIRST[:-1], 6)]
    query = pushed(figure, "SELECT * FROM posreports [INTERVAL 4] WHERE SPD = 0 SAMPLE INTERVAL 2")
    query._after = None
    found = {tick: sorted(tuples(rows)) for tick, rows in (next(query) for _ in range(4))}
    query.kill()
    assert found == {
        0: [ONE],
        2: [ONE],
        4: [ONE, TWO, FOUR_FIRST],
        6: [TWO, FOUR_FIRST],
    }
