"""What an ideal system, of infinite speed and perfect knowledge, would emit and when: `ideal.sql` of a query.

The text selects from views of all events, which are named as the streams. It may also select from `answer`,
the batch statement of its query, and from the tables that batch statements share. Its columns are `time`, the
event time from which nothing to come can change the answer (a window's end, a closing, the later side of a
join), and what the distance needs. Comments say the rest:

    -- distance: rows    every row is an answer; with `ours`, a key's answer is replaced by its next
    -- distance: value   `key` and its current `value`
    -- distance: set     the rows of one time are the current set of `key`s
    -- unit: bids        of the distance
    -- ours: key=… value=… newest=… part=…

`ours` says in SQL which columns of our answers are the same. A row without a key is not compared. Of
several values of a key in a batch, or of several sets, the one with the highest `newest` counts, else the one
furthest down. Where a key has parts, its value is the sum of theirs. The rules are this project's own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from causeway.nexmark.judge.batch import statement
from causeway.nexmark.queries import Query
from causeway.nexmark.queries.files import query_number, query_text, with_shared_tables
from causeway.runtime.errors import UserError

__all__ = ["DISTANCES", "Ideal", "find_ideal"]

DISTANCES: Final = ("rows", "value", "set")
_HEADER: Final = re.compile(r"^-- (distance|unit|ours): *(.+)$", re.MULTILINE)
_OURS: Final = re.compile(r"\b(key|value|newest|part)=")
_RULES: Final = "ours"


@dataclass(frozen=True)
class Ideal:
    """An ideal system's timeline for a query, and what of ours is compared with it."""

    words: str
    distance: str
    unit: str
    ours: dict[str, str]
    """SQL for `key`, `value`, `newest` and `part` of our answers; none where only their number counts."""
    text: str


def find_ideal(query: Query) -> Ideal:
    """The text of a query's name, with the tables that it selects from written in front."""
    text = query_text(query.model, query_number(query.model, query.name), "ideal")
    if text is None:
        raise UserError(
            f"the query {query.name} of the {query.model} model has no ideal timeline (ideal.sql)"
        )
    facts = dict(_HEADER.findall(text))
    parts = _OURS.split(facts.get("ours", ""))[1:]
    return Ideal(
        words=text.splitlines()[0].removeprefix("-- ").rstrip("."),
        distance=facts["distance"],
        unit=facts["unit"],
        ours={name: expression.strip() for name, expression in zip(parts[::2], parts[1::2], strict=True)},
        text=with_shared_tables(query.model, text, _RULES, answer=statement(query.model, query.name, _RULES)),
    )
