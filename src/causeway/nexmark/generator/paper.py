"""The paper's events, as its authors' firehose had them: arrays of event numbers in, tables out.

An auction and its item come with one event. A closed auction is no event of its own: it comes when the
auction's end passes.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from causeway.nexmark.generator.bidding import ABSENT, Bidding, House, ends_of, reserves_of
from causeway.nexmark.generator.clock import times_of
from causeway.nexmark.generator.goods import descriptions, item_names
from causeway.nexmark.generator.people import (
    ACTIVE_PEOPLE,
    cities,
    credit_cards,
    email_addresses,
    names,
    states,
)
from causeway.nexmark.generator.schedule import auctions_before, event_of_auction, persons_before
from causeway.nexmark.generator.text import digits, drawn
from causeway.nexmark.model import PAPER
from causeway.runtime.compiled import kernel
from causeway.runtime.randomness import I64, below, draw, draws_below, key_of, keys_of

__all__ = ["auctions", "bids", "closed_auctions", "persons"]

# Query 2 asks for items 1007 and up. Auctions are counted from elsewhere, so that a query that takes one
# for the other does not come out right by chance.
_FIRST_PERSON: Final = 1000
_FIRST_ITEM: Final = 1000
_FIRST_AUCTION: Final = 1

_LOT_LIMIT: Final = 10
_TYPES: Final = ("Regular", "Featured", "Regular, Dutch", "Featured, Dutch")
_COUNTRIES: Final = ("United States",)

# What is drawn for a person or an auction; those below are of `people`, `goods` and `bidding`.
_SELLER, _CATEGORY, _QUANTITY, _TYPE, _ZIP_CODE, _COUNTRY, _HAS_CARD = range(80, 87)


def persons(house: House, events: I64) -> pa.Table:
    """The persons that register with `events`; as in XMark, not everybody has a credit card."""
    numbers = _numbers_of_persons(house.bid_streams, events)
    keys = keys_of(house.person_seed, numbers)
    has_card = pa.array(draws_below(keys, _HAS_CARD, 2) > 0)
    return _table(
        "person",
        pa.array(_FIRST_PERSON + numbers),
        names(keys),
        email_addresses(keys),
        pc.if_else(has_card, credit_cards(keys), pa.scalar(None, pa.string())),
        cities(keys),
        states(keys),
        drawn(keys, _COUNTRY, _COUNTRIES),
        digits(keys, _ZIP_CODE, 5),
        _times(times_of(house.clock, events)),
    )


def auctions(house: House, categories: int, events: I64) -> tuple[pa.Table, pa.Table]:
    """The items that are put up with `events`, and their auctions."""
    numbers = _numbers_of_auctions(house.bid_streams, events)
    keys = keys_of(house.auction_seed, numbers)
    time = _times(times_of(house.clock, events))
    item = pa.array(_FIRST_ITEM + numbers)
    reserve = reserves_of(house, numbers)
    return _table(
        "item",
        item,
        item_names(keys),
        descriptions(keys),
        pa.array(_popular_first(draws_below(keys, _CATEGORY, 2**31), categories)),
        pa.array(1 + draws_below(keys, _QUANTITY, _LOT_LIMIT)),
        time,
    ), _table(
        "open_auction",
        pa.array(_FIRST_AUCTION + numbers),
        item,
        pa.array(_FIRST_PERSON + _sellers(house, numbers)),
        pa.array(reserve, mask=reserve == ABSENT),
        drawn(keys, _TYPE, _TYPES),
        time,
        _times(ends_of(house, numbers)),
    )


def closed_auctions(house: House, bidding: Bidding, places: I64) -> pa.Table:
    """The closings of the auctions at `places` of what was replayed."""
    numbers = bidding.first_auction + places
    buyer = bidding.buyer[places]
    return _table(
        "closed_auction",
        pa.array(_FIRST_AUCTION + numbers),
        pa.array(_FIRST_ITEM + numbers),
        pa.array(_FIRST_PERSON + _sellers(house, numbers)),
        pa.array(_FIRST_PERSON + buyer, mask=buyer == ABSENT),
        _times(bidding.end[places]),
    )


def bids(house: House, bidding: Bidding, first: int, events: I64) -> pa.Table:
    """The bids made with `events`, out of those replayed from event `first` on."""
    places = events - first
    return _table(
        "bid",
        pa.array(_FIRST_ITEM + bidding.auction[places]),
        pa.array(_FIRST_PERSON + bidding.bidder[places]),
        pa.array(bidding.price[places]),
        _times(times_of(house.clock, events)),
    )


def _table(stream: str, *columns: pa.Array) -> pa.Table:
    return pa.table(list(columns), names=PAPER.streams[stream].names)


def _times(milliseconds: I64) -> pa.Array:
    return pa.array(milliseconds).cast(PAPER.streams["bid"].field("bidTime").type)


def _popular_first(random: I64, categories: int) -> I64:
    """A category for each of the numbers below 2^31: the lower the category, the more items it has.

    With 303 categories, one item in 110 is of category 10, which query 3 asks for; were all of them equally
    likely, that query would have next to no answers.
    """
    return ((random * random) >> 31) * categories >> 31


@kernel
def _numbers_of_persons(bid_streams: int, events: I64) -> I64:
    numbers = np.empty(events.size, np.int64)
    for i in range(events.size):
        numbers[i] = persons_before(bid_streams, events[i])
    return numbers


@kernel
def _numbers_of_auctions(bid_streams: int, events: I64) -> I64:
    numbers = np.empty(events.size, np.int64)
    for i in range(events.size):
        numbers[i] = auctions_before(bid_streams, events[i])
    return numbers


@kernel
def _sellers(house: House, auctions: I64) -> I64:
    sellers = np.empty(auctions.size, np.int64)
    for i in range(auctions.size):
        persons = persons_before(house.bid_streams, event_of_auction(house.bid_streams, auctions[i]))
        random = draw(key_of(house.auction_seed, auctions[i]), _SELLER)
        sellers[i] = persons - 1 - below(random, min(persons, ACTIVE_PEOPLE))
    return sellers
