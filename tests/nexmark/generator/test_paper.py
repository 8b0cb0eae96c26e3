"""The paper's model: rising prices, open auctions, closings with their buyers, ids that join."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causeway.nexmark.generator.firehose import START, Firehose
from causeway.nexmark.generator.goods import categories
from causeway.nexmark.generator.scale import PAPER_SCALES, scaled_firehose
from causeway.nexmark.model import PAPER
from causeway.runtime.errors import UserError

HOUR = 3_600_000


def rows(table: pa.Table) -> list[dict]:
    """Rows with times as milliseconds."""
    integers = [
        (field.name, pa.int64() if pa.types.is_timestamp(field.type) else field.type)
        for field in table.schema
    ]
    return table.cast(pa.schema(integers)).to_pylist()


def in_time_order(streams: dict[str, pa.Table]) -> list[dict]:
    """The bids of all streams; those of one millisecond in the order of their prices."""
    bids = [row for name, table in streams.items() if name.startswith("bid-") for row in rows(table)]
    return sorted(bids, key=lambda bid: (bid["bidTime"], bid["price"]))


def buyers(streams: dict[str, pa.Table], last_time: int) -> dict[int, tuple[int, int | None]]:
    """By brute force: when each auction closed, and whose bid in [open, end) was the highest."""
    by_item = defaultdict(list)
    for bid in in_time_order(streams):
        by_item[bid["itemid"]].append(bid)
    closed = {}
    for auction in rows(streams["open_auction"]):
        if auction["end"] > last_time:
            continue
        winning = None
        for bid in by_item[auction["itemid"]]:
            if not auction["time"] <= bid["bidTime"] < auction["end"]:
                continue
            if auction["reserve"] is not None and bid["price"] < auction["reserve"]:
                continue
            if winning is None or bid["price"] > winning["price"]:
                winning = bid
        closed[auction["id"]] = (auction["end"], winning["bidderId"] if winning else None)
    return closed


@pytest.fixture(scope="module")
def small() -> Firehose:
    return scaled_firehose("paper", events=40_000, seed=2)


@pytest.fixture(scope="module")
def streams(small: Firehose) -> dict[str, pa.Table]:
    return small.deliver(0, small.events)


def test_streams_and_proportions(streams: dict[str, pa.Table]) -> None:
    assert list(streams) == ["person", "item", "open_auction", "closed_auction", "bid-1"]
    for name, table in streams.items():
        assert table.schema.equals(PAPER.streams[name.partition("-")[0]])
    persons, items, bids = (streams[name].num_rows for name in ("person", "item", "bid-1"))
    assert persons + items + bids == 40_000
    assert (items - 50) / (persons - 50) == pytest.approx(10, rel=0.01)
    assert bids / (items - 50) == pytest.approx(10, rel=0.01)


def test_fifty_persons_and_auctions_are_there_at_the_start(small: Firehose) -> None:
    preloaded = small.deliver(0, 100)
    assert {name: table.num_rows for name, table in preloaded.items() if table.num_rows} == {
        "person": 50,
        "item": 50,
        "open_auction": 50,
    }
    assert {row["time"] for name in ("person", "item") for row in rows(preloaded[name])} == {START}


def test_ids_join(streams: dict[str, pa.Table]) -> None:
    registered = {person["id"]: person["time"] for person in rows(streams["person"])}
    items = {item["id"]: item for item in rows(streams["item"])}
    auctions = rows(streams["open_auction"])
    assert len({auction["id"] for auction in auctions}) == len(auctions) == len(items)
    for auction in auctions:
        assert items[auction["itemid"]]["time"] == auction["time"], "item and auction come together"
        assert registered[auction["sellerId"]] <= auction["time"]
    for bid in rows(streams["bid-1"]):
        assert registered[bid["bidderId"]] <= bid["bidTime"]
    opened = {auction["id"]: auction for auction in auctions}
    for closed in rows(streams["closed_auction"]):
        auction = opened[closed["id"]]
        assert (closed["itemid"], closed["sellerId"]) == (auction["itemid"], auction["sellerId"])
    assert {item["categoryId"] for item in items.values()} <= set(range(303))
    asked = sum(item["categoryId"] == 10 for item in items.values())
    assert asked > 10, "query 3 has something to find"


def test_auctions_are_open_for_2_to_26_hours_and_hundreds_at_a_time(streams: dict[str, pa.Table]) -> None:
    auctions = rows(streams["open_auction"])
    lengths = np.array([auction["end"] - auction["time"] for auction in auctions])
    assert lengths.min() >= 2 * HOUR
    assert lengths.max() <= 26 * HOUR
    assert lengths.mean() == pytest.approx(14 * HOUR, rel=0.03)
    for day in (2, 3):
        now = START + day * 24 * HOUR
        assert 300 < sum(auction["time"] <= now < auction["end"] for auction in auctions) < 900
    assert 0.4 < np.mean([auction["reserve"] is None for auction in auctions]) < 0.6


def test_bids_go_to_open_auctions_and_only_rise(streams: dict[str, pa.Table]) -> None:
    auctions = {auction["itemid"]: auction for auction in rows(streams["open_auction"])}
    last: dict[int, int] = {}
    for bid in rows(streams["bid-1"]):
        auction = auctions[bid["itemid"]]
        assert auction["time"] <= bid["bidTime"] < auction["end"]
        if bid["itemid"] in last:
            assert 1 <= bid["price"] - last[bid["itemid"]] <= 25
        last[bid["itemid"]] = bid["price"]
    assert len(last) > 0.9 * len(auctions)


def test_every_ended_auction_closes_once_with_its_buyer(
    streams: dict[str, pa.Table], small: Firehose
) -> None:
    closed = rows(streams["closed_auction"])
    assert max(Counter(closing["id"] for closing in closed).values()) == 1
    expected = buyers(streams, small.last_time)
    assert {closing["id"]: (closing["time"], closing["buyerid"]) for closing in closed} == expected
    unsold = np.mean([closing["buyerid"] is None for closing in closed])
    assert 0.05 < unsold < 0.5
    times = [closing["time"] for closing in closed]
    assert times == sorted(times)


@settings(max_examples=15)
@given(
    seed=st.integers(0, 2**63 - 1),
    rate=st.sampled_from([0.02, 0.111, 0.9, 30.0, 5000.0]),
    bid_streams=st.integers(1, 4),
    disorder=st.sampled_from([0.0, 600.0, 100_000.0]),
    cuts=st.lists(st.integers(0, 5000), max_size=4),
)
def test_any_cutting_has_rising_prices_and_the_right_buyers(
    seed: int, rate: float, bid_streams: int, disorder: float, cuts: list[int]
) -> None:
    firehose = Firehose(
        "paper", 5000, rate, seed=seed, bid_streams=bid_streams, disorder=disorder if rate < 30 else 0.5
    )
    ranges = list(zip([0, *sorted(cuts)], [*sorted(cuts), 5000], strict=True))
    parts = [firehose.deliver(first, last) for first, last in ranges]
    streams = {name: pa.concat_tables([part[name] for part in parts]) for name in firehose.streams}
    closed = {row["id"]: (row["time"], row["buyerid"]) for row in rows(streams["closed_auction"])}
    assert closed == buyers(streams, firehose.last_time)
    prices = defaultdict(list)
    for bid in in_time_order(streams):
        prices[bid["itemid"]].append(bid["price"])
    for rising in prices.values():
        steps = np.diff(rising)
        assert ((steps >= 1) & (steps <= 25)).all()


def test_bid_streams_share_the_auctions_and_have_equal_parts() -> None:
    firehose = Firehose("paper", 100 + 411 * 10, 4.11, bid_streams=4)
    streams = firehose.deliver(0, firehose.events)
    assert [streams[f"bid-{number}"].num_rows for number in (1, 2, 3, 4)] == [1000] * 4
    items = [set(streams[f"bid-{number}"]["itemid"].to_pylist()) for number in (1, 2)]
    assert len(items[0] & items[1]) > 50


def test_a_rate_at_which_no_auction_might_be_open_is_refused() -> None:
    with pytest.raises(UserError, match="no auction would be open"):
        Firehose("paper", 1000, 0.001)


@pytest.mark.parametrize("count", [303, 3030, 30_300])
def test_categories_are_a_tree(count: int) -> None:
    table = categories(count)
    assert table.num_rows == count
    tree = table.to_pylist()
    assert [row["id"] for row in tree] == list(range(count))
    assert len({row["name"] for row in tree}) == count
    assert all(row["parent"] is None or row["parent"] < row["id"] for row in tree)
    assert sum(row["parent"] is None for row in tree) == 19
    assert table.slice(0, 303).equals(categories(303))


def test_scales_grow_in_all_four_ways() -> None:
    small, medium, large = PAPER_SCALES.values()
    for less, more in ((small, medium), (medium, large)):
        assert less.categories < more.categories
        assert less.bid_streams < more.bid_streams
        assert less.bids_per_second < more.bids_per_second
        assert less.duration <= more.duration
    assert scaled_firehose("paper").rate == pytest.approx(0.111)
    assert scaled_firehose("paper", bid_streams=3).rate == pytest.approx(0.311)
    assert scaled_firehose("paper", rate=1.0).events == 100 + 864_000
    assert scaled_firehose("modern", "large").events == 100_000_000
    with pytest.raises(UserError, match="several bid streams"):
        scaled_firehose("modern", bid_streams=2)
    with pytest.raises(UserError, match="the scale is one of small, medium, large"):
        scaled_firehose("modern", "huge")  # type: ignore[arg-type]
