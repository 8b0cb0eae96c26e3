"""OTQ-1, OTQ-2 and CQ-3 of the Streaming Tables paper (section II) on a run's history, by a second process'
means: a connection to the warehouse of the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from tests.linear_road.queries.kept_run import TABLE, kept_run, small_traffic

from causeway.linear_road.queries.workload_truth import WorkloadTruth
from causeway.linear_road.workload.workload import Workload
from causeway.streaming_tables import Answer, Connection, PushQuery, connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def workload(tmp_path_factory: pytest.TempPathFactory) -> Workload:
    return small_traffic(tmp_path_factory.mktemp("traffic") / "workload")


@pytest.fixture(scope="module")
def connection(
    workload: Workload, tmp_path_factory: pytest.TempPathFactory, spark: SparkSession
) -> Iterator[Connection]:
    run = tmp_path_factory.mktemp("kept") / "run"
    store = kept_run(run, workload)
    with store.writer("test") as writer:
        writer.close_time()
    with connect(run / "warehouse", spark) as opened:
        yield opened


def rows_of(connection: Connection, text: str) -> list[dict[str, object]]:
    answer = connection.sql(text)
    assert isinstance(answer, Answer)
    rows: list[dict[str, object]] = answer.to_arrow().to_pylist()
    return rows


def reports(workload: Workload) -> list[dict[str, int]]:
    found: list[dict[str, int]] = WorkloadTruth(workload).rows((0, 10_000), (0, 10_000)).to_pylist()
    return found


def test_otq_1_the_dynamics_of_an_accident(connection: Connection, workload: Workload) -> None:
    connection.sql("CREATE TABLE IF NOT EXISTS involvedvids AS SELECT EXPLODE(ARRAY(7, 19)) AS VID")
    found = rows_of(
        connection,
        f"""SELECT P1.VID, TRJ(*) AS path FROM {TABLE} P1, involvedvids IV WHERE P1.VID = IV.VID
            AND VALID(P1) OVERLAPS (NOW() - INTERVAL '10' MINUTE, NOW() - INTERVAL '5' MINUTE)
            GROUP BY P1.VID""",
    )
    now = max(row["T"] for row in reports(workload))
    for vid in (7, 19):
        expected = sorted(
            (row for row in reports(workload) if row["VID"] == vid and now - 600 <= row["T"] <= now - 300),
            key=lambda row: row["T"],
        )
        assert [row["path"] for row in found if row["VID"] == vid] == [expected]


def test_otq_2_possible_witnesses(connection: Connection, workload: Workload) -> None:
    found = rows_of(
        connection,
        f"SELECT DISTINCT VID FROM {TABLE} P WHERE XWAY = 1 AND NEAR(SEG, 40) "
        "AND VALID(P) OVERLAPS (300, 700)",
    )
    expected = {
        row["VID"]
        for row in reports(workload)
        if row["XWAY"] == 1 and 39 <= row["SEG"] <= 41 and 300 <= row["T"] <= 700
    }
    assert {row["VID"] for row in found} == expected != set()


def test_cq_3_critical_segments(connection: Connection, workload: Workload) -> None:
    """The statistics of listed segments only, every minute."""
    connection.sql("CREATE TABLE IF NOT EXISTS criticalsegs AS SELECT EXPLODE(ARRAY(40, 41, 42)) AS SEG")
    query = connection.sql(
        f"""SELECT S.XWAY, S.DIR, S.SEG, COUNT(*) AS CNT, AVG(S.SPD) AS AVGSPEED
            FROM {TABLE} S [WINDOW INTERVAL '1' MINUTE], criticalsegs CS WHERE S.SEG = CS.SEG
            GROUP BY S.XWAY, S.DIR, S.SEG SAMPLE INTERVAL '1' MINUTE"""
    )
    assert isinstance(query, PushQuery)
    tick, rows = next(query)
    query.kill()
    inside = [row for row in reports(workload) if tick - 60 <= row["T"] <= tick and 40 <= row["SEG"] <= 42]
    assert isinstance(rows, pa.Table)
    found = {(row["XWAY"], row["DIR"], row["SEG"]): (row["CNT"], row["AVGSPEED"]) for row in rows.to_pylist()}
    expected: dict[tuple[int, int, int], list[int]] = {}
    for row in inside:
        expected.setdefault((row["XWAY"], row["DIR"], row["SEG"]), []).append(row["SPD"])
    assert found == {key: (len(speeds), sum(speeds) / len(speeds)) for key, speeds in expected.items()}
