"""Every query through Spark, stopped in the middle and taken up again, against its batch statement."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from causeway.nexmark.events.dataset import write_dataset
from causeway.nexmark.events.slices import Slices
from causeway.nexmark.generator.firehose import Firehose
from causeway.nexmark.judge.check import check_answers
from causeway.nexmark.queries import RULE_SETS, find_query, query_names
from causeway.nexmark.queries.answers import AnswerSink, batch_notes
from causeway.nexmark.runner.answering import CHECKPOINT, Reading, answering, until_the_end
from causeway.runtime.errors import UserError
from causeway.runtime.progress import progress_bar
from causeway.streaming.watch import QueryWatch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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


def reading(limit: int) -> Reading:
    return Reading(limit, tasks=2, shards=2, delay=round(1000 * DISORDER))


def answer_all(
    spark: SparkSession, name: str, model: str, rules: str, source: Path, out: Path, *, stop: bool
) -> None:
    """Answer all slices; with `stop`, break off after the first and take up the rest."""
    query = find_query(model, name, rules)
    sink = AnswerSink(out / "answers", out / CHECKPOINT)
    before = dict(spark.conf.getAll)
    if stop:
        with answering(spark, query, source, out, sink, reading(1)) as at_work:
            QueryWatch(at_work, "slice").wait_until(lambda: bool(batch_notes(out / "answers")))
    with (
        answering(spark, query, source, out, sink, reading(SLICES)) as at_work,
        progress_bar("", 1, "") as bar,
    ):
        slices = Slices.of(source, model)
        until_the_end(at_work, query, slices, None, look=lambda answered: None, bar=bar, folder=out)
    assert dict(spark.conf.getAll) == before
    checked = check_answers(spark, query, source, out / "answers")
    assert checked.differences == ()
    assert checked.passed
    assert checked.rows > 0
    assert not (out / "rejects").exists()


# Kernels are proven without Spark in tests/nexmark/operators/kernels, at any cut. So one of each kind is
# enough to be stopped here; the others run once, from the beginning to the end.
_STOPPED = {"modern": ("q0", "q9", "q11", "q17"), "paper": ("q4",)}


@pytest.mark.parametrize("name", query_names("modern"))
def test_modern(spark: SparkSession, modern: Path, tmp_path: Path, name: str) -> None:
    answer_all(spark, name, "modern", "ours", modern, tmp_path, stop=name in _STOPPED["modern"])


@pytest.mark.parametrize("name", query_names("paper"))
def test_paper(spark: SparkSession, paper: Path, tmp_path: Path, name: str) -> None:
    answer_all(spark, name, "paper", "ours", paper, tmp_path, stop=name in _STOPPED["paper"])


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("q0", "beam"),
        pytest.param("q1", "beam", marks=pytest.mark.slow),
        pytest.param("q6", "beam", marks=pytest.mark.slow),
        pytest.param("q7", "flink", marks=pytest.mark.slow),
        pytest.param("q17", "flink", marks=pytest.mark.slow),
    ],
)
def test_other_rules(spark: SparkSession, modern: Path, tmp_path: Path, name: str, rules: str) -> None:
    """Texts of their own, and kernels with other arguments."""
    answer_all(spark, name, "modern", rules, modern, tmp_path, stop=False)


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
