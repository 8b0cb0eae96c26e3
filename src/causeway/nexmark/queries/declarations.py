"""What a streaming text declares in its comments, so that nobody has to take its SQL apart.

    -- reads: bid(auction, price)     a stream and the columns that the text uses; a line for each stream
    -- update by: auction, day        the columns that an answer replaces earlier ones by
    -- state store: rocksdb           where plain Spark keeps the state; `memory` where nothing is said

A text sees only the columns that it declares: one that it forgot is an unresolved column to Spark.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from causeway.nexmark.model import ARRIVAL, MODELS

__all__ = ["STATE_STORES", "Declarations", "read_declarations"]

STATE_STORES: Final = ("memory", "rocksdb")
"""Spark's own: in Java's memory, or in RocksDB."""

_DECLARATION: Final = re.compile(r"^-- (reads|update by|state store): *(.+?) *$", re.MULTILINE)
_READS: Final = re.compile(r"(\w+) *\(([^()]+)\)")


@dataclass(frozen=True)
class Declarations:
    """The declarations of one streaming text."""

    reads: Mapping[str, tuple[str, ...]]
    """The columns of each stream."""
    keys: tuple[str, ...]
    state_store: str = "memory"


def read_declarations(
    model: str, text: str, otherwise: Mapping[str, tuple[str, ...]] | None = None
) -> Declarations:
    """The declarations of a streaming text; raises ValueError where they do not fit the model.

    `otherwise` is what a text reads that does not say so.
    """
    reads: dict[str, tuple[str, ...]] = {}
    keys: tuple[str, ...] = ()
    state_store = "memory"
    for name, value in _DECLARATION.findall(text):
        if name == "update by":
            keys = _names(value)
        elif name == "state store":
            if value not in STATE_STORES:
                raise ValueError(f"`-- state store: {value}`: write one of {', '.join(STATE_STORES)}")
            state_store = value
        else:
            match = _READS.fullmatch(value)
            if match is None:
                raise ValueError(
                    f"`-- reads: {value}`: write a stream and its columns, as in bid(auction, price)"
                )
            reads[match[1]] = _names(match[2])
    streams = MODELS[model].streams
    for stream, columns in reads.items():
        if stream not in streams:
            raise ValueError(f"`-- reads: {stream}(…)`: the {model} model has {', '.join(streams)}")
        unknown = set(columns) - {*streams[stream].names, ARRIVAL}
        if unknown:
            raise ValueError(f"`-- reads: {stream}(…)`: there is no column {', '.join(sorted(unknown))}")
    reads = reads or dict(otherwise or {})
    if not reads:
        raise ValueError("a streaming text declares what it reads, as in `-- reads: bid(auction, price)`")
    return Declarations(reads, keys, state_store)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(","))
