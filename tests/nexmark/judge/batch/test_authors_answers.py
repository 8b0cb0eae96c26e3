"""The answers that the paper's authors stored for a run of their own firehose."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from tests.nexmark.judge.batch.tables import Event, answer, delivered
from tests.reference import REFERENCE

from causeway.nexmark.model import PAPER

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STORED = REFERENCE / "nexmark/niagara"

pytestmark = pytest.mark.skipif(not STORED.is_dir(), reason=f"no reference data at {STORED}")

# Their items count from 0 and reach 153, so that none of the paper's five is among them. Their test selected
# other items; three of these have bids, and the stored answer is all of those.
ITEM_IN_PAPER = {80: 1007, 100: 1020, 130: 2001}


def rows(name: str) -> Iterator[dict[str, str]]:
    with (STORED / f"{name}.csv").open(encoding="utf-8", newline="") as text:
        yield from csv.DictReader(text)


def bids() -> Iterator[Event]:
    for row in rows("fh100_bid"):
        yield (
            "bid",
            {
                "itemid": int(row["itemid"]),
                "bidderId": int(row["bidderid"]),
                "price": int(Decimal(row["price"])),
                "bidTime": int(row["time"]),
            },
        )


def test_q1(spark: SparkSession) -> None:
    stored = Counter(
        (int(row["itemid"]), Decimal(row["price_eur"]), int(row["bidderid"]), int(row["time"]))
        for row in rows("expected_q1")
    )
    assert stored.total() == 1033
    with delivered(spark, PAPER, bids()):
        assert answer(spark, PAPER, "Q1") == stored


def test_q2(spark: SparkSession) -> None:
    stored = Counter(
        (ITEM_IN_PAPER[int(row["itemid"])], int(Decimal(row["price"]))) for row in rows("expected_q2")
    )
    renamed = [
        (stream, {**bid, "itemid": ITEM_IN_PAPER.get(bid["itemid"], bid["itemid"])}) for stream, bid in bids()
    ]
    with delivered(spark, PAPER, renamed):
        assert answer(spark, PAPER, "Q2") == stored
