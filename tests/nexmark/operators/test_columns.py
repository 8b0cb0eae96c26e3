"""Queries over columns against readings in plain Python, row by row; cells written through Spark."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from causeway.nexmark.generator.firehose import Firehose
from causeway.nexmark.model import MODELS
from causeway.nexmark.operators.answer_cells import ANSWER_CELLS_DDL, cells_of, write_answer_cells
from causeway.nexmark.operators.columns import answers_named
from causeway.nexmark.queries import find_query

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Row = dict[str, Any]
BIDS = MODELS["modern"].streams["bid"]


def passed(bid: Row) -> Row | None:
    return {name: bid[name] for name in ("auction", "bidder", "price", "dateTime", "extra")}


def converted(bid: Row) -> Row | None:
    return {**(passed(bid) or {}), "price": Decimal(bid["price"]) * Decimal("0.908")}


def selected(bid: Row) -> Row | None:
    return {"auction": bid["auction"], "price": bid["price"]} if bid["auction"] % 123 == 0 else None


def logged(bid: Row) -> Row | None:
    time = bid["dateTime"]
    return {**(passed(bid) or {}), "dt": f"{time:%Y-%m-%d}", "hm": f"{time:%H:%M}"}


def calculated(bid: Row) -> Row | None:
    price = Decimal(bid["price"]) * Decimal("0.908")
    if not 1_000_000 < price < 50_000_000:
        return None
    hour = bid["dateTime"].hour
    kind = "dayTime" if 8 <= hour <= 18 else "nightTime" if hour <= 6 or hour >= 20 else "otherTime"
    return {**(passed(bid) or {}), "price": price, "bidTimeType": kind, "c_counts": bid["extra"].count("c")}


def numbered(bid: Row) -> Row | None:
    channel = {"apple": "0", "google": "1", "facebook": "2", "baidu": "3"}.get(bid["channel"].lower())
    found = re.search("(&|^)channel_id=([^&]*)", bid["url"])
    if channel is None and found is None:
        return None
    kept = {name: bid[name] for name in ("auction", "bidder", "price", "channel")}
    return {**kept, "channel_id": channel if channel is not None else found and found[2]}


def split(bid: Row) -> Row | None:
    parts = [*bid["url"].split("/"), None, None, None, None, None, None]
    kept = {name: bid[name] for name in ("auction", "bidder", "price", "channel")}
    return {**kept, "dir1": parts[3], "dir2": parts[4], "dir3": parts[5]}


READINGS: dict[str, Callable[[Row], Row | None]] = {
    "q0": passed,
    "q1": converted,
    "q2": selected,
    "q10": logged,
    "q14": calculated,
    "q21": numbered,
    "q22": split,
}


def odd_bids() -> pa.Table:
    """Limits of the price range, hours at their edges, urls and channels as they mostly are not."""
    rows = []
    hours = (0, 6, 7, 8, 18, 19, 20, 23)
    prices = (1_101_321, 1_101_322, 55_066_079, 55_066_080, 1, 10**12)
    urls = (
        "",
        "a",
        "/",
        "x/y/z/",
        "x/y/z/1",
        "x/y/z/1/2/3/4",
        "channel_id=",
        "p&channel_id=7&q",
        "my_channel_id=8",
    )
    for number, (hour, price, url) in enumerate((h, p, u) for h in hours for p in prices for u in urls):
        rows.append(
            {
                "auction": number,
                "bidder": number % 7,
                "price": price,
                "channel": ("Google", "BAIDU", "channel-9")[number % 3],
                "url": url,
                "dateTime": datetime(2015, 7, 15, hour, 59, 59, 999_000, UTC),
                "extra": "cabc" * (number % 3),
            }
        )
    return pa.Table.from_pylist(rows, BIDS)


@pytest.mark.parametrize("name", READINGS)
def test_columns_answer_as_rows_do(name: str) -> None:
    query = find_query("modern", name)
    assert query.columns is not None
    answers = answers_named(query.columns)
    usual = Firehose("modern", events=5_000, rate=1_000, seed=5).deliver(0, 5_000)["bid"]
    for bids in (odd_bids(), usual.select(BIDS.names).cast(BIDS)):
        expected = [row for bid in bids.to_pylist() if (row := READINGS[name](bid)) is not None]
        found = answers(bids.select(list(query.reads["bid"])))
        assert len(expected) > 0
        assert sorted(found.column_names) == sorted(expected[0])
        assert found.to_pylist() == [{key: row[key] for key in found.column_names} for row in expected]


@pytest.mark.parametrize("name", READINGS)
def test_no_bids_have_no_answers_of_the_same_columns(name: str) -> None:
    query = find_query("modern", name)
    assert query.columns is not None
    answers = answers_named(query.columns)
    some = odd_bids().select(list(query.reads["bid"]))
    assert answers(some.slice(0, 0)).schema.names == answers(some).schema.names
    assert answers(some.slice(0, 0)).num_rows == 0


def test_rules_that_differ_have_a_text() -> None:
    assert find_query("modern", "q1", "beam").columns is None
    assert find_query("modern", "q1", "flink").columns is not None


def test_only_functions_of_this_program_are_called() -> None:
    with pytest.raises(ValueError, match="no function of this program"):
        answers_named("os:system")
    module = import_module("causeway.nexmark.queries.modern.q02.columns")
    assert answers_named(f"{module.__name__}:answers") is module.answers


def test_cells_become_files_and_again_the_same(spark: SparkSession, tmp_path: Path) -> None:
    many = pa.concat_tables([odd_bids()] * 50)
    tables = [many, odd_bids().slice(0, 100), odd_bids().slice(100, 100), odd_bids().slice(0, 0)]
    rows = [(number, bytearray(cell)) for number, table in enumerate(tables) for cell in cells_of(table)]
    assert len(rows) == len(tables) + 1, "the first one has two cells"
    batch = spark.createDataFrame(rows, ANSWER_CELLS_DDL).coalesce(1)
    for _ in range(2):
        write_answer_cells(batch, tmp_path / "answers")
        files = sorted(path.name for path in (tmp_path / "answers").iterdir())
        assert files == [f"part-{number:06d}.parquet" for number in range(4)]
        assert pq.read_table(tmp_path / "answers" / files[0]).equals(many)
        assert pq.read_table(tmp_path / "answers").num_rows == many.num_rows + 200
    read = spark.read.parquet(str(tmp_path / "answers"))
    assert dict(read.dtypes)["dateTime"] == "timestamp"
    assert read.count() == many.num_rows + 200
