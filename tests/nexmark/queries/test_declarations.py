"""What streaming texts declare, and that nothing hangs on how their SQL is written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from causeway.nexmark.events.dataset import write_dataset
from causeway.nexmark.events.slices import Slices
from causeway.nexmark.generator.firehose import Firehose
from causeway.nexmark.queries import RULE_SETS, Query, find_query, query_names
from causeway.nexmark.queries.answers import AnswerSink, final_answer
from causeway.nexmark.queries.declarations import read_declarations
from causeway.nexmark.runner.answering import CHECKPOINT, Reading, answering, until_the_end
from causeway.runtime.progress import progress_bar

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TEXTS = [
    query
    for model in ("modern", "paper")
    for name in query_names(model)
    for rules in RULE_SETS
    if (query := find_query(model, name, rules)).text is not None
]
PLAIN_TEXTS = [find_query("modern", name, engine="spark") for name in ("q11", "q12", "q17")]
"""Texts of plain Spark, where the columnar engine has an operator."""


@pytest.mark.parametrize(
    "query", [*TEXTS, *PLAIN_TEXTS], ids=lambda query: f"{query.model}-{query.name}-{query.rules}"
)
def test_a_text_uses_what_it_declares(query: Query) -> None:
    """A column that is read in vain costs time."""
    assert query.text is not None
    statement = re.sub(r"--.*", "", query.text)
    for stream, columns in query.reads.items():
        assert re.search(rf"\b(arriving_)?{stream}\b", statement)
        assert [column for column in columns if not re.search(rf"\b{column}\b", statement)] == []


def test_declarations_are_read() -> None:
    text = "-- reads: bid( auction ,price )\n-- reads: person(id)\n"
    declared = read_declarations("modern", f"{text}-- update by: a, b\nSELECT 1")
    assert declared.reads == {"bid": ("auction", "price"), "person": ("id",)}
    assert declared.keys == ("a", "b")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT * FROM bid", "declares what it reads"),
        ("-- reads: bid", "write a stream and its columns"),
        ("-- reads: item(id)", "the modern model has person, auction, bid"),
        ("-- reads: bid(itemid)", "there is no column itemid"),
    ],
)
def test_a_wrong_declaration_is_named(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read_declarations("modern", text)


def test_lower_case_stars_and_comma_joins_are_sql_like_any_other(spark: SparkSession, tmp_path: Path) -> None:
    source, out = tmp_path / "events", tmp_path / "run"
    write_dataset(Firehose("modern", events=1_000, rate=100), source, slice_events=500)
    text = (
        "-- reads: bid(auction, price)\n"
        "select b.*, s.value from bid b, side_input s where b.auction % 10000 = s.key and b.price < 1000000"
    )
    declared = read_declarations("modern", text)
    query = Query("modern", "q99", "ours", (), reads=declared.reads, text=text)
    sink = AnswerSink(out / "answers", out / CHECKPOINT)
    with (
        answering(spark, query, source, out, sink, Reading(2, 2, 2, 0)) as at_work,
        progress_bar("", 1, "") as bar,
    ):
        slices = Slices.of(source, "modern")
        until_the_end(at_work, query, slices, None, look=lambda answered: None, bar=bar, folder=out)
    rows = final_answer(spark, query, out / "answers")
    assert rows is not None
    assert rows.columns == ["auction", "price", "value"]
    bids = [Slices.of(source, "modern").read(at, {"bid": ["price"]}).tables["bid"] for at in range(2)]
    assert rows.count() == sum(price < 1_000_000 for part in bids for price in part.column(0).to_pylist()) > 0
