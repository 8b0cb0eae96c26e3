"""The paper's model: which event number is a person, an auction with its item, or a bid of which stream.

    50 persons, 50 auctions          there at the start, as in the authors' firehose
    person                           then, again and again
      auction, 10 bids a bid stream  ten times

So bids : items : persons = 100 : 10 : 1 for each bid stream (section 4.2); several of them take turns.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from causeway.runtime.compiled import kernel
from causeway.runtime.randomness import I64

__all__ = [
    "AUCTION",
    "FIRST_BID_STREAM",
    "PERSON",
    "PRELOADED",
    "auctions_before",
    "event_of_auction",
    "event_of_person",
    "kinds_of",
    "longest_between_auctions",
    "persons_before",
]

_PRELOADED_PERSONS: Final = 50
_PRELOADED_AUCTIONS: Final = 50
PRELOADED: Final = _PRELOADED_PERSONS + _PRELOADED_AUCTIONS

_ITEMS_PER_PERSON: Final = 10
_BIDS_PER_ITEM: Final = 10

PERSON: Final = 0
AUCTION: Final = 1
FIRST_BID_STREAM: Final = 2
"""Kinds from here on are bids, one kind for each stream."""


@kernel
def _kind_of(bid_streams: int, event: int) -> int:
    if event < _PRELOADED_PERSONS:
        return PERSON
    if event < PRELOADED:
        return AUCTION
    round_ = _BIDS_PER_ITEM * bid_streams + 1
    place = (event - PRELOADED) % (_ITEMS_PER_PERSON * round_ + 1)
    if place == 0:
        return PERSON
    place = (place - 1) % round_
    return AUCTION if place == 0 else FIRST_BID_STREAM + (place - 1) % bid_streams


@kernel
def kinds_of(bid_streams: int, events: I64) -> I64:
    """Of each event: PERSON, AUCTION, or FIRST_BID_STREAM and so on."""
    kinds = np.empty(events.size, np.int64)
    for i in range(events.size):
        kinds[i] = _kind_of(bid_streams, events[i])
    return kinds


@kernel
def persons_before(bid_streams: int, event: int) -> int:
    """How many persons there are when `event` comes; the number of the person that comes with it."""
    if event < PRELOADED:
        return min(event, _PRELOADED_PERSONS)
    cycle = _ITEMS_PER_PERSON * (_BIDS_PER_ITEM * bid_streams + 1) + 1
    return _PRELOADED_PERSONS + (event - PRELOADED + cycle - 1) // cycle


@kernel
def auctions_before(bid_streams: int, event: int) -> int:
    """How many auctions there have been when `event` comes; the number of the auction that comes with it."""
    if event < PRELOADED:
        return max(event - _PRELOADED_PERSONS, 0)
    round_ = _BIDS_PER_ITEM * bid_streams + 1
    cycle = _ITEMS_PER_PERSON * round_ + 1
    place = (event - PRELOADED) % cycle
    cycles = (event - PRELOADED) // cycle
    return _PRELOADED_AUCTIONS + cycles * _ITEMS_PER_PERSON + (place + round_ - 2) // round_


@kernel
def event_of_person(bid_streams: int, person: int) -> int:
    """The event with which person `person`, counted from 0, registers."""
    if person < _PRELOADED_PERSONS:
        return person
    cycle = _ITEMS_PER_PERSON * (_BIDS_PER_ITEM * bid_streams + 1) + 1
    return PRELOADED + (person - _PRELOADED_PERSONS) * cycle


@kernel
def event_of_auction(bid_streams: int, auction: int) -> int:
    """The event with which auction `auction`, counted from 0, opens."""
    if auction < _PRELOADED_AUCTIONS:
        return _PRELOADED_PERSONS + auction
    round_ = _BIDS_PER_ITEM * bid_streams + 1
    cycles = (auction - _PRELOADED_AUCTIONS) // _ITEMS_PER_PERSON
    place = (auction - _PRELOADED_AUCTIONS) % _ITEMS_PER_PERSON
    return PRELOADED + cycles * (_ITEMS_PER_PERSON * round_ + 1) + 1 + place * round_


def longest_between_auctions(bid_streams: int) -> int:
    """The most events from one auction to the next."""
    return _BIDS_PER_ITEM * bid_streams + 2
