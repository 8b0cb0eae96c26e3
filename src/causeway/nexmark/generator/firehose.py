"""The firehose stream generator (section 4.1): any stretch of a stream, made independently of the rest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, get_args

import numpy as np
import pyarrow as pa

from causeway.nexmark.generator import modern, paper
from causeway.nexmark.generator.bidding import LONGEST_OPEN, SHORTEST_OPEN, Bidding, House, replay
from causeway.nexmark.generator.clock import Clock, first_events_at, time_of
from causeway.nexmark.generator.schedule import (
    AUCTION,
    FIRST_BID_STREAM,
    PERSON,
    PRELOADED,
    kinds_of,
    longest_between_auctions,
)
from causeway.nexmark.model import MODELS
from causeway.runtime.compiled import kernel
from causeway.runtime.errors import UserError
from causeway.runtime.randomness import I64, below, draw, draws_below, key_of, keys_of, seeded

__all__ = ["DELIVERY_LIMIT", "START", "Firehose", "ModelName", "check_rate"]

ModelName = Literal["paper", "modern"]

START: Final = 1_436_918_400_000
"""2015-07-15 00:00 UTC, where the modern model's public generators begin."""

DELIVERY_LIMIT: Final = 10_000_000
"""Events of one delivery, or of the time that one may be late; a column of text has to stay below 2 GiB."""

_EVENT_LIMIT: Final = 10**12
_HIGHEST_RATE: Final = 1e9
_LONGEST: Final = 1000 * 365 * 86_400
"""Seconds of event time."""
_DISORDER_LIMIT: Final = 30 * 86_400
_SMALLEST_FILE: Final = 303
_CATEGORY_LIMIT: Final = 1_000_000
_BID_STREAM_LIMIT: Final = 1000

_PERSON_KIND, _AUCTION_KIND, _BID_KIND, _DELAY_KIND, _CLOSING_DELAY_KIND = range(16, 21)
_DELAY: Final = 0


@dataclass(frozen=True)
class Firehose:
    """`events` events of a model, each a function of the seed and its number alone.

    A firehose with more events begins with the same ones. Numbers count persons, auctions (an item and its
    auction are one) and bids; a closed auction comes before the first event that is not before its end.
    """

    model: ModelName
    events: int
    rate: float
    """Events a second of event time."""
    seed: int = 1
    bid_streams: int = 1
    """Of the paper's model only."""
    categories: int = _SMALLEST_FILE
    """Size of the paper's static file; the modern model has five and no file."""
    disorder: float = 0.0
    """Seconds of event time by which an event may come late; 0 is in order."""
    start: int = START
    """Time of the first event, in milliseconds since 1970."""

    def __post_init__(self) -> None:
        if self.model not in get_args(ModelName):
            raise UserError(f"the model is {' or '.join(get_args(ModelName))}; got {self.model}")
        check_rate(self.rate)
        if not 1 <= self.events <= _EVENT_LIMIT:
            raise UserError(f"the number of events is 1 to {_EVENT_LIMIT:,}; got {self.events:,}")
        if self.events / self.rate > _LONGEST:
            raise UserError(
                f"{self.events:,} events at a rate of {self.rate:g}/s would take more than a thousand years "
                "of event time; give fewer events or a higher rate"
            )
        if not 0 <= self.seed < 2**63:
            raise UserError(f"the seed is a whole number from 0 on; got {self.seed}")
        if not (0 <= self.disorder <= _DISORDER_LIMIT and self.disorder * self.rate <= DELIVERY_LIMIT):
            raise UserError(
                f"the disorder is in seconds, up to {_DISORDER_LIMIT:,} and up to {DELIVERY_LIMIT:,} events "
                f"of the rate; got {self.disorder:g} s at {self.rate:g} events/s"
            )
        if not 1 <= self.bid_streams <= _BID_STREAM_LIMIT:
            raise UserError(f"the number of bid streams is 1 to {_BID_STREAM_LIMIT}; got {self.bid_streams}")
        if self.model == "modern" and self.bid_streams != 1:
            raise UserError("several bid streams are for the paper model: the modern model has one")
        if not _SMALLEST_FILE <= self.categories <= _CATEGORY_LIMIT:
            raise UserError(f"categories: {_SMALLEST_FILE} to {_CATEGORY_LIMIT:,}; got {self.categories}")
        slowest = longest_between_auctions(self.bid_streams) * 1000 / SHORTEST_OPEN
        if self.model == "paper" and self.rate <= slowest:
            raise UserError(
                f"a rate of {self.rate:g} events/s is too slow: at times no auction would be open to bid "
                f"for; give more than {slowest:.2g} events/s"
            )

    @property
    def streams(self) -> dict[str, pa.Schema]:
        """The streams by name, each with its columns."""
        of_model = MODELS[self.model].streams
        if self.model == "modern":
            return dict(of_model)
        return {name: schema for name, schema in of_model.items() if name != "bid"} | {
            f"bid-{number}": of_model["bid"] for number in range(1, self.bid_streams + 1)
        }

    @property
    def first_time(self) -> int:
        """When the first event happens; milliseconds since 1970."""
        return self.start

    @property
    def last_time(self) -> int:
        """When the last event happens; milliseconds since 1970."""
        return time_of(self._clock, self.events - 1)

    @property
    def replayed_events(self) -> int:
        """How many events must be gone through, besides its own, to make a delivery."""
        return 0 if self.model == "modern" else int(LONGEST_OPEN / 1000 * self.rate) + self._most_late

    def deliver(self, first: int, last: int) -> dict[str, pa.Table]:
        """What comes from event number `first` to before `last`, by stream, in the order in which it comes.

        A late event comes with a later event's number, by at most `disorder` in event time. The delivery that
        ends with `events` has all that would come after it.
        """
        return {
            name: table.cast(self.streams[name]) for name, table in self.deliver_encoded(first, last).items()
        }

    def deliver_encoded(self, first: int, last: int) -> dict[str, pa.Table]:
        """As `deliver`, with text that repeats left as Arrow dictionaries, which files are made of faster."""
        if not 0 <= first <= last <= self.events:
            raise ValueError(f"events {first} to {last} are not within 0 to {self.events}")
        if last - first > DELIVERY_LIMIT:
            raise ValueError(f"{last - first:,} events are too many at once; take up to {DELIVERY_LIMIT:,}")
        if first == last:
            return {name: schema.empty_table() for name, schema in self.streams.items()}
        events = _delivered(seeded(self.seed, _DELAY_KIND), first, last, self._most_late, last == self.events)
        return self._modern(events) if self.model == "modern" else self._paper(first, last, events)

    def _modern(self, events: I64) -> dict[str, pa.Table]:
        persons, auctions, bids = modern.split(events)
        return {
            "person": modern.persons(self._clock, self.seed, persons),
            "auction": modern.auctions(self._clock, self.seed, auctions),
            "bid": modern.bids(self._clock, self.seed, bids),
        }

    def _paper(self, first: int, last: int, events: I64) -> dict[str, pa.Table]:
        house = self._house
        kinds = kinds_of(self.bid_streams, events)
        earliest = max(first - self._most_late, 0)
        since = time_of(self._clock, first) - self._most_late_ms - _ROUNDING
        bidding = replay(house, earliest, last, min(since, time_of(self._clock, earliest)))
        items, open_auctions = paper.auctions(house, self.categories, events[kinds == AUCTION])
        return {
            "person": paper.persons(house, events[kinds == PERSON]),
            "item": items,
            "open_auction": open_auctions,
            "closed_auction": paper.closed_auctions(house, bidding, self._closing(bidding, first, last)),
        } | {
            f"bid-{stream + 1}": paper.bids(
                house, bidding, earliest, events[kinds == FIRST_BID_STREAM + stream]
            )
            for stream in range(self.bid_streams)
        }

    def _closing(self, bidding: Bidding, first: int, last: int) -> I64:
        """Where in `bidding` the auctions are whose closing comes from `first` to before `last`, in order."""
        numbers = bidding.first_auction + np.arange(bidding.end.size)
        keys = keys_of(seeded(self.seed, _CLOSING_DELAY_KIND), numbers)
        comes = bidding.end + draws_below(keys, _DELAY, self._most_late_ms + 1)
        number = first_events_at(self._clock, comes)
        if last == self.events:
            coming = (number >= first) & (bidding.end <= self.last_time)
        else:
            coming = (number >= first) & (number < last)
        places = np.flatnonzero(coming)
        return places[np.argsort(comes[places], kind="stable")]

    @cached_property
    def _clock(self) -> Clock:
        return Clock(self.start, float(self.rate), PRELOADED if self.model == "paper" else 0)

    @cached_property
    def _house(self) -> House:
        return House(
            self._clock,
            self.bid_streams,
            seeded(self.seed, _PERSON_KIND),
            seeded(self.seed, _AUCTION_KIND),
            seeded(self.seed, _BID_KIND),
        )

    @property
    def _most_late(self) -> int:
        """In events, so that what is late is told exactly however many events share a millisecond."""
        return int(self.disorder * self.rate)

    @property
    def _most_late_ms(self) -> int:
        return int(self.disorder * 1000)


def check_rate(rate: float) -> None:
    """Tell the user if no firehose can have this rate."""
    if not 0 < rate <= _HIGHEST_RATE:
        raise UserError(f"the rate is a number of events per second, up to {_HIGHEST_RATE:g}; got {rate:g}")


# Times are whole milliseconds: two of them may be one further apart than the events are.
_ROUNDING: Final = 2


@kernel
def _delivered(seed: np.uint64, first: int, last: int, most_late: int, with_rest: bool) -> I64:
    """The events that come from `first` to before `last` (and all the rest), in the order in which they come.

    Of two that come with the same number, the earlier one comes first.
    """
    if most_late == 0:
        return np.arange(first, last)
    earliest = max(first - most_late, 0)
    places = last - first + most_late if with_rest else last - first
    comes = np.empty(last - earliest, np.int64)
    ends = np.zeros(places + 1, np.int64)
    for event in range(earliest, last):
        random = draw(key_of(seed, event), _DELAY)
        place = event + below(random, most_late + 1) - first
        comes[event - earliest] = place
        if 0 <= place < places:
            ends[place + 1] += 1
    for place in range(places):
        ends[place + 1] += ends[place]
    events = np.empty(ends[places], np.int64)
    for event in range(earliest, last):
        place = comes[event - earliest]
        if 0 <= place < places:
            events[ends[place]] = event
            ends[place] += 1
    return events
