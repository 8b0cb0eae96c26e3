"""Queries that are run several times: medians, what is kept of each round, and that a resumed run goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.nexmark.report.made_result import steady, throughput

from causeway import nexmark
from causeway.nexmark.events.dataset import write_dataset
from causeway.nexmark.generator.firehose import Firehose
from causeway.nexmark.runner.rounds import run_rounds, with_rounds

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def at(rate: float | None) -> dict[str, Any]:
    return throughput("q5") | {"events_per_second": rate}


def test_rounds_have_medians_and_keep_their_figures() -> None:
    facts = with_rounds([at(100), at(400), at(200)])
    assert facts["events_per_second"] == 200
    assert facts["query"] == "q5"
    assert [one["events_per_second"] for one in facts["rounds"]] == [100, 400, 200]


def test_one_round_stays_as_it_is() -> None:
    assert with_rounds([at(100)]) == at(100)


def test_a_figure_that_a_round_lacks_is_the_median_of_the_others() -> None:
    """The rate of a round that was resumed after its last batch is not known."""
    assert with_rounds([at(None), at(300), at(100)])["events_per_second"] == 200
    assert with_rounds([at(None), at(None)])["events_per_second"] is None


def test_rounds_at_a_rate_have_the_medians_of_latencies() -> None:
    slow, fast = steady("q5"), steady("q5")
    fast["latency"] = slow["latency"] | {"p50": 0.125}
    facts = with_rounds([slow, fast])
    assert facts["latency"]["p50"] == pytest.approx((1.125 + 0.125) / 2)
    assert facts["latency"]["p99"] == 1.55


def test_later_rounds_have_folders_of_their_own_and_leave_their_figures(tmp_path: Path) -> None:
    begun: list[tuple[str, bool]] = []

    def run(folder: Path, first: bool) -> dict[str, Any]:
        kept = folder / "result.json"
        if not kept.exists():
            begun.append((str(folder.relative_to(tmp_path)), first))
            if len(begun) == 3:
                raise KeyboardInterrupt
            (folder / "answers").mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps(at(100 * len(begun))))
        facts: dict[str, Any] = json.loads(kept.read_text())
        return facts

    with pytest.raises(KeyboardInterrupt):
        run_rounds(3, tmp_path / "q5", run)
    facts = run_rounds(3, tmp_path / "q5", run)
    assert begun == [("q5", True), ("q5/rounds/2", False), ("q5/rounds/3", False), ("q5/rounds/3", False)]
    assert [one["events_per_second"] for one in facts["rounds"]] == [100, 200, 400]
    assert (tmp_path / "q5" / "answers").is_dir()
    assert not (tmp_path / "q5" / "rounds" / "2" / "answers").exists()


def test_a_run_of_two_rounds(spark: SparkSession, tmp_path: Path) -> None:
    write_dataset(Firehose("modern", events=2_000, rate=100), tmp_path / "events", slice_events=500)
    result = nexmark.run(
        tmp_path / "run", source=tmp_path / "events", queries="q2", rounds=2, check=True, spark=spark
    )
    assert result.passed
    rates = [one["events_per_second"] for one in result["q2"].facts["rounds"]]
    assert len(rates) == 2
    assert result["q2"].events_per_second == sum(rates) / 2
    assert "least to most" in result.report.read_text()
    assert [path.name for path in (tmp_path / "run" / "q2" / "rounds").iterdir()] == ["2"]
