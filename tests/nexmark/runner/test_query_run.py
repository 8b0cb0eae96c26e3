"""Whole runs: what they measure and leave, what they refuse, and that a crash changes no answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.command_process import CommandProcess

from causeway.nexmark.events.dataset import write_dataset
from causeway.nexmark.generator.firehose import Firehose
from causeway.nexmark.runner.run_all import RunSettings, begin_run, run_all
from causeway.runtime.errors import UserError

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
def test_killed_and_resumed_it_gives_the_same_answers(events: Path, tmp_path: Path) -> None:
    """The batch statements do not know of the crashes."""
    run = tmp_path / "run"
    new = ("nexmark", "run", "--source", events, "--query", "q9,q11", "--check", "--out", run)
    resumed = ("nexmark", "run", "--out", run, "--resume")

    def answered(query: str) -> bool:
        return any((run / query / "answers").glob("batch-*.json"))

    def is_begun(query: str) -> bool:
        return any((run / query / "checkpoint" / "offsets").glob("[0-9]*"))

    with CommandProcess(run, *new, "--master", "local[2]") as attempt:
        attempt.wait_for(lambda: answered("q9"))
        attempt.kill(0.3)
    with CommandProcess(run, *resumed, "--master", "local[2]") as attempt:
        attempt.wait_for(lambda: is_begun("q11"))
        attempt.kill(0.5)
    with CommandProcess(run, *resumed, "--master", "local[2]") as attempt:
        assert attempt.end() == 0, attempt.told
    facts = result(run)
    assert facts["state"] == "finished"
    assert [one["query"] for one in facts["queries"]] == ["q9", "q11"]
    for one in facts["queries"]:
        assert one["check"]["passed"], one["check"]["differences"]
        assert one["check"]["rows"] > 100
    assert (run / "report.html").stat().st_size > 10_000
    assert not (run / "q9" / "checkpoint").exists()


def test_lines_that_are_no_events_are_counted_and_kept(spark: SparkSession, tmp_path: Path) -> None:
    source, run = tmp_path / "events", tmp_path / "run"
    write_dataset(Firehose("modern", events=2_000, rate=100), source, file_format="json", slice_events=1_000)
    file = source / "bid" / "000001.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join([*lines[:5], "{broken\n", *lines[5:], '{"auction": 1}\n']))
    settings = begin_run(run, RunSettings(str(source), queries="q2", check=True), resume=False)
    (one,) = run_all(spark, run, settings)["queries"]
    assert one["check"]["passed"], one["check"]["differences"]
    assert one["rejects"] == {"malformed": 2, "late": 0}
    kept = (run / "q2" / "rejects" / "bid-000001.jsonl").read_text().splitlines()
    assert [json.loads(line)["line"] for line in kept] == [6, len(lines) + 2]
    assert json.loads(kept[0])["file"] == str(file.resolve())
    assert one["events"] == 1840 + 2
    assert one["events_per_second"] > 0
    assert one["cpu_seconds"] > 0


def test_at_a_rate_there_are_latencies(spark: SparkSession, tmp_path: Path) -> None:
    settings = RunSettings(None, "modern", "q5", check=True, rate=1_000, duration=14, warm_up=2)
    run = tmp_path / "run"
    (one,) = run_all(spark, run, begin_run(run, settings, resume=False))["queries"]
    assert one["check"]["passed"], one["check"]["differences"]
    latency = one["latency"]
    assert latency["slices"] == 120
    assert 0 < latency["min"] <= latency["mean"] <= latency["max"]
    assert latency["p50"] <= latency["p95"] <= latency["p99"] <= latency["max"]
    assert one["firehose"]["slices"] == 140
    assert 0 <= one["output_matching"]["metric"] <= 1
    assert not (run / "q5" / "spool").exists()


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (RunSettings("/nowhere"), "is no folder"),
        (RunSettings(None, queries="q99"), "there is no query 'q99'"),
        (RunSettings(None, queries="q1", rules="storm"), "there are no rules 'storm'"),
    ],
)
def test_what_cannot_be_run_is_refused(tmp_path: Path, settings: RunSettings, reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        begin_run(tmp_path / "run", settings, resume=False)
    assert not (tmp_path / "run").exists()


def test_a_used_folder_is_refused_and_only_a_run_is_resumed(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("")
    with pytest.raises(UserError):
        begin_run(tmp_path, RunSettings(None, queries="q1"), resume=False)
    with pytest.raises(UserError, match="has no run to resume"):
        begin_run(tmp_path, RunSettings(None), resume=True)
    (tmp_path / "result.json").write_text("{}")
    with pytest.raises(UserError, match="is not what a run leaves"):
        begin_run(tmp_path, RunSettings(None), resume=True)
