"""Who bids for what in the paper's model, and who wins: made again for any stretch of events, on its own.

A bid goes to one of the auctions that are open, by chance, and every bid for an auction is higher than the
last. How many there were before follows from the choices alone, and no auction is open for longer than 26
hours: so the choices of that time are made again, and nothing else of it.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from causeway.nexmark.generator.clock import Clock, first_event_at, time_of
from causeway.nexmark.generator.people import ACTIVE_PEOPLE
from causeway.nexmark.generator.schedule import (
    auctions_before,
    event_of_auction,
    event_of_person,
    persons_before,
)
from causeway.runtime.compiled import inlined, kernel
from causeway.runtime.randomness import I64, below, draw, key_of

__all__ = [
    "ABSENT",
    "LONGEST_OPEN",
    "SHORTEST_OPEN",
    "Bidding",
    "House",
    "ends_of",
    "price_of",
    "replay",
    "reserves_of",
]

_HOUR: Final = 3_600_000
SHORTEST_OPEN: Final = 2 * _HOUR
"""Milliseconds for which an auction is open at least."""
LONGEST_OPEN: Final = SHORTEST_OPEN + 24 * _HOUR

ABSENT: Final = -1
"""Stands for no buyer, and for no reserve."""

# 13, and a random number below 13 that the next bid need not have: two prices are 1 to 25 apart.
_RAISE: Final = 13
_HIGHEST_START: Final = 200

_TRIES: Final = 64

# What is drawn for an auction or a bid; below 64 are the draws of `people` and `goods`.
_OPEN_FOR, _START, _HAS_RESERVE, _RESERVE, _WANTED, _BIDDER = range(64, 70)
_RAISES: Final = 1_000_000
"""From here on, one for each bid of an auction."""


class House(NamedTuple):
    """What a kernel must know of the firehose."""

    clock: Clock
    bid_streams: int
    person_seed: np.uint64
    auction_seed: np.uint64
    bid_seed: np.uint64


class Bidding(NamedTuple):
    """The bids of a stretch of events, and how the auctions stand after it."""

    auction: I64
    """The number of the auction, for each event of the stretch; of use only where the event is a bid."""
    bidder: I64
    price: I64
    first_auction: int
    """The number of the first auction below."""
    end: I64
    """When each of the auctions ends; milliseconds since 1970."""
    buyer: I64
    """Who has made the highest bid that reaches the reserve; ABSENT if there is none."""


@inlined
def _end_of(house: House, auction: int) -> int:
    opened = time_of(house.clock, event_of_auction(house.bid_streams, auction))
    random = draw(key_of(house.auction_seed, auction), _OPEN_FOR)
    return opened + SHORTEST_OPEN + below(random, LONGEST_OPEN - SHORTEST_OPEN + 1)


@inlined
def _start_of(house: House, auction: int) -> int:
    return 1 + below(draw(key_of(house.auction_seed, auction), _START), _HIGHEST_START)


@inlined
def _reserve_of(house: House, auction: int) -> int:
    """One auction in two has a reserve, 20 to 120 per cent above its start."""
    key = key_of(house.auction_seed, auction)
    if below(draw(key, _HAS_RESERVE), 2) == 0:
        return ABSENT
    start = _start_of(house, auction)
    return start + start * (20 + below(draw(key, _RESERVE), 101)) // 100


@kernel
def price_of(house: House, auction: int, place: int) -> int:
    """The price of bid `place`, counted from 0, for an auction."""
    random = draw(key_of(house.auction_seed, auction), _RAISES + place)
    return _start_of(house, auction) + _RAISE * place + below(random, _RAISE)


@kernel
def ends_of(house: House, auctions: I64) -> I64:
    """When auctions end; milliseconds since 1970."""
    ends = np.empty(auctions.size, np.int64)
    for i in range(auctions.size):
        ends[i] = _end_of(house, auctions[i])
    return ends


@kernel
def reserves_of(house: House, auctions: I64) -> I64:
    """The reserves of auctions; ABSENT for none."""
    reserves = np.empty(auctions.size, np.int64)
    for i in range(auctions.size):
        reserves[i] = _reserve_of(house, auctions[i])
    return reserves


@inlined
def _bidder_of(house: House, event: int) -> int:
    persons = persons_before(house.bid_streams, event)
    random = draw(key_of(house.bid_seed, event), _BIDDER)
    return persons - 1 - below(random, min(persons, ACTIVE_PEOPLE))


@kernel
def replay(house: House, first: int, last: int, ending_from: int) -> Bidding:
    """The bids of events `first` to `last` - 1, and who buys what of the auctions that end then.

    These are the auctions that do not end before `ending_from`, which is not after the time of event `first`.
    """
    clock, streams = house.clock, house.bid_streams
    newest = auctions_before(streams, last)
    base = auctions_before(streams, first_event_at(clock, ending_from - LONGEST_OPEN))
    begin = min(event_of_auction(streams, base), first)
    # The first of the bids made again may go to auctions older than those that matter here.
    oldest = auctions_before(streams, first_event_at(clock, time_of(clock, begin) - LONGEST_OPEN))
    opened = np.empty(max(newest - oldest, 0), np.int64)
    end = np.empty(opened.size, np.int64)
    for i in range(opened.size):
        opened[i] = time_of(clock, event_of_auction(streams, oldest + i))
        end[i] = _end_of(house, oldest + i)
    bids = np.zeros(opened.size, np.int64)
    highest_bid = np.zeros(opened.size, np.int64)

    auction = np.zeros(last - first, np.int64)
    bidder = np.zeros(last - first, np.int64)
    price = np.zeros(last - first, np.int64)
    eldest = 0
    there = auctions_before(streams, begin) - oldest
    persons = persons_before(streams, begin)
    next_auction = event_of_auction(streams, oldest + there)
    next_person = event_of_person(streams, persons)
    for event in range(begin, last):
        if event == next_auction:
            there += 1
            next_auction = event_of_auction(streams, oldest + there)
            continue
        if event == next_person:
            persons += 1
            next_person = event_of_person(streams, persons)
            continue
        now = time_of(clock, event)
        while opened[eldest] < now - LONGEST_OPEN:
            eldest += 1
        random = draw(key_of(house.bid_seed, event), _WANTED)
        # The newest is always open: auctions follow one another sooner than any of them ends.
        wanted = there - 1
        for attempt in range(_TRIES):
            candidate = eldest + below(draw(random, attempt), there - eldest)
            if end[candidate] > now:
                wanted = candidate
                break
        if event >= first:
            auction[event - first] = oldest + wanted
            bidder[event - first] = _bidder_of(house, event)
            price[event - first] = price_of(house, oldest + wanted, bids[wanted])
        bids[wanted] += 1
        highest_bid[wanted] = event

    skipped = min(base - oldest, opened.size)
    buyer = np.full(opened.size - skipped, ABSENT, np.int64)
    for i in range(skipped, opened.size):
        # Prices rise: the last bid is the highest.
        if bids[i] > 0 and price_of(house, oldest + i, bids[i] - 1) >= _reserve_of(house, oldest + i):
            buyer[i - skipped] = _bidder_of(house, highest_bid[i])
    return Bidding(auction, bidder, price, oldest + skipped, end[skipped:], buyer)
