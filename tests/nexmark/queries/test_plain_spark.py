"""The Spark engine: every query against its batch statement, in order and out of order, stopped and resumed.

Where the batch statement of a query is its streaming text but for layout, the answers of both engines are
held against a reading in plain Python.
"""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from tests.nexmark.judge.batch.literal_reading import reading

from causeway.nexmark.events.dataset import write_dataset
from causeway.nexmark.events.slices import Slices
from causeway.nexmark.generator.firehose import Firehose
from causeway.nexmark.judge.check import check_answers
from causeway.nexmark.model import ARRIVAL, MODERN
from causeway.nexmark.queries import Query, find_query, query_names
from causeway.nexmark.queries.answers import AnswerSink, batch_notes, final_answer
from causeway.nexmark.runner.answering import CHECKPOINT, Reading, answering, until_the_end
from causeway.runtime.errors import UserError
from causeway.runtime.progress import progress_bar
from causeway.streaming.watch import QueryWatch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DISORDER = 0.5
PAPER_DISORDER = 80.0
SLICES = 4
SAME_TEXT = ("q0", "q1", "q2", "q10", "q13", "q14", "q22")
QUICK = {"modern": ("q1", "q5", "q8", "q9"), "paper": ("q4",)}
"""One of each kind: no state, chained aggregations, a join, processors alone and chained."""


@pytest.fixture(scope="module")
def in_order(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("events") / "modern"
    write_dataset(Firehose("modern", events=2_000, rate=50, seed=5), folder, slice_events=2_000 // SLICES)
    return folder


@pytest.fixture(scope="module")
def out_of_order(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """JSON lines, some of them late by less than the watermark allows."""
    folder = tmp_path_factory.mktemp("events") / "modern"
    firehose = Firehose("modern", events=2_000, rate=50, seed=3, disorder=DISORDER)
    write_dataset(firehose, folder, file_format="json", slice_events=2_000 // SLICES)
    return folder


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("events") / "paper"
    firehose = Firehose("paper", events=5_000, rate=0.1221, seed=3, bid_streams=2)
    write_dataset(firehose, folder, slice_events=5_000 // SLICES)
    return folder


@pytest.fixture(scope="module")
def paper_out_of_order(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some events come after about ten that are younger: there is one in eight seconds of event time."""
    folder = tmp_path_factory.mktemp("events") / "paper"
    firehose = Firehose("paper", events=5_000, rate=0.1221, seed=3, bid_streams=2, disorder=PAPER_DISORDER)
    write_dataset(firehose, folder, file_format="json", slice_events=5_000 // SLICES)
    return folder


def answer(
    spark: SparkSession, query: Query, source: Path, out: Path, *, disorder: float = 0.0, stop: bool = False
) -> None:
    """Answer all slices; with `stop`, break off after the first and take up the rest."""
    sink = AnswerSink(out / "answers", out / CHECKPOINT)
    delay = round(1000 * disorder)
    if stop:
        with answering(spark, query, source, out, sink, Reading(1, 2, 2, delay)) as at_work:
            QueryWatch(at_work, "slice").wait_until(lambda: bool(batch_notes(out / "answers")))
    with (
        answering(spark, query, source, out, sink, Reading(SLICES // 2, 2, 2, delay)) as at_work,
        progress_bar("", 1, "") as bar,
    ):
        slices = Slices.of(source, query.model)
        until_the_end(at_work, query, slices, None, look=lambda answered: None, bar=bar, folder=out)


def assert_right(spark: SparkSession, query: Query, source: Path, out: Path) -> None:
    checked = check_answers(spark, query, source, out / "answers")
    assert checked.differences == ()
    assert checked.passed
    assert checked.rows > 0


@pytest.mark.parametrize("name", QUICK["modern"])
def test_modern(spark: SparkSession, out_of_order: Path, tmp_path: Path, name: str) -> None:
    query = find_query("modern", name, engine="spark")
    answer(spark, query, out_of_order, tmp_path, disorder=DISORDER, stop=name == "q9")
    assert_right(spark, query, out_of_order, tmp_path)


@pytest.mark.parametrize("name", QUICK["paper"])
def test_paper(spark: SparkSession, paper: Path, tmp_path: Path, name: str) -> None:
    query = find_query("paper", name, engine="spark")
    answer(spark, query, paper, tmp_path)
    assert_right(spark, query, paper, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("order", ["in order", "out of order"])
@pytest.mark.parametrize("name", query_names("modern"))
def test_every_modern_query_stopped_and_resumed(
    spark: SparkSession, in_order: Path, out_of_order: Path, tmp_path: Path, name: str, order: str
) -> None:
    query = find_query("modern", name, engine="spark")
    source, disorder = (in_order, 0.0) if order == "in order" else (out_of_order, DISORDER)
    answer(spark, query, source, tmp_path, disorder=disorder, stop=True)
    assert_right(spark, query, source, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("order", ["in order", "out of order"])
@pytest.mark.parametrize("name", query_names("paper"))
def test_every_paper_query_stopped_and_resumed(
    spark: SparkSession, paper: Path, paper_out_of_order: Path, tmp_path: Path, name: str, order: str
) -> None:
    query = find_query("paper", name, engine="spark")
    source, disorder = (paper, 0.0) if order == "in order" else (paper_out_of_order, PAPER_DISORDER)
    answer(spark, query, source, tmp_path, disorder=disorder, stop=True)
    assert_right(spark, query, source, tmp_path)


@pytest.mark.parametrize(
    ("name", "engine"),
    [
        pytest.param(name, engine, marks=() if name in ("q1", "q14") else pytest.mark.slow)
        for name in SAME_TEXT
        for engine in ("columnar", "spark")
    ],
)
def test_texts_that_are_their_own_check_are_read_in_plain_python(
    spark: SparkSession, in_order: Path, tmp_path: Path, name: str, engine: str
) -> None:
    query = find_query("modern", name, engine=engine)
    answer(spark, query, in_order, tmp_path)
    found = final_answer(spark, query, tmp_path / "answers")
    assert found is not None
    expected = reading(name, "ours", _events(in_order))
    if name == "q13":
        expected = Counter({(*row[:-1], row[-1].replace(" ", "-")): many for row, many in expected.items()})
    assert _rows(found.toArrow()) == expected
    assert expected


def _events(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    slices = Slices.of(folder, "modern")
    columns = [*MODERN.streams["bid"].names, ARRIVAL]
    found = []
    for number in range(SLICES):
        table = slices.read(number, {"bid": columns}).tables["bid"]
        times = table.column("dateTime").cast(pa.int64())
        found += table.set_column(columns.index("dateTime"), "dateTime", times).to_pylist()
    return [("bid", row) for row in found]


def _rows(table: pa.Table) -> Counter[tuple[Any, ...]]:
    columns = [
        column.cast(pa.timestamp("ms", tz="UTC")).cast(pa.int64()).to_pylist()
        if pa.types.is_timestamp(column.type)
        else [value.normalize() if isinstance(value, Decimal) else value for value in column.to_pylist()]
        for column in table.columns
    ]
    return Counter(zip(*columns, strict=True))


def test_every_query_has_a_file_for_the_spark_engine() -> None:
    for model in ("modern", "paper"):
        for name in query_names(model):
            plain = find_query(model, name, engine="spark")
            columnar = find_query(model, name)
            assert plain.kernel is None
            assert set(plain.streams) <= {*columnar.streams, "item"}, name
            assert plain.keys == columnar.keys, name


def test_other_rules_and_engines_are_refused() -> None:
    with pytest.raises(UserError, match="has the rules `ours` only"):
        find_query("modern", "q5", "flink", engine="spark")
    with pytest.raises(UserError, match="there is no engine 'storm': columnar, spark"):
        find_query("modern", "q5", engine="storm")
