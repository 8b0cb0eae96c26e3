"""The modern model: proportions, ids that join, hot ratios without correlation, sizes."""

from __future__ import annotations

import hashlib

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from causeway.nexmark.generator.encoding import content_bytes
from causeway.nexmark.generator.firehose import START, Firehose
from causeway.nexmark.generator.modern import PRICE_SPAN
from causeway.nexmark.model import MODERN

EVENTS = 200_000
RATE = 10_000.0


@pytest.fixture(scope="module")
def streams() -> dict[str, pa.Table]:
    return Firehose("modern", EVENTS, RATE, seed=3).deliver(0, EVENTS)


def numbers(table: pa.Table, name: str) -> np.ndarray:
    column = table[name]
    return (column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column).to_numpy()


def test_proportions_and_columns(streams: dict[str, pa.Table]) -> None:
    assert {name: table.num_rows for name, table in streams.items()} == {
        "person": EVENTS // 50,
        "auction": 3 * EVENTS // 50,
        "bid": 46 * EVENTS // 50,
    }
    for name, table in streams.items():
        assert table.schema.equals(MODERN.streams[name])
        assert all(column.null_count == 0 for column in table.columns)


def test_ids_and_times_are_those_of_the_event_numbers(streams: dict[str, pa.Table]) -> None:
    events = np.arange(EVENTS)
    assert np.array_equal(numbers(streams["person"], "id"), 1000 + np.arange(EVENTS // 50))
    assert np.array_equal(numbers(streams["auction"], "id"), 1000 + np.arange(3 * EVENTS // 50))
    for name, chosen in (
        ("person", events % 50 == 0),
        ("auction", (events % 50 >= 1) & (events % 50 <= 3)),
        ("bid", events % 50 >= 4),
    ):
        assert np.array_equal(numbers(streams[name], "dateTime"), START + events[chosen] // 10)


def test_everybody_and_everything_named_exists_already(streams: dict[str, pa.Table]) -> None:
    events = np.arange(EVENTS)
    for name, column, chosen in (
        ("auction", "seller", (events % 50 >= 1) & (events % 50 <= 3)),
        ("bid", "bidder", events % 50 >= 4),
    ):
        newest = 1000 + events[chosen] // 50
        named = numbers(streams[name], column)
        assert (named >= np.maximum(1000, newest - 999)).all()
        assert (named <= newest).all()
    auction = numbers(streams["bid"], "auction")
    newest = 1000 + events[events % 50 >= 4] // 50 * 3 + 2
    assert (auction <= newest).all()
    assert (auction >= np.maximum(1000, newest - 100)).all()


def hot(streams: dict[str, pa.Table]) -> dict[str, np.ndarray]:
    events = np.arange(EVENTS)
    bid_cycle = events[events % 50 >= 4] // 50
    auction_cycle = events[(events % 50 >= 1) & (events % 50 <= 3)] // 50
    return {
        "auction": numbers(streams["bid"], "auction") == 1000 + (3 * bid_cycle + 2) // 100 * 100,
        # The second of a hundred; the first, until the second is there.
        "bidder": numbers(streams["bid"], "bidder")
        == 1000 + np.minimum(bid_cycle // 100 * 100 + 1, bid_cycle),
        "seller": numbers(streams["auction"], "seller") == 1000 + auction_cycle // 100 * 100,
        "channel": pc.invert(pc.starts_with(streams["bid"]["channel"], "channel-")).to_numpy(),
    }


def test_hot_ratios(streams: dict[str, pa.Table]) -> None:
    # A cold choice may be the hot one by chance: one in a hundred auctions, fewer people.
    shares = {name: float(chosen.mean()) for name, chosen in hot(streams).items()}
    assert shares["auction"] == pytest.approx(0.505, abs=0.01)
    assert shares["bidder"] == pytest.approx(0.75, abs=0.01)
    assert shares["seller"] == pytest.approx(0.75, abs=0.02)
    assert shares["channel"] == pytest.approx(0.5, abs=0.01)


def test_being_hot_is_not_correlated(streams: dict[str, pa.Table]) -> None:
    chosen = hot(streams)
    # Elsewhere the first thousands of bids all go to the hot auction. Past the first auctions, ours don't.
    for begin in (1000, 2000, 4000):
        assert 0.42 < chosen["auction"][begin : begin + 1000].mean() < 0.59
    for one in ("auction", "bidder", "channel"):
        values = chosen[one].astype(float)
        for lag in (1, 2, 46, 50):
            assert abs(np.corrcoef(values[:-lag], values[lag:])[0, 1]) < 0.012
        for other in ("auction", "bidder", "channel"):
            if one < other:
                assert abs(np.corrcoef(values, chosen[other].astype(float))[0, 1]) < 0.012
    price = np.log(numbers(streams["bid"], "price"))
    assert abs(np.corrcoef(price, chosen["auction"].astype(float))[0, 1]) < 0.012


def test_prices_are_log_uniform(streams: dict[str, pa.Table]) -> None:
    price = numbers(streams["bid"], "price")
    lowest, highest = PRICE_SPAN
    assert price.min() >= lowest
    assert price.max() <= highest
    decades = np.histogram(np.log10(price / 100), bins=6, range=(0, 6))[0] / price.size
    assert np.allclose(decades, 1 / 6, atol=0.01)
    auction = streams["auction"]
    assert (numbers(auction, "reserve") >= numbers(auction, "initialBid") + lowest).all()


def test_an_auction_lasts_until_a_hundred_have_followed_on_average(streams: dict[str, pa.Table]) -> None:
    auction = streams["auction"]
    length = numbers(auction, "expires") - numbers(auction, "dateTime")
    horizon = 100 * 50 / 3 / RATE * 1000
    assert length.min() >= 1
    assert length.max() <= 2 * horizon + 2
    assert length.mean() == pytest.approx(horizon, rel=0.05)


def test_sizes_are_about_200_500_and_100_bytes(streams: dict[str, pa.Table]) -> None:
    for name, expected in (("person", 200), ("auction", 500), ("bid", 100)):
        table = streams[name]
        if name == "bid":
            table = table.drop_columns(["channel", "url"])
        assert content_bytes(table) / table.num_rows == pytest.approx(expected, rel=0.05)


def test_values_of_text(streams: dict[str, pa.Table]) -> None:
    person, auction, bid = (streams[name].to_pandas() for name in ("person", "auction", "bid"))
    assert set(person["state"]) == {"AZ", "CA", "ID", "OR", "WA", "WY"}
    assert set(auction["category"]) == {10, 11, 12, 13, 14}
    assert person["creditCard"].str.fullmatch(r"\d{4} \d{4} \d{4} \d{4}").all()
    assert person["emailAddress"].str.fullmatch(r"[a-p]{8}@[a-p]{8}\.com").all()
    assert person["name"].value_counts().size > 400
    assert auction["description"].str.fullmatch(r"[a-z]+( [a-z]+){3,12}").all()
    assert (auction["extra"].str.len() % 8 == 0).all()
    assert bid["extra"].is_unique

    base = r"https://www\.nexmark\.com/[a-p]+/[a-p]+/[a-p]+/item\.htm\?query=1"
    assert bid["url"].str.fullmatch(base + r"(&channel_id=\d+)?").all()
    by_channel = bid.groupby("channel")["url"].nunique()
    assert (by_channel == 1).all(), "a channel has one url"
    hot_channel = bid["channel"].isin(["Google", "Facebook", "Baidu", "Apple"])
    assert (hot_channel | bid["channel"].str.fullmatch(r"channel-\d{1,4}")).all()
    told = bid["url"].str.contains("&channel_id=")
    assert not told[hot_channel].any()
    assert told[~hot_channel].mean() == pytest.approx(0.9, abs=0.01)


def test_a_seed_gives_the_same_events_for_ever() -> None:
    bid = Firehose("modern", 5000, 100.0, seed=7).deliver(0, 5000)["bid"]
    columns = [numbers(bid, name) for name in ("auction", "bidder", "price", "dateTime")]
    text = "".join(bid["channel"].to_pylist() + bid["url"].to_pylist() + bid["extra"].to_pylist())
    digest = hashlib.sha256(b"".join(column.astype("<i8").tobytes() for column in columns) + text.encode())
    assert digest.hexdigest()[:16] == "c2fd0c9e413c2853"
    other = Firehose("modern", 5000, 100.0, seed=8).deliver(0, 5000)["bid"]
    assert (numbers(other, "price") == columns[2]).mean() < 0.01
