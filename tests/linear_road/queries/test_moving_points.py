"""Live and old movement in one statement: those of docs/moving-objects.md, on traffic counted by hand.

The expressway is the plane: x is the position in feet, y the lane. Vehicles drive east at 88 feet a second.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import causeway
from causeway.runtime.errors import UserError
from causeway.streaming_tables import Answer, Connection, PullQuery, PushQuery

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GUIDE = Path(__file__).parents[3] / "docs" / "moving-objects.md"
TABLE = """CREATE STREAMING TABLE posreports
    (vid INT, spd INT, xway INT, lane INT, dir INT, seg INT, pos INT) RANGE INTERVAL '1' DAY"""
FOOT_SPEED = 88
SEGMENT_FEET = 5280
CRASH = 212_000
"""Where vehicles 1 and 2 stop in lane 2, in second 630 and in second 660."""


def statements() -> dict[str, str]:
    """The statements of the guide's section, by the comment in their first line."""
    section = GUIDE.read_text().split("\n## Live and old movement\n")[1].split("\n## ")[0]
    blocks = re.findall(r"```sql\n-- (.*?)\n(.*?)```", section, re.DOTALL)
    return dict(blocks)


def report(vid: int, second: int, pos: int, *, lane: int, spd: int = 60, dir: int = 0) -> tuple[int, ...]:
    return vid, spd, 0, lane, dir, pos // SEGMENT_FEET, pos, second


def driven(vid: int, first: int, pos: int, reports: int, *, lane: int, speed: int = FOOT_SPEED) -> list[Any]:
    """Reports every 30 seconds from second `first` on, from `pos` on."""
    return [report(vid, first + 30 * i, pos + 30 * speed * i, lane=lane) for i in range(reports)]


def stopped(vid: int, first: int) -> list[Any]:
    """Comes to the place of the accident in second `first`, and reports from there for two minutes."""
    before = report(vid, first - 30, CRASH - 30 * FOOT_SPEED, lane=2)
    return [before, *(report(vid, first + 30 * i, CRASH, lane=2, spd=0) for i in range(5))]


TRAFFIC = sorted(
    [
        *stopped(1, 630),
        *stopped(2, 660),
        *driven(3, 600, CRASH - 45 * FOOT_SPEED, 3, lane=1),  # passes the place in second 645
        *driven(4, 600, CRASH - 200 * FOOT_SPEED, 3, lane=3),  # is far behind
        *driven(5, 90, CRASH - 15 * FOOT_SPEED, 2, lane=1),  # passes it more than five minutes before
        report(6, 630, CRASH, lane=1, dir=1),  # in the other direction
        report(6, 660, CRASH - 30 * FOOT_SPEED, lane=1, dir=1),
    ],
    key=lambda row: row[-1],
)


@pytest.fixture
def db(tmp_path: Path, spark: SparkSession) -> Iterator[Connection]:
    with causeway.connect(tmp_path / "w", spark=spark) as connection:
        connection.sql(TABLE)
        yield connection
        connection.spark.sql("DROP TABLE IF EXISTS accident")


def append(db: Connection, rows: list[Any]) -> None:
    found = db.append("posreports", rows)
    assert (found.late, found.rejected) == (0, 0)


def rows_of(answer: Answer | PullQuery | PushQuery) -> list[dict[str, Any]]:
    assert not isinstance(answer, PushQuery)
    found: list[dict[str, Any]] = (
        (answer.resume() if isinstance(answer, PullQuery) else answer).to_arrow().to_pylist()
    )
    return found


def test_who_was_near_the_accident(db: Connection) -> None:
    """Rows of the past, in the Delta table, and rows that have just arrived make one movement."""
    asked = statements()
    append(db, [row for row in TRAFFIC if row[-1] < 640])
    db._background.writer("posreports").flush()
    append(db, [row for row in TRAFFIC if row[-1] >= 640])
    db.sql(asked["the accident"])
    assert rows_of(db.sql("SELECT vid1, vid2, pos, lane, since FROM accident")) == [
        {"vid1": 1, "vid2": 2, "pos": CRASH, "lane": 2, "since": 660}
    ]
    (near,) = rows_of(db.sql(asked["who came within 100 feet of it in the five minutes before"]))
    assert near["vid"] == 3
    # One lane beside it, so 99.995 feet along the road.
    seconds = (100**2 - 1) ** 0.5 / FOOT_SPEED
    assert near["from_second"] == pytest.approx(645 - seconds)
    assert near["to_second"] == pytest.approx(645 + seconds)
    # Vehicle 1 stands there already, and vehicle 2 is 1,320 feet behind.
    (beside,) = rows_of(db.sql(asked["who was within 100 feet of one of the two vehicles"]))
    assert (beside["vid"], beside["involved"]) == (3, 1)
    assert beside["feet_driven"] == pytest.approx(2 * seconds * FOOT_SPEED)


def test_the_slowest_tenth_through_a_segment(db: Connection) -> None:
    begin = 40 * SEGMENT_FEET
    rows = []
    for vid in range(20):
        speed = 60 + vid
        rows += driven(vid, 1000, begin - 10 * speed, 6, lane=1, speed=speed)
    rows += driven(90, 100, begin - 100, 8, lane=1, speed=30)  # the slowest, but an hour ago
    rows += driven(91, 1000, begin - 100, 3, lane=1, speed=40)  # has not left the segment
    rows.append(report(92, 3600, 0, lane=1))
    append(db, sorted((row for row in rows if row[-1] < 900), key=lambda row: row[-1]))
    later = [(*row[:-1], row[-1] + 2500) for row in rows if 900 <= row[-1] < 3000]
    append(db, sorted([*later, rows[-1]], key=lambda row: row[-1]))
    query = db.sql(statements()["travel time of the slowest tenth through segment 40, last ten minutes"])
    assert isinstance(query, PullQuery)
    (slowest,) = rows_of(query)
    assert slowest["vehicles"] == 2
    assert slowest["seconds"] == pytest.approx((SEGMENT_FEET / 60 + SEGMENT_FEET / 61) / 2)
    query.kill()


def test_a_trajectory_across_a_restart(tmp_path: Path, spark: SparkSession) -> None:
    asked = statements()["where vehicle 7 has driven"]
    with causeway.connect(tmp_path / "w", spark=spark) as db:
        db.sql(TABLE)
        append(db, driven(7, 0, 1000, 3, lane=1))
    with causeway.connect(tmp_path / "w", spark=spark) as db:
        append(db, [report(7, 90, 1000 + 3 * 2640, lane=2)])
        (path,) = rows_of(db.sql(asked))
    assert path["line"]["x"] == [1000.0, 3640.0, 6280.0, 8920.0]
    assert path["line"]["y"] == [1.0, 1.0, 1.0, 2.0]
    assert path["feet"] == pytest.approx(5280 + (2640**2 + 1) ** 0.5)


def test_a_column_that_is_not_there_is_named(db: Connection) -> None:
    append(db, driven(7, 0, 1000, 2, lane=1))
    with pytest.raises(UserError, match=r"there is no column place; the rows have vid, .*, pos, T"):
        rows_of(db.sql("SELECT moving_point(TRJ(*), 'place', 'lane') FROM posreports"))
