"""Every query through Spark, stopped in the middle and taken up again, against its batch statement."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from causeway.nexmark.events.dataset import write_dataset
from causeway.nexmark.generator.firehose import Firehose
from causeway.nexmark.judge.check import check_answers
from causeway.nexmark.queries import RULE_SETS, find_query, query_names
from causeway.nexmark.runner.answers import AnswerSink, batch_notes
from causeway.nexmark.runner.query_run import answering
from causeway.runtime.errors import UserError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

DISORDER = 0.5
SLICES = 4


@pytest.fixture(scope="module")
def modern(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty seconds of events, so that windows, sessions and auctions close, some of them out of order."""
    folder = tmp_path_factory.mktemp("events") / "modern"
    firehose = Firehose("modern", events=4_000, rate=100, seed=3, disorder=DISORDER)
    write_dataset(firehose, folder, file_format="json", slice_events=4_000 // SLICES)
    return folder


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("events") / "paper"
    firehose = Firehose("paper", events=20_000, rate=0.1221, seed=3, bid_streams=2)
    write_dataset(firehose, folder, slice_events=20_000 // SLICES)
    return folder


def wait(query: StreamingQuery, until: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 120
    while not until():
        failure = query.exception()
        assert failure is None, failure
        assert time.monotonic() < give_up
        time.sleep(0.02)


def answer_all(spark: SparkSession, name: str, model: str, rules: str, source: Path, out: Path) -> None:
    """Take the first slice, break off, and take the rest."""
    query = find_query(model, name, rules)
    sink = AnswerSink(out / "answers", out / "checkpoint")
    delay = round(1000 * DISORDER)
    with answering(spark, query, source, out, sink, 1, delay) as at_work:
        wait(at_work, lambda: bool(batch_notes(out / "answers")))
    with answering(spark, query, source, out, sink, SLICES, delay) as at_work:
        wait(at_work, lambda: _answered(at_work) > SLICES)
        at_work.processAllAvailable()
        if query.ends_by_watermark:
            wait(at_work, lambda: at_work.lastProgress["eventTime"]["watermark"] > "9990")  # type: ignore[index]
            at_work.processAllAvailable()
    checked = check_answers(spark, query, source, out / "answers")
    assert checked.differences == ()
    assert checked.passed
    assert checked.rows > 0


def _answered(query: StreamingQuery) -> int:
    progress = query.lastProgress
    if progress is None:
        return 0
    ends = [source["endOffset"] for source in progress["sources"]]
    return min(int((json.loads(end) if isinstance(end, str) else end)["slice"]) for end in ends if end)


# Kernels are proven without Spark in tests/nexmark/kernels: of those that are alike, one is enough here.
_SOON = {"modern": ("q0", "q5", "q9", "q11", "q12", "q17", "q20"), "paper": ("q4", "q8")}


def queries(model: str) -> list[object]:
    return [
        pytest.param(name, marks=[] if name in _SOON[model] else pytest.mark.slow)
        for name in query_names(model)
    ]


@pytest.mark.parametrize("name", queries("modern"))
def test_modern(spark: SparkSession, modern: Path, tmp_path: Path, name: str) -> None:
    answer_all(spark, name, "modern", "ours", modern, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "rules"), [("q0", "beam"), ("q1", "beam"), ("q6", "beam"), ("q7", "flink"), ("q17", "flink")]
)
def test_other_rules(spark: SparkSession, modern: Path, tmp_path: Path, name: str, rules: str) -> None:
    """Texts of their own, and kernels with other arguments."""
    answer_all(spark, name, "modern", rules, modern, tmp_path)


@pytest.mark.parametrize("name", queries("paper"))
def test_paper(spark: SparkSession, paper: Path, tmp_path: Path, name: str) -> None:
    answer_all(spark, name, "paper", "ours", paper, tmp_path)


def test_queries_are_found_by_their_files() -> None:
    assert query_names("modern") == [f"q{number}" for number in range(23)]
    assert query_names("paper") == [f"q{number}" for number in range(1, 9)]
    assert find_query("modern", "Q05").name == "q5"
    for name in query_names("modern"):
        for rules in RULE_SETS:
            assert find_query("modern", name, rules).streams


@pytest.mark.parametrize("name", ["q23", "5", "bids", ""])
def test_unknown_queries_are_named(name: str) -> None:
    with pytest.raises(UserError, match="there is no query"):
        find_query("modern", name)
