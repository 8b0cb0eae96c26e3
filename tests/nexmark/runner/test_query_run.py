"""Whole runs: what they measure and leave, what they refuse, and that a crash changes no answer."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.command_process import CommandProcess

from causeway import nexmark
from causeway.nexmark.events.dataset import write_dataset
from causeway.nexmark.generator.firehose import Firehose
from causeway.nexmark.judge.check import check_answers
from causeway.nexmark.queries import find_query
from causeway.nexmark.queries.answers import AnswerSink
from causeway.nexmark.runner import query_run
from causeway.nexmark.runner.answering import CHECKPOINT, Reading, answered_slices, answering
from causeway.nexmark.runner.query_run import run_query
from causeway.runtime.cpu_time import CpuMeter
from causeway.runtime.errors import UserError
from causeway.runtime.lock import FolderLock
from causeway.streaming.watch import QueryWatch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("events") / "modern"
    write_dataset(Firehose("modern", events=60_000, rate=2_000), folder, slice_events=3_000)
    return folder


def result(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "result.json").read_text())
    return found


@pytest.mark.starts_spark
def test_killed_and_resumed_on_other_cores_it_gives_the_same_answers(tmp_path: Path) -> None:
    """The batch statements do not know of the crashes. The state's shards are those of the first start."""
    run, events = tmp_path / "run", tmp_path / "events"
    write_dataset(Firehose("modern", events=20_000, rate=700), events, slice_events=1_000)
    new = ("nexmark", "run", "--source", events, "--query", "q9,q11", "--check", "--out", run)
    resumed = ("nexmark", "run", "--out", run, "--resume")

    def answered(query: str) -> bool:
        return any((run / query / "answers").glob("batch-*.json"))

    def is_begun(query: str) -> bool:
        return any((run / query / "checkpoint" / "offsets").glob("[0-9]*"))

    with CommandProcess(run, *new, "--master", "local[2]") as attempt:
        attempt.wait_for(lambda: answered("q9"))
        attempt.kill(0.3)
    with CommandProcess(run, *resumed, "--master", "local[3]") as attempt:
        attempt.wait_for(lambda: is_begun("q11"))
        attempt.kill(0.5)
    with CommandProcess(run, *resumed, "--master", "local[2]") as attempt:
        assert attempt.end() == 0, attempt.output
    facts = result(run)
    assert facts["state"] == "finished"
    assert [one["query"] for one in facts["queries"]] == ["q9", "q11"]
    for one, shards in zip(facts["queries"], (2, 3), strict=True):
        assert one["check"]["passed"], one["check"]["differences"]
        assert one["check"]["rows"] > 100
        assert one["reading"]["shards"] == shards
    assert (run / "report.html").stat().st_size > 10_000
    assert (run / "log.txt").exists()
    assert not (run / "q9" / "checkpoint").exists()


@pytest.mark.slow
@pytest.mark.starts_spark
@pytest.mark.parametrize("disorder", [0.0, 0.5])
def test_the_spark_engine_killed_and_resumed_gives_the_same_answers(tmp_path: Path, disorder: float) -> None:
    """Spark's own source, operators and processors, each killed within a batch."""
    run, events = tmp_path / "run", tmp_path / "events"
    write_dataset(Firehose("modern", events=10_000, rate=350, disorder=disorder), events, slice_events=500)
    names = ("q0", "q5", "q9", "q20")
    new = ("nexmark", "run", "--engine", "spark", "--source", events, "--query", ",".join(names), "--check")

    def is_begun(query: str) -> bool:
        return any((run / query / "checkpoint" / "offsets").glob("[0-9]*"))

    for attempt_number, name in enumerate(names):
        command = (*new, "--out", run) if not attempt_number else ("nexmark", "run", "--out", run, "--resume")
        with CommandProcess(run, *command, "--master", "local[2]") as attempt:
            attempt.wait_for(lambda name=name: is_begun(name))
            attempt.kill(0.5)
    with CommandProcess(run, "nexmark", "run", "--out", run, "--resume", "--master", "local[2]") as attempt:
        assert attempt.end() == 0, attempt.output
    facts = result(run)
    assert (facts["state"], facts["engine"]) == ("finished", "spark")
    for one in facts["queries"]:
        assert one["check"]["passed"], one["check"]["differences"]
        assert one["check"]["rows"] > 10
        assert not (run / one["query"] / "input").exists()


def test_a_resumed_query_keeps_its_shards_and_measures_what_it_answers_since(
    spark: SparkSession, events: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first attempt had three shards; this session would have two."""
    query = find_query("modern", "q9")
    first = Reading(limit=8, tasks=3, shards=3, delay=0)
    (tmp_path / "reading.json").write_text(json.dumps(vars(first)))
    sink = AnswerSink(tmp_path / "answers", tmp_path / CHECKPOINT)
    with monkeypatch.context() as session:
        session.setattr("causeway.spark.settings.users_settings", lambda *_: {})
        with answering(spark, query, events, tmp_path, sink, first) as at_work:
            QueryWatch(at_work, "slice").wait_until(lambda: answered_slices(tmp_path / CHECKPOINT) > 0)
    before = answered_slices(tmp_path / CHECKPOINT)
    assert 0 < before < 20
    with pytest.raises(UserError, match="the run was begun with 3 shards"):
        run_query(spark, query, events, tmp_path, check=True, log=None)
    with monkeypatch.context() as session:
        session.setattr("causeway.spark.settings.users_settings", lambda *_: {})
        facts = run_query(spark, query, events, tmp_path, check=True, log=None)
    assert facts["check"]["passed"], facts["check"]["differences"]
    assert facts["reading"] == vars(first)
    assert facts["resumed"]
    auctions_and_bids = 49 * 60
    assert facts["events"] == 20 * auctions_and_bids
    assert facts["measured_events"] == (20 - before) * auctions_and_bids


def test_the_measured_time_is_from_planning_to_the_last_answer_and_cpu_is_read_once_a_batch(
    spark: SparkSession, events: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = []
    read = CpuMeter.read
    monkeypatch.setattr(CpuMeter, "read", lambda meter: (reads.append(1), read(meter))[1])
    query = find_query("modern", "q11", engine="spark")
    facts = run_query(spark, query, events, tmp_path, check=False, log=None)
    batches = facts["batches"]
    # In plain Spark, the sessions that the end closes are in a batch without input, after the last one.
    assert batches[-1]["slices"] == batches[-2]["slices"] == 21
    last_rows = sum(
        pq.read_metadata(path).num_rows
        for path in (tmp_path / "answers" / f"batch-{batches[-1]['batch']:09d}.parquet").glob("*.parquet")
    )
    assert last_rows > 0
    assert facts["started"] + facts["seconds"] == pytest.approx(batches[-1]["readable"], abs=0.002)
    assert facts["started"] < batches[0]["began"]
    assert len(reads) <= len(batches) + 2


@pytest.mark.parametrize("engine", ["columnar", "spark"])
def test_lines_that_are_no_events_are_counted_and_kept(
    spark: SparkSession, tmp_path: Path, engine: str
) -> None:
    source, run = tmp_path / "events", tmp_path / "run"
    write_dataset(Firehose("modern", events=2_000, rate=100), source, file_format="json", slice_events=1_000)
    file = source / "bid" / "000001.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join([*lines[:5], "{broken\n", *lines[5:], '{"auction": 1}\n']))
    one = nexmark.run(run, source=source, queries="q2", engine=engine, check=True, spark=spark)["q2"]
    assert one.check is not None and one.check.passed, one.check
    assert (one.malformed, one.late) == (2, 0)
    kept = (run / "q2" / "rejects" / "bid-000001.jsonl").read_text().splitlines()
    assert [json.loads(line)["line"] for line in kept] == [6, len(lines) + 2]
    assert json.loads(kept[0])["file"] == str(file.resolve())
    assert one.events == 1840 + 2
    assert one.events_per_second is not None and one.events_per_second > 0
    assert one.facts["cpu_seconds"] > 0


START = 1_436_918_400_000
DAY = 86_400_000


def _bids(times: Iterable[int]) -> list[dict[str, Any]]:
    return [
        {"event_type": 2, "bid": {"auction": at % 7, "bidder": at % 5, "price": 100 + at, "dateTime": time}}
        for at, time in enumerate(times)
    ]


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.parametrize("name", ["q5", "q7", "q11", "q17", "q18"])
def test_late_events_are_counted_and_kept(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Kernels that combine events before they travel, and Spark's own watermark, count them event by event.

    The second file has events of two days before among its own; the first has another stream's as well.
    """
    monkeypatch.setattr(query_run, "_BATCH_EVENTS", 1)
    person = {"event_type": 0, "person": {"id": 1, "name": "n", "dateTime": START}}
    first = _bids(range(START, START + 60_000, 500))
    second = _bids(range(START + 60_000, START + 90_000, 500))
    late = _bids(range(START - 2 * DAY, START - 2 * DAY + 10_000, 250))
    _write(tmp_path / "events" / "events-1.jsonl", [person, *first, person])
    _write(tmp_path / "events" / "events-2.jsonl", [*second[:30], *late, *second[30:]])
    _write(tmp_path / "in-time" / "events-1.jsonl", [person, *first, person])
    _write(tmp_path / "in-time" / "events-2.jsonl", second)
    run = tmp_path / "run"
    one = nexmark.run(run, source=tmp_path / "events", queries=name, spark=spark)[name]
    assert one.late == len(late) == 40
    assert one.events == len(first) + len(second) + len(late)
    kept = pa.concat_tables(pq.read_table(path) for path in (run / name / "rejects").glob("late-bid-*"))
    times = Counter(kept.column("dateTime").cast(pa.int64()).to_pylist())
    assert times == Counter(bid["bid"]["dateTime"] for bid in late)
    checked = check_answers(spark, find_query("modern", name), tmp_path / "in-time", one.answers)
    assert checked.passed, checked.differences


def test_at_a_rate_there_are_latencies(spark: SparkSession, tmp_path: Path) -> None:
    run = tmp_path / "run"
    done = nexmark.run(run, queries=["q5"], check=True, rate=1_000, duration=14, warm_up=2, spark=spark)
    one = done["q5"]
    assert done.passed and one.check is not None and one.check.rows > 0
    latency = one.latency
    assert latency is not None
    assert one.facts["latency"]["slices"] == 120
    assert 0 < latency.min <= latency.mean <= latency.max
    assert latency.p50 <= latency.p95 <= latency.p99 <= latency.max
    assert one.facts["firehose"]["slices"] == 140
    assert one.output_matching is not None and 0 <= one.output_matching <= 1
    assert not (run / "q5" / "spool").exists()
    assert done.report.exists()


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"source": "/nowhere"}, "is no folder"),
        ({"queries": "q99"}, "there is no query 'q99'"),
        ({"queries": "q1", "rules": "storm"}, "there are no rules 'storm'"),
        ({"duration": 10, "warm_up": 10}, "leaves nothing of 10 s"),
    ],
)
def test_what_cannot_be_run_is_refused(tmp_path: Path, settings: dict[str, Any], reason: str) -> None:
    with pytest.raises(UserError, match=reason) as refused:
        nexmark.run(tmp_path / "run", **settings)
    assert "--" not in str(refused.value)
    assert not (tmp_path / "run").exists()


def test_a_used_folder_is_refused_and_only_a_run_is_resumed(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("")
    with pytest.raises(UserError, match="is not empty"):
        nexmark.run(tmp_path, queries="q1")
    with pytest.raises(UserError, match="is not a run"):
        nexmark.run(tmp_path, resume=True)
    (tmp_path / "result.json").write_text("{}")
    with pytest.raises(UserError, match="layout None"):
        nexmark.run(tmp_path, resume=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "result.json"]


class TestResume:
    """A run that was begun and broken off before its first query."""

    @pytest.fixture
    def run(self, tmp_path: Path) -> Path:
        def broken_off(log: Path | None) -> Any:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            nexmark.run(tmp_path / "run", queries="q2", rules="flink", rate=500, open_session=broken_off)
        return tmp_path / "run"

    @pytest.mark.parametrize(
        ("requested", "reason"),
        [
            ({"rate": 600}, "was begun with rate 500; it cannot be resumed with 600"),
            ({"queries": "q3"}, "was begun with queries 'q2'"),
            ({"rules": "beam"}, "was begun with rules 'flink'"),
            ({"seed": 2}, "was begun with seed 1"),
            ({"check": True}, "was begun with check False"),
            ({"source": "."}, "was begun with source None"),
        ],
    )
    def test_settings_that_disagree_are_refused(
        self, run: Path, requested: dict[str, Any], reason: str
    ) -> None:
        with pytest.raises(UserError, match=reason):
            nexmark.run(run, resume=True, **requested)

    def test_settings_that_agree_are_no_mistake(self, run: Path) -> None:
        class OpenedError(Exception):
            pass

        def opened(log: Path | None) -> Any:
            assert log == run / "log.txt"
            raise OpenedError

        with pytest.raises(OpenedError):
            nexmark.run(run, resume=True, rate=500, queries="q2", rules="flink", open_session=opened)

    def test_one_process_at_a_time(self, run: Path) -> None:
        with FolderLock(run, "another run"), pytest.raises(UserError, match=r"in use by .*another run"):
            nexmark.run(run, resume=True)

    def test_a_finished_run_is_not_resumed(self, run: Path) -> None:
        (run / "result.json").write_text(json.dumps(result(run) | {"state": "finished"}))
        with pytest.raises(UserError, match="is finished"):
            nexmark.run(run, resume=True)
