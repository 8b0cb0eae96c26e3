"""What an ideal system, of infinite speed and perfect knowledge, would have told when: one SQL text a query.

    modern/q05.sql   over views of all events, named as the streams

A text may also select from `answer`, the batch statement of its query, and from the tables that batch
statements share. Its columns are `time`, the event time from which nothing to come can change the answer (a
window's end, a closing, the later side of a join), and what the distance needs. Comments say the rest:

    -- distance: rows    every row is an answer; with `ours`, a key's answer is replaced by its next
    -- distance: value   `key` and its current `value`
    -- distance: set     the rows of one time are the current set of `key`s
    -- unit: bids        of the distance
    -- ours: key=… value=… newest=… part=…

`ours` tells in SQL which columns of our answers are the same. A row without a key is not compared. Of
several values of a key in a batch, or of several sets, the one with the highest `newest` counts, else the one
furthest down. Where a key has parts, its value is the sum of theirs. The rules are this project's own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from causeway.nexmark.judge.batch import statement
from causeway.nexmark.queries import Query

__all__ = ["DISTANCES", "Ideal", "find_ideal"]

DISTANCES: Final = ("rows", "value", "set")
_HEADER: Final = re.compile(r"^-- (distance|unit|ours): *(.+)$", re.MULTILINE)
_OURS: Final = re.compile(r"\b(key|value|newest|part)=")
_BATCH: Final = "causeway.nexmark.judge.batch"
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
    number = int(query.name[1:])
    text = (files(__package__) / query.model / f"q{number:02d}.sql").read_text(encoding="utf-8")
    facts = dict(_HEADER.findall(text))
    parts = _OURS.split(facts.get("ours", ""))[1:]
    return Ideal(
        words=text.splitlines()[0].removeprefix("-- ").rstrip("."),
        distance=facts["distance"],
        unit=facts["unit"],
        ours={name: told.strip() for name, told in zip(parts[::2], parts[1::2], strict=True)},
        text=_with_tables(query.model, number, text),
    )


def _with_tables(model: str, number: int, text: str) -> str:
    letter = {"modern": "q", "paper": "Q"}[model]
    named = set(re.findall(r"\b(?:FROM|JOIN)\s+(\w+)", re.sub(r"--.*", "", text)))
    tables = {}
    if "answer" in named:
        tables["answer"] = statement(model, f"{letter}{number}", _RULES)
    shared = (file for file in (files(_BATCH) / model).iterdir() if not re.match(r"q\d\d\.", file.name))
    for file in shared:
        name = file.name.removesuffix(".sql")
        if name in named:
            tables[name] = file.read_text(encoding="utf-8")
    for name, table in tables.items():
        text = f"WITH {name} AS (\n{table})\nSELECT * FROM (\n{text})\n"
    return text
