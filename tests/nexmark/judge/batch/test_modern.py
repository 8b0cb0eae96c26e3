"""The modern statements on examples made by hand: ties, edges of windows, reserves, closed auctions."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from tests.nexmark.judge.batch.tables import Event, answer, delivered

from causeway.nexmark.judge.batch import batch_answer, statement
from causeway.nexmark.model import MODERN
from causeway.nexmark.queries import RULE_SETS, query_names
from causeway.runtime.errors import UserError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SECOND = 1000
DAY = 86_400 * SECOND
MIDNIGHT = 1_436_918_400_000


def person(id: int, at: float, name: str = "Ann", state: str = "OR") -> Event:
    return "person", {
        "id": id,
        "name": name,
        "city": "Bend",
        "state": state,
        "dateTime": MIDNIGHT + int(at * SECOND),
    }


def auction(
    id: int, at: float, until: float, *, seller: int = 1, category: int = 10, reserve: int = 0
) -> Event:
    return "auction", {
        "id": id,
        "seller": seller,
        "category": category,
        "reserve": reserve,
        "dateTime": MIDNIGHT + int(at * SECOND),
        "expires": MIDNIGHT + int(until * SECOND),
    }


def bid(
    auction: int, at: float, price: int, bidder: int = 7, *, channel: str = "", url: str = "", extra: str = ""
) -> Event:
    return "bid", {
        "auction": auction,
        "bidder": bidder,
        "price": price,
        "channel": channel,
        "url": url,
        "dateTime": MIDNIGHT + int(at * SECOND),
        "extra": extra,
    }


def at(seconds: float) -> int:
    return MIDNIGHT + int(seconds * SECOND)


def given(spark: SparkSession, events: list[Event], query: str, rules: str = "ours") -> list[tuple[Any, ...]]:
    with delivered(spark, MODERN, events):
        return sorted(answer(spark, MODERN, query, rules).elements())


def winners(spark: SparkSession, events: list[Event], rules: str) -> list[tuple[Any, ...]]:
    """Auction, bidder, price of q9."""
    return [(row[0], row[11], row[12]) for row in given(spark, events, "q9", rules)]


@pytest.mark.parametrize("model", ["modern", "paper"])
def test_every_query_has_a_statement_under_every_rule_set(model: str) -> None:
    for query in query_names(model):
        for rules in RULE_SETS:
            assert "SELECT" in statement(model, query, rules)


@pytest.mark.parametrize(
    ("model", "query", "rules", "words"),
    [
        ("modern", "q23", "ours", "there is no query 'q23' in the modern model: q0, q1,"),
        ("paper", "q0", "ours", "there is no query 'q0' in the paper model: q1, q2,"),
        ("modern", "q1", "theirs", "there are no rules 'theirs': ours, beam, flink"),
        ("xmark", "q1", "ours", "there is no model 'xmark': paper, modern"),
    ],
)
def test_unknown_names_are_refused(model: str, query: str, rules: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        statement(model, query, rules)


COLUMNS = {
    "q0": "auction bidder price dateTime extra",
    "q1": "auction bidder price dateTime extra",
    "q2": "auction price",
    "q3": "name city state id",
    "q4": "category price",
    "q5": "starttime endtime auction num",
    "q6": "seller price",
    "q7": "auction price bidder dateTime extra",
    "q8": "id name starttime",
    "q9": "id itemName description initialBid reserve dateTime expires seller category extra"
    " auction bidder price bid_dateTime bid_extra",
    "q10": "auction bidder price dateTime extra dt hm",
    "q11": "bidder bid_count starttime endtime",
    "q12": "bidder bid_count",
    "q13": "auction bidder price dateTime value",
    "q14": "auction bidder price bidTimeType dateTime extra c_counts",
    "q15": "day total_bids rank1_bids rank2_bids rank3_bids total_bidders rank1_bidders rank2_bidders"
    " rank3_bidders total_auctions rank1_auctions rank2_auctions rank3_auctions",
    "q16": "channel day minute total_bids rank1_bids rank2_bids rank3_bids total_bidders rank1_bidders"
    " rank2_bidders rank3_bidders total_auctions rank1_auctions rank2_auctions rank3_auctions",
    "q17": "auction day total_bids rank1_bids rank2_bids rank3_bids min_price max_price avg_price sum_price",
    "q18": "auction bidder price channel url dateTime extra",
    "q19": "auction bidder price channel url dateTime extra rank_number",
    "q20": "auction bidder price channel url bid_dateTime bid_extra itemName description initialBid reserve"
    " auction_dateTime expires seller category auction_extra",
    "q21": "auction bidder price channel channel_id",
    "q22": "auction bidder price channel dir1 dir2 dir3",
}


def test_columns(spark: SparkSession) -> None:
    with delivered(spark, MODERN, [], side_input=pa.table({"key": [0], "value": [""]})):
        told = {query: " ".join(batch_answer(spark, "modern", query, "ours").columns) for query in COLUMNS}
        means = {
            (query, rules): batch_answer(spark, "modern", query, rules)
            .schema["price"]
            .dataType.simpleString()
            for query in ("q1", "q4", "q6")
            for rules in ("ours", "beam", "flink")
        }
    assert told == COLUMNS
    assert means == {
        ("q1", "ours"): "decimal(23,3)",
        ("q1", "beam"): "bigint",
        ("q1", "flink"): "decimal(23,3)",
        ("q4", "ours"): "double",
        ("q4", "beam"): "bigint",
        ("q4", "flink"): "bigint",
        ("q6", "ours"): "double",
        ("q6", "beam"): "bigint",
        ("q6", "flink"): "bigint",
    }


@pytest.mark.parametrize(("rules", "euros"), [("ours", Decimal("2.724")), ("beam", 2)])
def test_q1_converts(spark: SparkSession, rules: str, euros: Decimal | int) -> None:
    assert given(spark, [bid(1, 0, 3)], "q1", rules) == [(1, 7, euros, MIDNIGHT, "")]


@pytest.mark.parametrize(
    ("rules", "suggested"),
    [("ours", [10, 11]), ("beam", [10, 11, 12]), ("flink", [10, 11, 12])],
)
def test_q3_suggests_nothing_that_has_closed(spark: SparkSession, rules: str, suggested: list[int]) -> None:
    events = [
        auction(10, 0, 5.001, seller=1),
        auction(11, 6, 7, seller=1),
        auction(12, 0, 5, seller=1),
        auction(13, 0, 9, seller=1, category=11),
        auction(14, 0, 9, seller=2),
        person(1, 5),
        person(2, 0, state="WA"),
    ]
    assert [row[3] for row in given(spark, events, "q3", rules)] == suggested


def test_winning_bid_is_the_highest_while_open_and_not_below_the_reserve(spark: SparkSession) -> None:
    events = [
        auction(1, 1, 5, reserve=100),
        bid(1, 0.999, 900, bidder=1),
        bid(1, 1, 100, bidder=2),
        bid(1, 2, 99, bidder=3),
        bid(1, 4.999, 120, bidder=4),
        bid(1, 5, 500, bidder=5),
        bid(1, 5.001, 950, bidder=6),
        auction(2, 1, 5, reserve=100),
        bid(2, 2, 99, bidder=1),
        auction(3, 1, 9),
    ]
    assert winners(spark, events, "ours") == [(1, 4, 120)]
    assert winners(spark, events, "flink") == [(1, 5, 500), (2, 1, 99)]
    # Beam has the bid of 900, from before the opening. Without it, the one of 500 is the first event at or
    # after the expiry and counts; the one of 950 is the second.
    assert winners(spark, events, "beam") == [(1, 1, 900)]
    del events[1]
    assert winners(spark, events, "beam") == [(1, 5, 500)]
    assert winners(spark, [*events, bid(9, 5, 1)], "beam") == [(1, 5, 500)]
    assert winners(spark, [bid(9, 5, 1), *events], "beam") == [(1, 4, 120)]
    assert winners(spark, [person(9, 5), *events], "beam") == [(1, 5, 500)]


def test_winning_bid_of_equals_is_the_earliest(spark: SparkSession) -> None:
    later, earlier_by_9, earlier_by_8 = bid(1, 3, 50, 1), bid(1, 2, 50, 9), bid(1, 2, 50, 8)
    events = [auction(1, 0, 9), later, earlier_by_9, earlier_by_8]
    assert winners(spark, events, "ours") == [(1, 8, 50)]
    assert winners(spark, events, "beam") == [(1, 9, 50)]
    assert winners(spark, events, "flink") == [(1, 9, 50)]


def test_q4_means(spark: SparkSession) -> None:
    events = [
        *(auction(id, 0, until) for id, until in ((1, 4.999), (2, 5), (3, 9))),
        *(bid(id, 1, price) for id, price in ((1, 7), (2, 10), (3, 11))),
        auction(4, 0, 9, category=11, reserve=5),
        bid(4, 1, 4),
    ]
    assert given(spark, events, "q4") == [(10, 28 / 3)]
    # The last window of Beam's with a closing of category 10 begins at 5 s; 10.5 is rounded up.
    assert given(spark, events, "q4", "beam") == [(10, 11)]
    assert given(spark, events, "q4", "flink") == [(10, 9), (11, 4)]


def test_q5_windows_have_their_start_and_not_their_end(spark: SparkSession) -> None:
    events = [bid(1, 10, 1), bid(1, 11, 1), bid(2, 11.999, 1), bid(2, 20, 1), bid(3, 20, 1)]
    early = [(at(start), at(start + 10), 1, 2) for start in (2, 4, 6, 8, 10)]
    assert given(spark, events, "q5") == [
        *early,
        *((at(start), at(start + 10), auction, 1) for start in (12, 14, 16, 18, 20) for auction in (2, 3)),
    ]
    assert given(spark, events, "q5", "flink") == [(1, 2)] * 5 + [(2, 1)] * 5 + [(3, 1)] * 5
    assert given(spark, events, "q5", "beam") == [(1, 2)] * 2 + [(2, 1)] * 2 + [(3, 1)] * 2


def test_q6_is_the_last_ten_closings(spark: SparkSession) -> None:
    """Twelve auctions which close one after the other; their bids were made in the opposite order."""
    events = [
        *(auction(id, 0, 100 + min(id, 11), seller=3) for id in range(1, 13)),
        *(bid(id, 50 - id, 2**id) for id in range(1, 13)),
        auction(13, 0, 200, seller=3, reserve=5),
        bid(13, 1, 4),
    ]
    assert given(spark, events, "q6") == [(3, sum(2**id for id in range(3, 13)) / 10)]
    # The last closing, and of the others the nine whose bids were made last.
    assert given(spark, events, "q6", "beam") == [
        (3, round((2**12 + sum(2**id for id in range(1, 10))) / 10))
    ]
    # Eleven, the last by the time of the bid; the one below its reserve, made first, has won too.
    assert given(spark, events, "q6", "flink") == [(3, sum(2**id for id in range(1, 12)) // 11)]


def test_q7_ties_and_the_end_of_a_window(spark: SparkSession) -> None:
    events = [bid(1, 0, 9), bid(2, 3, 9), bid(3, 9.999, 8), bid(4, 10, 9), bid(5, 12, 9), bid(6, 20, 3)]
    assert [row[0] for row in given(spark, events, "q7")] == [1, 2, 4, 5, 6]
    assert [row[0] for row in given(spark, events, "q7", "beam")] == [2, 5, 6]
    assert [row[0] for row in given(spark, events, "q7", "flink")] == [1, 2, 4, 4, 5, 6]


def test_q8_is_a_row_for_person_and_window(spark: SparkSession) -> None:
    events = [
        auction(1, 10, 99, seller=1, reserve=5),
        person(1, 19.999),
        auction(2, 12, 99, seller=1, reserve=6),
        auction(3, 20, 99, seller=1),
        person(2, 20, "Bob"),
        auction(4, 19.999, 99, seller=2),
    ]
    assert given(spark, events, "q8") == [(1, "Ann", at(10))]
    assert given(spark, events, "q8", "flink") == [(1, "Ann", at(10))]
    assert given(spark, events, "q8", "beam") == [(1, "Ann", 5), (1, "Ann", 6)]


def test_q10_day_and_minute(spark: SparkSession) -> None:
    events = [bid(1, -0.001, 1), bid(1, 0, 1)]
    days = [("2015-07-14", "23:59"), ("2015-07-15", "00:00")]
    assert [row[5:] for row in given(spark, events, "q10")] == days


def test_q11_sessions_that_touch_are_one_as_sparks(spark: SparkSession) -> None:
    times = {1: (0, 10, 20.001), 2: (3, 3, 12.999), 3: (5,)}
    events = [bid(1, time, 1, bidder) for bidder in times for time in reversed(times[bidder])]
    expected = [
        (1, 1, at(20.001), at(30.001)),
        (1, 2, at(0), at(20)),
        (2, 3, at(3), at(22.999)),
        (3, 1, at(5), at(15)),
    ]
    with delivered(spark, MODERN, events):
        assert sorted(answer(spark, MODERN, "q11")) == expected
        sparks = spark.sql(
            "SELECT bidder, COUNT(*), unix_millis(session_window.start), unix_millis(session_window.end)"
            " FROM bid GROUP BY bidder, session_window(dateTime, '10 seconds')"
        ).collect()
    assert sorted(tuple(row) for row in sparks) == expected


def test_q14_hours_and_prices(spark: SparkSession) -> None:
    hours = {0: "nightTime", 6: "nightTime", 7: "otherTime", 8: "dayTime", 18: "dayTime", 19: "otherTime"}
    hours |= {20: "nightTime", 23: "nightTime"}
    inside = [bid(1, hour * 3600 + 3599, 1_101_322, extra="cC c") for hour in hours]
    outside = [bid(1, 0, 1_101_321), bid(1, 0, 55_066_080)]
    assert sorted((row[4], *row[2:4], row[6]) for row in given(spark, inside + outside, "q14")) == [
        (at(hour * 3600 + 3599), Decimal("1000000.376"), kind, 2) for hour, kind in hours.items()
    ]


def test_q15_to_q17_ranks_of_price(spark: SparkSession) -> None:
    events = [
        bid(1, 60, 9_999, 7, channel="a"),
        bid(1, 0, 10_000, 7, channel="a"),
        bid(2, 0, 999_999, 7, channel="a"),
        bid(2, 30, 1_000_000, 8, channel="b"),
        bid(2, DAY / SECOND, 5, 8, channel="b"),
    ]
    day, next_day = "2015-07-15", "2015-07-16"
    assert given(spark, events, "q15") == [
        (day, 4, 1, 2, 1, 2, 1, 1, 1, 2, 1, 2, 1),
        (next_day, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0),
    ]
    assert given(spark, events, "q16") == [
        ("a", day, "00:01", 3, 1, 2, 0, 1, 1, 1, 0, 2, 1, 2, 0),
        ("b", day, "00:00", 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1),
        ("b", next_day, "00:00", 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0),
    ]
    assert given(spark, events, "q17") == [
        (1, day, 2, 1, 1, 0, 9_999, 10_000, 9_999.5, 19_999),
        (2, day, 2, 0, 1, 1, 999_999, 1_000_000, 999_999.5, 1_999_999),
        (2, next_day, 1, 1, 0, 0, 5, 5, 5.0, 5),
    ]
    assert [row[8] for row in given(spark, events, "q17", "flink")] == [9_999, 999_999, 5]


def test_q18_last_bid(spark: SparkSession) -> None:
    events = [
        bid(1, 5, 3, extra="later"),
        bid(1, 4, 9, extra="earlier"),
        bid(2, 5, 9, extra="high"),
        bid(2, 5, 8, extra="low"),
        bid(3, 5, 9, extra="first"),
        bid(3, 5, 9, extra="second"),
    ]
    assert [row[6] for row in given(spark, events, "q18")] == ["later", "high", "second"]
    assert [row[6] for row in given(spark, events, "q18", "flink")] == ["later", "low", "second"]


def test_q19_ten_highest(spark: SparkSession) -> None:
    events = [
        bid(1, 5, 1, 9, extra="late"),
        bid(1, 4, 1, 9, extra="early"),
        bid(1, 4, 1, 8, extra="early, lower bidder"),
        *(bid(1, 0, 2, extra="high") for _ in range(8)),
        bid(2, 0, 1, extra="alone"),
    ]

    def low(rules: str) -> list[tuple[str, int]]:
        rows = sorted(given(spark, events, "q19", rules), key=lambda row: (row[0], row[7]))
        return [row[6:] for row in rows if row[6] != "high"]

    assert low("ours") == [("early, lower bidder", 9), ("early", 10), ("alone", 1)]
    assert low("flink") == [("late", 9), ("early", 10), ("alone", 1)]


def test_q21_channel_ids(spark: SparkSession) -> None:
    events = [
        bid(1, 0, 1, channel="Apple", url="x?q=1&channel_id=9"),
        bid(2, 0, 1, channel="channel-9", url="x?q=1&channel_id=99&y=1"),
        bid(3, 0, 1, channel="channel-9", url="x?q=1&my_channel_id=99"),
        bid(4, 0, 1, channel="channel-9", url="x?q=1&channel_id="),
        bid(5, 0, 1, channel="baidu"),
    ]
    assert [(row[0], row[4]) for row in given(spark, events, "q21")] == [
        (1, "0"),
        (2, "99"),
        (4, ""),
        (5, "3"),
    ]


def test_q22_directories(spark: SparkSession) -> None:
    events = [bid(1, 0, 1, url="https://host/a/b/c/item.htm?q=1"), bid(2, 0, 1, url="https://host/a/")]
    assert [row[4:] for row in given(spark, events, "q22")] == [("a", "b", "c"), ("a", "", None)]
