"""Queries over rows of the tick: one statement for many ticks, against plain Python over all rows."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from tests.streaming_tables.engine.oracle import Table
from tests.streaming_tables.engine.reading import answers, bag, continuous, unused

from causeway.streaming_tables.engine.connection import Connection

Rows = list[tuple[Any, ...]]

_BEFORE = (
    "SELECT p.v, p.s, b.s AS before, {now} AS moment FROM {t} [INTERVAL 5] p LEFT JOIN {t} [INTERVAL 5] b "
    "ON b.v = p.v AND b.T = NOW() - INTERVAL 3 SECOND WHERE p.T = NOW() {sample}"
)


def _filled(db: Connection, seed: int) -> tuple[str, Table]:
    random = Random(seed)
    name, table = unused("arr"), Table(("v", "s"), period=60)
    db.sql(f"CREATE STREAMING TABLE {name} (v INT, s INT) RANGE INTERVAL 60")
    time, rows = 0, []
    for _ in range(80):
        time += random.choice([0, 0, 1, 3, 30])
        rows.append((random.choice([1, 2, 3, None]), random.randint(0, 9), time))
    db.append(name, rows)
    table.append(rows)
    return name, table


def _before(table: Table, tick: int, moment: int) -> Rows:
    found: Rows = []
    for p in table.by_time(tick, 0):
        earlier = [
            b["s"]
            for b in table.by_time(tick, 5)
            if b["T"] == tick - 3 and b["v"] == p["v"] and p["v"] is not None
        ]
        found += [(p["v"], p["s"], s, moment) for s in earlier or [None]]
    return found


def _larger(table: Table, tick: int) -> Rows:
    return [
        (p["v"], p["s"], p["T"], n["s"])
        for p in table.by_time(tick, 0)
        for n in table.by_time(tick, 9)
        if tick - 7 <= n["T"] <= tick - 2 and None not in (p["v"], n["v"]) and n["v"] > p["v"]
    ]


@pytest.mark.parametrize(
    ("text", "step", "of"),
    [
        (
            _BEFORE.format(t="{t}", now="NOW()", sample="SAMPLE REALTIME"),
            None,
            lambda table, tick: _before(table, tick, tick),
        ),
        (
            _BEFORE.format(t="{t}", now="1", sample="SAMPLE INTERVAL 2"),
            2,
            lambda table, tick: _before(table, tick, 1),
        ),
        (
            "SELECT p.*, n.s FROM {t} p [INTERVAL 0], {t} n [INTERVAL 9] WHERE p.T = NOW() AND n.v > p.v "
            "AND n.T BETWEEN NOW() - INTERVAL 7 SECOND AND NOW() - INTERVAL 2 SECOND SAMPLE REALTIME",
            None,
            _larger,
        ),
    ],
)
def test_all_ticks_at_once_are_each_tick(
    db: Connection, text: str, step: int | None, of: Callable[[Table, int], Rows]
) -> None:
    name, table = _filled(db, len(text))
    query = continuous(db, text.format(t=name))
    assert query is not None
    assert query.way == "arrivals"
    found = answers(query)
    assert [tick for tick, _ in found] == table.ticks(step)
    assert len(found) > 10
    assert sum(bool(rows) for _, rows in found) > 2
    for tick, rows in found:
        assert bag(rows) == bag(of(table, tick)), tick
    # A statement for each tick is a job for each: a few are enough.
    alone = continuous(db, text.format(t=name), "each tick")
    assert alone is not None
    after = found[-4][0]
    last = [(tick, bag(rows)) for tick, rows in found if tick > after]
    assert [(tick, bag(rows)) for tick, rows in answers(alone, after)] == last


@pytest.mark.parametrize(
    "text",
    [
        # Nothing says that p is a row of the tick, or when b may be.
        "SELECT p.v FROM {t} [INTERVAL 5] p WHERE p.T >= NOW() SAMPLE REALTIME",
        "SELECT p.v FROM {t} [INTERVAL 5] p, {t} [INTERVAL 5] b WHERE p.T = NOW() SAMPLE REALTIME",
        # A minute is not always as far from NOW().
        "SELECT p.v FROM {t} [INTERVAL 90] p, {t} [INTERVAL 90] b WHERE p.T = NOW() "
        "AND b.T = NOW() - NOW() % 60 SAMPLE REALTIME",
        # Further back than the window, or than the historical period.
        "SELECT p.v FROM {t} [INTERVAL 5] p, {t} [INTERVAL 5] b WHERE p.T = NOW() "
        "AND b.T = NOW() - INTERVAL 6 SECOND SAMPLE REALTIME",
        "SELECT p.v FROM {t} [INTERVAL 90] p, {t} [INTERVAL 90] b WHERE p.T = NOW() "
        "AND b.T = NOW() - INTERVAL 70 SECOND SAMPLE REALTIME",
        "SELECT count(*) FROM {t} [INTERVAL 5] p WHERE p.T = NOW() SAMPLE REALTIME",
        "SELECT p.v FROM {t} [INTERVAL 5] p WHERE p.T = NOW() ORDER BY p.v SAMPLE REALTIME",
    ],
)
def test_other_queries_go_another_way(db: Connection, text: str) -> None:
    query = continuous(db, text.format(t=_filled(db, 1)[0]))
    assert query is not None
    assert query.way != "arrivals"
