"""Every modern statement under every rule set, against a plain reading of the rule, on a crowded stream."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from tests.nexmark.judge.batch.literal_reading import reading
from tests.nexmark.judge.batch.tables import Event, answer, delivered

from causeway.nexmark.judge.batch import statement
from causeway.nexmark.model import MODERN
from causeway.nexmark.queries import RULE_SETS, query_names

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

START = 1_436_918_400_000 - 40_000
SPAN = 80_000
CHANNELS = ("Apple", "google", "Facebook", "BAIDU", "channel-7", "channel-8")
URLS = (
    "https://www.nexmark.com/a/b/c/item.htm?query=1",
    "https://www.nexmark.com/a/b/c/item.htm?query=1&channel_id=77",
    "https://www.nexmark.com/a/b?q=1&channel_id=&x=2",
    "channel_id=5",
)
PRICES = (10, 20, 9_999, 10_000, 999_999, 1_000_000, 1_101_321, 1_101_322, 55_066_079, 55_066_080)


def crowded_stream(seed: int) -> list[Event]:
    """Few ids, few prices and times on a grid of half seconds, so that ties and edges are everywhere."""
    dice = random.Random(seed)

    def time() -> int:
        return START + dice.randrange(0, SPAN, 500)

    people: list[Event] = [
        (
            "person",
            {
                "id": id,
                "name": f"name {id}",
                "city": "city",
                "state": dice.choice(("OR", "ID", "WA")),
                "dateTime": time(),
            },
        )
        for id in range(8)
    ]
    auctions: list[Event] = []
    for id in range(100, 180):
        opens = time()
        auctions.append(
            (
                "auction",
                {
                    "id": id,
                    "itemName": f"item {id}",
                    "description": "",
                    "initialBid": 1,
                    "reserve": dice.choice((0, 20, 10_000)),
                    "dateTime": opens,
                    "expires": opens + dice.randrange(500, 20_000, 500),
                    "seller": dice.choice((0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8)),
                    "category": dice.randrange(10, 13),
                    "extra": "auction",
                },
            )
        )
    bids: list[Event] = [
        (
            "bid",
            {
                "auction": dice.choice((100, 123, dice.randrange(100, 185))),
                "bidder": dice.randrange(20),
                "price": dice.choice(PRICES),
                "channel": dice.choice(CHANNELS),
                "url": dice.choice(URLS),
                "dateTime": time(),
                "extra": f"{number} {'c' * dice.randrange(3)}C",
            },
        )
        for number in range(900)
    ]
    events = [*people, *auctions, *bids]
    dice.shuffle(events)
    return sorted(events, key=lambda event: event[1]["dateTime"] + dice.choice((0, 0, 0, 3000)))


EVENTS = crowded_stream(seed=4)
STATEMENTS = [
    (query, rules)
    for query in query_names("modern")
    for rules in RULE_SETS
    if (query, rules) != ("q0", "beam")
    if rules == "ours" or statement("modern", query, rules) != statement("modern", query, "ours")
]


@pytest.fixture(scope="module")
def spark_with_events(spark: SparkSession) -> Iterator[SparkSession]:
    side_input = pa.table({"key": range(10_000), "value": [f"value {key}" for key in range(10_000)]})
    with delivered(spark, MODERN, EVENTS, side_input=side_input):
        yield spark


@pytest.mark.parametrize(("query", "rules"), STATEMENTS)
def test_statement_says_the_rule(spark_with_events: SparkSession, query: str, rules: str) -> None:
    expected = reading(query, rules, EVENTS)
    assert expected
    assert answer(spark_with_events, MODERN, query, rules) == expected


def test_the_stream_tells_the_rules_apart() -> None:
    for query, rules in STATEMENTS:
        assert rules == "ours" or reading(query, rules, EVENTS) != reading(query, "ours", EVENTS), query
