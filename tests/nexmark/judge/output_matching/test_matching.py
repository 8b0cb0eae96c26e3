"""The ideal texts against the batch statements, and Output Matching of answers whose delays are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from causeway.nexmark.events.firehose_process import FirehoseClock, begin_spool
from causeway.nexmark.events.slices import release_slices
from causeway.nexmark.generator.firehose import Firehose
from causeway.nexmark.judge.batch import batch_answer
from causeway.nexmark.judge.check import register_tables
from causeway.nexmark.judge.output_matching import output_matching
from causeway.nexmark.judge.output_matching.ideal import DISTANCES, find_ideal
from causeway.nexmark.judge.output_matching.matching import ideal_timeline, our_timeline
from causeway.nexmark.model import MODELS
from causeway.nexmark.queries import find_query, query_names
from causeway.streaming.delivery import SpoolControl
from causeway.streaming.sink import BatchFolder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FIREHOSES = {
    "modern": Firehose("modern", events=4000, rate=50),
    "paper": Firehose("paper", events=6000, rate=0.1),
}
SLICES = 4
INTERVAL = 10.0
STARTED = 1_700_000_000.0
NEVER = 1 << 60
EVERY = [(model, name) for model in FIREHOSES for name in query_names(model)]


@pytest.fixture(scope="module", params=["modern", "paper"])
def model(request: pytest.FixtureRequest, spark: SparkSession, spools: dict[str, Path]) -> str:
    """A model whose events are views, read once for all queries."""
    name: str = request.param
    register_tables(spark, name, spools[name])
    for stream in MODELS[name].streams:
        spark.createDataFrame(spark.table(stream).toArrow()).createOrReplaceTempView(stream)
    return name


@pytest.fixture(scope="module")
def spools(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """What a firehose of each model has released, with its clock."""
    found = {}
    for name, firehose in FIREHOSES.items():
        spool = tmp_path_factory.mktemp(name)
        begin_spool(spool, firehose)
        size = firehose.events // SLICES
        for number in range(SLICES):
            for stream, table in firehose.deliver(number * size, (number + 1) * size).items():
                pq.write_table(table, spool / stream / f"{number:06d}.parquet")
        release_slices(spool, SLICES)
        SpoolControl(spool).save("finished", slices=SLICES)
        found[name] = spool
    return found


def clock_of(model: str) -> FirehoseClock:
    firehose = FIREHOSES[model]
    size = firehose.events // SLICES
    return FirehoseClock(
        STARTED, INTERVAL, size, SLICES, firehose.first_time, 1000 * size / INTERVAL / firehose.rate
    )


def write_batch(answers: Path, number: int, second: float, rows: pa.Table) -> None:
    batches = BatchFolder(answers)
    folder = batches.begin(number)
    folder.mkdir()
    columns = [
        column.cast(pa.timestamp("us", tz="UTC")) if pa.types.is_timestamp(column.type) else column
        for column in rows.columns
    ]
    pq.write_table(pa.table(columns, names=rows.column_names), folder / "part-0.parquet")
    times = {"began": STARTED + second - 0.1, "readable": STARTED + second}
    batches.finish(number, {"batch": number, "slices": 0} | times)


def matched(spark: SparkSession, spools: dict[str, Path], name: str, answers: Path, **settings: Any) -> Any:
    facts = output_matching(
        spark,
        find_query("modern", name),
        spools["modern"],
        answers,
        clock_of("modern"),
        settings.get("warm_up", 0.0),
    )
    json.dumps(facts)
    return facts


@pytest.mark.parametrize(("of", "name"), EVERY)
def test_every_query_has_a_text(of: str, name: str) -> None:
    ideal = find_ideal(find_query(of, name))
    assert ideal.distance in DISTANCES
    assert ideal.unit
    assert len(ideal.words) > 20
    assert ("value" in ideal.ours) == (ideal.distance == "value" or (of, name) == ("modern", "q18"))
    assert ("newest" in ideal.ours) >= (ideal.distance == "set")


def test_in_the_end_the_ideal_system_has_told_the_batch_statements_answer(
    spark: SparkSession, model: str, tmp_path: Path
) -> None:
    for name in query_names(model):
        ideal = find_ideal(find_query(model, name))
        timeline = ideal_timeline(spark, ideal, NEVER)
        expected = batch_answer(spark, model, name, "ours").toArrow()
        if (model, name) == ("modern", "q12"):
            expected = expected.append_column("starttime", pa.array([0] * expected.num_rows))
        if (model, name) != ("paper", "q3"):
            assert expected.num_rows, name
        if not ideal.ours:
            assert (pc.sum(timeline.column("value")).as_py() or 0) == expected.num_rows, name
            continue
        write_batch(tmp_path / name, 0, 0.0, expected)
        found = our_timeline(spark, ideal, tmp_path / name, {0: 0.0})
        in_order = timeline.sort_by("time")
        told = dict(zip(in_order["key"].to_pylist(), in_order["value"].to_pylist(), strict=True))
        if ideal.distance == "set":
            last = pc.max(timeline["time"])
            told = dict.fromkeys(timeline.filter(pc.equal(timeline["time"], last))["key"].to_pylist(), 0.0)
        assert dict(zip(found["key"].to_pylist(), found["value"].to_pylist(), strict=True)) == told, name


def test_bids_that_come_late(spark: SparkSession, spools: dict[str, Path], tmp_path: Path) -> None:
    """Each slice's bids are told two seconds after its end; 46 of 50 events are bids."""
    size = FIREHOSES["modern"].events // SLICES
    for number in range(SLICES):
        bids = FIREHOSES["modern"].deliver(number * size, (number + 1) * size)["bid"]
        write_batch(tmp_path, number, (number + 1) * INTERVAL + 2, bids)
    facts = matched(spark, spools, "q0", tmp_path, warm_up=INTERVAL + 2)
    # Behind by the bids of two seconds just after a batch, by those of twelve just before the next.
    second = np.arange(12, 40, 0.01) + 0.005
    behind = second - 10 * np.floor((second - 2) / 10)
    assert facts["metric"] == pytest.approx(46 / 50 * size / INTERVAL * behind.mean(), rel=0.01)
    assert facts["unit"] == "bids"
    assert (facts["from_second"], facts["to_second"]) == (12, 40)
    assert facts["timeline"]["ours"]["seconds"] == [12, 22, 32]
    assert len(facts["timeline"]["ideal"]["seconds"]) <= 500


def test_ideal_answers_have_no_distance(spark: SparkSession, spools: dict[str, Path], tmp_path: Path) -> None:
    """Every hot set at its window's end; a set that comes with an older one is the one that counts."""
    register_tables(spark, "modern", spools["modern"])
    hot = batch_answer(spark, "modern", "q5", "ours").toArrow().sort_by("endtime")
    ends = pc.unique(hot["endtime"])
    before = hot.slice(0, 0)
    for number, end in enumerate(ends):
        new = hot.filter(pc.equal(hot["endtime"], end))
        second = clock_of("modern").wall(end.cast(pa.int64()).as_py() / 1000) - STARTED
        write_batch(tmp_path, number, second, pa.concat_tables([before, new]))
        before = new
    facts = matched(spark, spools, "q5", tmp_path)
    assert facts["metric"] == pytest.approx(0, abs=1e-6)
    assert facts["distance"] == "set"


def test_no_answers_at_all(spark: SparkSession, spools: dict[str, Path], tmp_path: Path) -> None:
    assert matched(spark, spools, "q5", tmp_path, warm_up=20.0)["metric"] == 1
    facts = matched(spark, spools, "q15", tmp_path)
    assert facts["timeline"]["of"] == "2015-07-15"
    assert facts["metric"] == pytest.approx(46 / 50 * FIREHOSES["modern"].events / 2, rel=0.01)


def test_windows_of_the_clock_are_summed_by_bidder(spark: SparkSession, tmp_path: Path) -> None:
    """An update replaces what was told of its window, and leaves the bidder's other windows."""
    columns = ["bidder", "starttime", "bid_count"]
    write_batch(tmp_path, 0, 1.0, pa.table([[1, 2], [0, 0], [3, 1]], names=columns))
    write_batch(tmp_path, 1, 2.0, pa.table([[1, 1], [0, 10], [4, 2]], names=columns))
    write_batch(tmp_path, 2, 3.0, pa.table([[1], [10], [5]], names=columns))
    found = our_timeline(spark, find_ideal(find_query("modern", "q12")), tmp_path, {0: 1.0, 1: 2.0, 2: 3.0})
    rows = sorted(zip(*(found[name].to_pylist() for name in ("batch", "key", "value")), strict=True))
    assert rows == [(0, "bidder 1", 3), (0, "bidder 2", 1), (1, "bidder 1", 6), (2, "bidder 1", 9)]
