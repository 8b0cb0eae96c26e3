"""The modern model's events, after Apache Beam's generator: arrays of event numbers in, tables out.

Of fifty events the first is a person, the next three are auctions and the rest bids. Beam lets a seller or
bidder be one of the next ten persons to come, and bids go to auctions not yet opened; here both exist when
they are named.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from causeway.nexmark.generator.clock import Clock, time_of, times_of
from causeway.nexmark.generator.goods import descriptions, item_names
from causeway.nexmark.generator.people import (
    ACTIVE_PEOPLE,
    cities,
    credit_cards,
    email_addresses,
    names,
    states,
)
from causeway.nexmark.generator.text import chosen, fill_letters, joined, letters, string_column
from causeway.nexmark.model import MODERN
from causeway.runtime.compiled import inlined, kernel
from causeway.runtime.randomness import (
    I32,
    I64,
    U64,
    below,
    draw,
    draws_below,
    key_of,
    keys_of,
    seeded,
)

__all__ = ["PRICE_SPAN", "auctions", "bids", "persons", "split"]

_PERSONS, _AUCTIONS = 1, 3
_CYCLE: Final = 50
_FIRST_ID: Final = 1000
_FIRST_CATEGORY, _CATEGORIES = 10, 5

# One of so many is not hot; and the hot one is the first (of bidders, the second) of each hundred.
_HOT_AUCTION_RATIO, _HOT_SELLER_RATIO, _HOT_BIDDER_RATIO = 2, 4, 4
_HOT_EVERY: Final = 100
_IN_FLIGHT_AUCTIONS: Final = 100

PRICE_SPAN: Final = (100, 100_000_000)
"""Prices in cents: 10^0 to 10^6 dollars, every decade as likely as every other."""
_PRICE_STEPS: Final = 4096

_HOT_CHANNELS: Final = ("Google", "Facebook", "Baidu", "Apple")
_HOT_CHANNEL_RATIO: Final = 2
_OTHER_CHANNELS: Final = 10_000

# Eight letters a unit; with the other fields about 200, 500 and 100 bytes, a bid's channel and url aside.
_PERSON_EXTRA = (13, 18)
_AUCTION_EXTRA = (38, 57)
_BID_EXTRA = (7, 10)

# What is drawn for an event; below 64 are the draws of `people` and `goods`.
(
    _HOT, _CHOICE, _HOT_PERSON, _PERSON_CHOICE, _PRICE, _RESERVE, _LENGTH, _CATEGORY, _CHANNEL, _EXTRA,
    _CHANNEL_ID, _PATH,
) = range(64, 76)  # fmt: skip

_EVENT_KIND, _CHANNEL_KIND = 0, 1


def split(events: I64) -> tuple[I64, I64, I64]:
    """The persons, auctions and bids among `events`, each in the order given."""
    place = events % _CYCLE
    bid = place >= _PERSONS + _AUCTIONS
    return events[place < _PERSONS], events[(place >= _PERSONS) & ~bid], events[bid]


def persons(clock: Clock, seed: int, events: I64) -> pa.Table:
    """The persons that register with `events`."""
    keys = keys_of(seeded(seed, _EVENT_KIND), events)
    return _table(
        "person",
        pa.array(_FIRST_ID + events // _CYCLE),
        names(keys),
        email_addresses(keys),
        credit_cards(keys),
        cities(keys),
        states(keys),
        _times(times_of(clock, events)),
        letters(keys, _EXTRA, *_PERSON_EXTRA),
    )


def auctions(clock: Clock, seed: int, events: I64) -> pa.Table:
    """The auctions that open with `events`."""
    keys = keys_of(seeded(seed, _EVENT_KIND), events)
    opened = _auctions(clock, keys, events, _price_table())
    return _table(
        "auction",
        pa.array(opened.id),
        item_names(keys),
        descriptions(keys),
        pa.array(opened.initial_bid),
        pa.array(opened.reserve),
        _times(times_of(clock, events)),
        _times(opened.expires),
        pa.array(opened.seller),
        pa.array(_FIRST_CATEGORY + draws_below(keys, _CATEGORY, _CATEGORIES)),
        letters(keys, _EXTRA, *_AUCTION_EXTRA),
    )


def bids(clock: Clock, seed: int, events: I64) -> pa.Table:
    """The bids made with `events`."""
    made = _bids(seeded(seed, _EVENT_KIND), events, _price_table())
    channel, url = _channels(seed)
    return _table(
        "bid",
        pa.array(made.auction),
        pa.array(made.bidder),
        pa.array(made.price),
        chosen(made.channel, channel),
        chosen(made.channel, url),
        _times(times_of(clock, events)),
        string_column(made.extra_offsets, made.extra_words),
    )


def _table(stream: str, *columns: pa.Array) -> pa.Table:
    return pa.table(list(columns), names=MODERN.streams[stream].names)


def _times(milliseconds: I64) -> pa.Array:
    return pa.array(milliseconds).cast(MODERN.streams["bid"].field("dateTime").type)


@lru_cache(maxsize=1)
def _price_table() -> I64:
    """Prices at equal steps of the logarithm, by arithmetic that is the same on every machine."""
    lowest, highest = PRICE_SPAN
    with localcontext(prec=30):
        ratio = (Decimal(highest) / lowest).ln() / _PRICE_STEPS
        return np.array(
            [int((lowest * (ratio * step).exp()).to_integral_value()) for step in range(_PRICE_STEPS + 1)]
        )


@lru_cache(maxsize=2)
def _channels(seed: int) -> tuple[pa.StringArray, pa.StringArray]:
    """Every channel and its url, the hot ones first; the urls of nine in ten others tell an identifier."""
    keys = keys_of(seeded(seed, _CHANNEL_KIND), np.arange(len(_HOT_CHANNELS) + _OTHER_CHANNELS))
    parts = [letters(keys, _PATH + part, 1, 1) for part in range(3)]
    url = joined("https://www.nexmark.com/", parts[0], "/", parts[1], "/", parts[2], "/item.htm?query=1")
    identifier = draws_below(keys, _CHANNEL_ID, 2**31)
    has_identifier = draws_below(keys, _HOT, 10) > 0
    has_identifier[: len(_HOT_CHANNELS)] = False
    with_identifier = joined(url, "&channel_id=", pa.array(identifier))
    channel = [*_HOT_CHANNELS, *(f"channel-{number}" for number in range(_OTHER_CHANNELS))]
    return pa.array(channel, pa.string()), pc.if_else(pa.array(has_identifier), with_identifier, url)


class _Auctions(NamedTuple):
    id: I64
    seller: I64
    initial_bid: I64
    reserve: I64
    expires: I64


class _Bids(NamedTuple):
    auction: I64
    bidder: I64
    price: I64
    channel: I32
    extra_offsets: I32
    extra_words: U64


@inlined
def _price(random: np.uint64, table: I64) -> int:
    """A price from the table, in between by a straight line."""
    step = np.int64(random >> np.uint64(52))
    between = np.int64((random >> np.uint64(20)) & np.uint64(0xFFFFFFFF))
    return table[step] + (((table[step + 1] - table[step]) * between) >> 32)  # type: ignore[no-any-return]


@inlined
def _active_person(random: np.uint64, newest: int) -> int:
    return newest - below(random, min(newest + 1, ACTIVE_PEOPLE))


@kernel
def _auctions(clock: Clock, keys: U64, events: I64, prices: I64) -> _Auctions:
    opened = _Auctions(
        np.empty(events.size, np.int64),
        np.empty(events.size, np.int64),
        np.empty(events.size, np.int64),
        np.empty(events.size, np.int64),
        np.empty(events.size, np.int64),
    )
    for i in range(events.size):
        event, key = events[i], keys[i]
        cycle = event // _CYCLE
        opened.id[i] = _FIRST_ID + cycle * _AUCTIONS + event % _CYCLE - _PERSONS
        if below(draw(key, _HOT_PERSON), _HOT_SELLER_RATIO) > 0:
            seller = cycle // _HOT_EVERY * _HOT_EVERY
        else:
            seller = _active_person(draw(key, _PERSON_CHOICE), cycle)
        opened.seller[i] = _FIRST_ID + seller
        opened.initial_bid[i] = _price(draw(key, _PRICE), prices)
        opened.reserve[i] = opened.initial_bid[i] + _price(draw(key, _RESERVE), prices)
        # As long as it takes until the auctions in flight have followed it, on average.
        time = time_of(clock, event)
        horizon = time_of(clock, event + _IN_FLIGHT_AUCTIONS * _CYCLE // _AUCTIONS) - time
        longest = np.uint64(max(2 * horizon, 1))
        opened.expires[i] = time + 1 + np.int64((draw(key, _LENGTH) >> np.uint64(1)) % longest)
    return opened


@kernel
def _bids(seed: np.uint64, events: I64, prices: I64) -> _Bids:
    minimum, maximum = _BID_EXTRA
    hot_channels = len(_HOT_CHANNELS)
    auction = np.empty(events.size, np.int64)
    bidder = np.empty(events.size, np.int64)
    price = np.empty(events.size, np.int64)
    channel = np.empty(events.size, np.int32)
    offsets = np.empty(events.size + 1, np.int32)
    words = np.empty(events.size * maximum, np.uint64)
    written = 0
    offsets[0] = 0
    for i in range(events.size):
        key = key_of(seed, events[i])
        newest_person = events[i] // _CYCLE
        newest_auction = newest_person * _AUCTIONS + _AUCTIONS - 1

        if below(draw(key, _HOT), _HOT_AUCTION_RATIO) > 0:
            wanted = newest_auction // _HOT_EVERY * _HOT_EVERY
        else:
            wanted = newest_auction - below(draw(key, _CHOICE), min(newest_auction, _IN_FLIGHT_AUCTIONS) + 1)
        auction[i] = _FIRST_ID + wanted

        if below(draw(key, _HOT_PERSON), _HOT_BIDDER_RATIO) > 0:
            person = min(newest_person // _HOT_EVERY * _HOT_EVERY + 1, newest_person)
        else:
            person = _active_person(draw(key, _PERSON_CHOICE), newest_person)
        bidder[i] = _FIRST_ID + person

        price[i] = _price(draw(key, _PRICE), prices)

        random = draw(key, _CHANNEL)
        if random & np.uint64(_HOT_CHANNEL_RATIO - 1) > 0:
            channel[i] = below(random, hot_channels)
        else:
            channel[i] = hot_channels + below(random, _OTHER_CHANNELS)

        random = draw(key, _EXTRA)
        end = written + minimum + below(random, maximum - minimum + 1)
        fill_letters(words, written, end, random)
        written = end
        offsets[i + 1] = 8 * written
    return _Bids(auction, bidder, price, channel, offsets, words[:written].copy())
