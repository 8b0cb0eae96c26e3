"""Random queries: their size, their place in time, and what the workload says of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.linear_road.queries.kept_run import small_traffic

from causeway.linear_road.queries.check import difference
from causeway.linear_road.queries.statements import ROWS, HistoryQuery, QueryMaker
from causeway.linear_road.queries.workload_truth import TrafficSample, WorkloadTruth
from causeway.linear_road.workload.workload import Workload
from causeway.runtime.errors import UserError


@pytest.fixture(scope="module")
def workload(tmp_path_factory: pytest.TempPathFactory) -> Workload:
    return small_traffic(tmp_path_factory.mktemp("traffic") / "workload")


@pytest.fixture(scope="module")
def truth(workload: Workload) -> WorkloadTruth:
    return WorkloadTruth(workload)


def growing_traffic(rate: int) -> list[TrafficSample]:
    """Reports a second grow to `rate` in three hours; vehicle numbers grow with time."""
    samples = []
    for minute in range(0, 180, 10):
        reports = 60 * rate * (minute + 1) // 180
        vehicles = np.arange(1000 * minute, 1000 * minute + reports, dtype=np.int32)
        samples.append(TrafficSample(minute, reports, vehicles))
    return samples


@pytest.mark.parametrize("rate", [1_700, 17_000])
def test_answers_have_about_as_many_rows_as_asked_for(rate: int) -> None:
    samples = growing_traffic(rate)
    maker = QueryMaker(samples, 5)
    for selectivity in ("high", "medium", "low"):
        for _ in range(50):
            query = maker.query(selectivity, 9_000)
            (first, last), (low, high) = query.seconds, query.vehicles
            assert 0 <= first <= last <= 9_000
            sample = min(samples, key=lambda one: abs(one.minute - (first + last) / 120))
            share = (high - low) / max(len(sample.vehicles), 1)
            traffic = rate * (first + last) / 2 / 10_800 * (last - first + 1)
            if traffic > 8 * ROWS[selectivity]:
                assert 0.6 * ROWS[selectivity] < share * traffic < 1.5 * ROWS[selectivity]


@given(st.integers(0, 20_000), st.integers(0, 1000))
def test_a_query_lies_in_the_past_of_any_moment(newest: int, seed: int) -> None:
    query = QueryMaker(growing_traffic(100), seed).query("low", newest)
    assert 0 <= query.seconds[0] <= query.seconds[1] <= newest
    assert query.vehicles[0] <= query.vehicles[1]


def test_queries_come_at_random_and_as_often_as_asked_for() -> None:
    maker = QueryMaker(growing_traffic(100), 1)
    pauses = np.array([maker.pause(200) for _ in range(5_000)])
    assert pauses.mean() == pytest.approx(0.3, rel=0.05)
    # Of an exponential law, the deviation is the mean.
    assert pauses.std() == pytest.approx(0.3, rel=0.1)


def test_traffic_without_reports_cannot_be_asked_for() -> None:
    with pytest.raises(UserError, match="no position reports"):
        QueryMaker([TrafficSample(0, 0, np.empty(0, np.int32))], 1)


def test_statements() -> None:
    query = HistoryQuery("high", (60, 119), (5, 9))
    assert query.sql("R") == "SELECT * FROM R WHERE T BETWEEN 60 AND 119 AND VID BETWEEN 5 AND 9"
    assert "T + 0 BETWEEN 60 AND 119 AND VID + 0 BETWEEN" in query.sql("R", index=False)


def test_the_truth_is_the_workloads_position_reports(truth: WorkloadTruth) -> None:
    sample = truth.samples()[0]
    assert (sample.minute, sample.reports) == (0, 120)
    assert truth.reports_in(3).tolist() == [2] * 60
    rows = truth.rows((60, 89), (10, 12))
    assert sorted(zip(rows.column("VID").to_pylist(), rows.column("T").to_pylist(), strict=True)) == [
        (10, 70),
        (11, 71),
        (12, 72),
    ]
    assert rows.column_names == ["VID", "SPD", "XWAY", "LANE", "DIR", "SEG", "POS", "T"]


def test_flat_files_say_the_same(truth: WorkloadTruth, workload: Workload, tmp_path: Path) -> None:
    import pyarrow.csv
    import pyarrow.parquet as pq

    flat = Workload(tmp_path / "flat", "imported", "csv", 1.0, 15, 1, {})
    flat.stream.mkdir(parents=True)
    options = pyarrow.csv.WriteOptions(include_header=False)
    pyarrow.csv.write_csv(pq.read_table(workload.parts[0]), flat.stream / "part-00000.csv", options)
    assert WorkloadTruth(flat).rows((0, 500), (3, 20)).equals(truth.rows((0, 500), (3, 20)))


def test_a_wrong_answer_is_told(truth: WorkloadTruth) -> None:
    query = HistoryQuery("high", (60, 119), (5, 9))
    right = truth.rows(query.seconds, query.vehicles)
    shuffled = right.take(pa.array(np.random.default_rng(1).permutation(right.num_rows)))
    assert difference(truth, query, shuffled) is None
    assert "9 rows where the workload has 10" in (difference(truth, query, right.slice(1)) or "")
    doubled = pa.concat_tables([right, right.slice(0, 1)])
    assert "11 rows where the workload has 10" in (difference(truth, query, doubled) or "")
    other = pa.concat_tables([right.slice(1), right.slice(1, 1)])
    assert "a row is" in (difference(truth, query, other) or "")
