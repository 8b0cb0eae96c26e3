"""Scale levels (section 4.2): the size of the static file, the bid streams, their rate, the duration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

from causeway.nexmark.generator.firehose import Firehose, ModelName, check_rate
from causeway.nexmark.generator.schedule import PRELOADED
from causeway.runtime.errors import UserError

__all__ = ["PAPER_SCALES", "ModernScale", "PaperScale", "ScaleName", "scaled_firehose"]

ScaleName = Literal["small", "medium", "large"]

_DAY: Final = 86_400

# For each bid of a stream, a tenth of an item and a hundredth of a person, whatever the number of streams.
_OTHERS_PER_BID: Final = 0.11


@dataclass(frozen=True)
class PaperScale:
    """What section 4.2 scales."""

    categories: int
    """Size of the static file."""
    bid_streams: int
    bids_per_second: float
    """Rate of one bid stream, in event time."""
    duration: int
    """Seconds of event time."""


@dataclass(frozen=True)
class ModernScale:
    """Rate and duration; the modern model has no more."""

    events_per_second: int
    duration: int


# An auction is open for 14 hours on average, and there is one for every ten bids of a stream: about 500 are
# open at a time in the small one ("hundreds", section 2), 5,000 and 25,000 in the others.
PAPER_SCALES: Final[dict[ScaleName, PaperScale]] = {
    "small": PaperScale(categories=303, bid_streams=1, bids_per_second=0.1, duration=10 * _DAY),
    "medium": PaperScale(categories=3030, bid_streams=4, bids_per_second=1, duration=10 * _DAY),
    "large": PaperScale(categories=30_300, bid_streams=8, bids_per_second=5, duration=20 * _DAY),
}
_MODERN_SCALES: Final[dict[ScaleName, ModernScale]] = {
    "small": ModernScale(10_000, 100),
    "medium": ModernScale(20_000, 500),
    "large": ModernScale(50_000, 2000),
}


def scaled_firehose(
    model: ModelName,
    scale: ScaleName = "small",
    *,
    events: int | None = None,
    rate: float | None = None,
    bid_streams: int | None = None,
    disorder: float = 0.0,
    seed: int = 1,
) -> Firehose:
    """The firehose of a scale level; what else is given takes the place of what the level says.

    `rate` is events a second of event time, of all streams together. Without it, a bid stream keeps its rate
    however many there are. Without `events`, the duration stays.
    """
    if scale not in get_args(ScaleName):
        raise UserError(f"the scale is one of {', '.join(get_args(ScaleName))}; got {scale}")
    if rate is not None:
        check_rate(rate)
    if model == "paper":
        level = PAPER_SCALES[scale]
        streams = level.bid_streams if bid_streams is None else bid_streams
        own_rate = round(level.bids_per_second * (streams + _OTHERS_PER_BID), 6)
        chosen_rate = own_rate if rate is None else rate
        return Firehose(
            model=model,
            events=PRELOADED + round(chosen_rate * level.duration) if events is None else events,
            rate=chosen_rate,
            seed=seed,
            bid_streams=streams,
            categories=level.categories,
            disorder=disorder,
        )
    modern = _MODERN_SCALES[scale]
    chosen_rate = modern.events_per_second if rate is None else rate
    return Firehose(
        model=model,
        events=round(chosen_rate * modern.duration) if events is None else events,
        rate=chosen_rate,
        seed=seed,
        bid_streams=1 if bid_streams is None else bid_streams,
        disorder=disorder,
    )
