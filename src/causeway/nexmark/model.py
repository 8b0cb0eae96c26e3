"""What the streams of an auction house carry: the paper's model and the modern one.

All times are milliseconds since 1970, UTC.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

__all__ = ["ARRIVAL", "MODELS", "MODERN", "OPTIONAL", "PAPER", "Model"]

ARRIVAL: Final = "arrival"
"""A column that every stream has besides its own: where an event stood in the order of delivery."""

OPTIONAL: Final = frozenset(
    {"extra", "channel", "url", "reserve", "buyerid", "email", "emailAddress", "creditcard", "creditCard"}
    | {"city", "state", "country", "zipcode", "name", "itemName", "description", "type", "quantity"}
    | {"initialBid"}
)
"""Columns without which an event is still one: no query of the benchmark finds its rows by them."""

_TIME: Final = pa.timestamp("ms", tz="UTC")


@dataclass(frozen=True)
class Model:
    """The streams of a model, each with its columns and the one that tells when the event happened."""

    name: str
    streams: Mapping[str, pa.Schema]
    time: Mapping[str, str]


MODERN: Final = Model(
    name="modern",
    streams={
        "person": pa.schema(
            [
                ("id", pa.int64()),
                ("name", pa.string()),
                ("emailAddress", pa.string()),
                ("creditCard", pa.string()),
                ("city", pa.string()),
                ("state", pa.string()),
                ("dateTime", _TIME),
                ("extra", pa.string()),
            ]
        ),
        "auction": pa.schema(
            [
                ("id", pa.int64()),
                ("itemName", pa.string()),
                ("description", pa.string()),
                ("initialBid", pa.int64()),
                ("reserve", pa.int64()),
                ("dateTime", _TIME),
                ("expires", _TIME),
                ("seller", pa.int64()),
                ("category", pa.int64()),
                ("extra", pa.string()),
            ]
        ),
        "bid": pa.schema(
            [
                ("auction", pa.int64()),
                ("bidder", pa.int64()),
                ("price", pa.int64()),
                ("channel", pa.string()),
                ("url", pa.string()),
                ("dateTime", _TIME),
                ("extra", pa.string()),
            ]
        ),
    },
    time={"person": "dateTime", "auction": "dateTime", "bid": "dateTime"},
)
"""Three entities, 1 : 3 : 46, as today's engines run it (after Apache Beam)."""

PAPER: Final = Model(
    name="paper",
    streams={
        "person": pa.schema(
            [
                ("id", pa.int64()),
                ("name", pa.string()),
                ("email", pa.string()),
                ("creditcard", pa.string()),
                ("city", pa.string()),
                ("state", pa.string()),
                ("country", pa.string()),
                ("zipcode", pa.string()),
                ("time", _TIME),
            ]
        ),
        "item": pa.schema(
            [
                ("id", pa.int64()),
                ("name", pa.string()),
                ("description", pa.string()),
                ("categoryId", pa.int64()),
                ("quantity", pa.int64()),
                ("time", _TIME),
            ]
        ),
        "open_auction": pa.schema(
            [
                ("id", pa.int64()),
                ("itemid", pa.int64()),
                ("sellerId", pa.int64()),
                ("reserve", pa.int64()),
                ("type", pa.string()),
                ("time", _TIME),
                ("end", _TIME),
            ]
        ),
        "closed_auction": pa.schema(
            [
                ("id", pa.int64()),
                ("itemid", pa.int64()),
                ("sellerId", pa.int64()),
                ("buyerid", pa.int64()),
                ("time", _TIME),
            ]
        ),
        "bid": pa.schema(
            [
                ("itemid", pa.int64()),
                ("bidderId", pa.int64()),
                ("price", pa.int64()),
                ("bidTime", _TIME),
            ]
        ),
    },
    time={
        "person": "time",
        "item": "time",
        "open_auction": "time",
        "closed_auction": "time",
        "bid": "bidTime",
    },
)
"""The draft of 2002: five streams and a static file of categories (`category`: id, name, parent)."""

MODELS: Final = {model.name: model for model in (PAPER, MODERN)}
