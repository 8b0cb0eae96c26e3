"""Views: their content is the answers of their ticks, whatever was cut where, and they are tables again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
from tests.streaming_tables.engine.oracle import MICROS, Table, view_content
from tests.streaming_tables.engine.reading import ask, bag, pulled, pushed, tuples, unused

from causeway.runtime.errors import UserError
from causeway.streaming_tables.engine.connection import Connection


def _sums(table: Table, step: int, length: int) -> list[tuple[int, list[tuple[Any, ...]]]]:
    found = []
    for tick in table.ticks(step):
        groups: dict[Any, list[int]] = {}
        for row in table.by_time(tick, length):
            groups.setdefault(row["v"], []).append(row["s"])
        found.append((tick, [(v, sum(values)) for v, values in groups.items()]))
    return found


@pytest.mark.parametrize("seed", range(3))
def test_a_view_and_a_view_over_it_do_not_depend_on_cuts(db: Connection, seed: int) -> None:
    random = Random(seed)
    name = unused("cut")
    slack = seed * 2
    table = Table(("v", "s"), period=20, slack=slack)
    db.sql(
        f"CREATE STREAMING TABLE {name} (v INT, s INT) RANGE INTERVAL 20 SLACK INTERVAL {slack} "
        "COMPARTMENT INTERVAL 10"
    )
    before = seed == 1
    rows: list[tuple[Any, ...]] = []
    time = 0
    for _ in range(60):
        time += random.choice([0, 0, 1, 3])
        rows.append(
            (random.choice([1, 2, None]), random.randint(0, 9), max(time - random.randint(0, slack), 0))
        )
    if before:
        db.append(name, rows[:20])
        table.append(rows[:20])
        rows = rows[20:]
    db.sql(
        f"CREATE VIEW {name}_a (v, total) RANGE INTERVAL 12 AS "
        f"(SELECT v, sum(s) FROM {name} [INTERVAL 5] GROUP BY v SAMPLE INTERVAL 4)"
    )
    db.sql(
        f"CREATE VIEW {name}_b RANGE INTERVAL 100 AS (SELECT v, count(*) AS n, max(total) AS most "
        f"FROM {name}_a [v ROWS 2] GROUP BY v SAMPLE REALTIME)"
    )
    while rows:
        size = random.choice([1, 2, 7, 30])
        db.append(name, rows[:size])
        table.append(rows[:size])
        rows = rows[size:]
        if random.random() < 0.2:
            db._background.writer(name).flush()
        if random.random() < 0.2:
            db._background.writer(f"{name}_a").flush()
        if random.random() < 0.2:
            db.sql(f"WAIT FOR {name}_b")
    db._background.writer(name).close_time()
    table.end()
    db.sql(f"WAIT FOR {name}_b")
    first = _sums(table, 4, 5)
    assert bag(ask(db, f"SELECT * FROM {name}_a")) == bag(view_content(first, 12))
    if before:
        # Of a view that is made later, ticks before its own period are not there for a view over it.
        return
    view = Table(("v", "total"), period=11)
    for tick, answer in first:
        view.append([(*row, tick) for row in answer])
        view.newest = tick
    # The view's last tick is over: it was answered as a whole.
    view.ended_at = view.newest
    second = []
    for tick in view.ticks(None):
        groups: dict[Any, list[int]] = {}
        for row in view.by_partition(tick, ["v"], 2):
            groups.setdefault(row["v"], []).append(row["total"])
        second.append((tick, [(v, len(values), max(values)) for v, values in groups.items()]))
    assert bag(ask(db, f"SELECT * FROM {name}_b")) == bag(view_content(second, 100))


def test_a_view_is_indexed_joined_and_windowed(db: Connection) -> None:
    name = unused("again")
    db.sql(f"CREATE STREAMING TABLE {name} (v INT, s INT) RANGE UNLIMITED")
    db.sql(
        f"CREATE VIEW {name}_n (v, n) RANGE INTERVAL 60 AS "
        f"(SELECT v, count(*) FROM {name} [INTERVAL 10] GROUP BY v SAMPLE INTERVAL 10)"
    )
    db.sql(f"CREATE INDEX i_{name} ON {name}_n (v)")
    db.append(name, [(number % 3, number, number) for number in range(41)])
    db.sql(f"WAIT FOR {name}_n UNTIL 30")
    assert bag(ask(db, f"SELECT * FROM {name}_n WHERE v = 1")) == bag([(1, 4, 10), (1, 4, 20), (1, 3, 30)])
    assert ask(
        db, f"SELECT max(p.s) FROM {name} p JOIN {name}_n n ON p.v = n.v AND p.T = n.T AND p.v = 2"
    ) == [(20,)]
    query = pulled(db, f"SELECT v, n FROM {name}_n [v ROWS 1]")
    assert bag(tuples(query.to_arrow())) == bag([(0, 4), (1, 3), (2, 4)])
    push = pushed(db, f"SELECT sum(n) FROM {name}_n [INTERVAL 10] SAMPLE INTERVAL 20")
    tick, rows = next(push)
    push.kill()
    assert (tick, tuples(rows)) == (20, [(22,)])


def test_a_join_of_two_tables_waits_for_the_slower(db: Connection) -> None:
    one, two = unused("one"), unused("two")
    for name in (one, two):
        db.sql(f"CREATE STREAMING TABLE {name} (k INT) RANGE UNLIMITED")
    query = pushed(db, f"SELECT a.k, b.k FROM {one} [INTERVAL 2] a, {two} [ROWS 1] b SAMPLE INTERVAL 2")
    db.append(one, [(number, number) for number in range(9)])
    db.append(two, [(10, 0), (13, 3)])
    tick, rows = next(query)
    assert (tick, tuples(rows)) == (0, [(0, 10)])
    tick, rows = next(query)
    assert (tick, bag(tuples(rows))) == (2, bag([(0, 10), (1, 10), (2, 10)]))
    assert query._query.answers(2) == []
    db.append(two, [(15, 5)])
    tick, rows = next(query)
    query.kill()
    assert (tick, bag(tuples(rows))) == (4, bag([(2, 13), (3, 13), (4, 13)]))


def test_views_of_timestamps(db: Connection) -> None:
    name = unused("stamped")
    start = datetime(2026, 10, 24, 23, 59, 58, tzinfo=UTC)
    db.sql(
        f"CREATE STREAMING TABLE {name} (v INT) TIMESTAMP BY at TIMESTAMP RANGE INTERVAL '1' HOUR "
        "SLACK INTERVAL '0.5' SECOND"
    )
    db.sql(
        f"CREATE VIEW {name}_n (n, now) RANGE INTERVAL '10' SECOND AS (SELECT count(*), max(NOW()) "
        f"FROM {name} [INTERVAL '1.5' SECOND] SAMPLE INTERVAL '2' SECOND)"
    )
    table = Table(("v",), period=3600 * MICROS, slack=MICROS // 2, counts_seconds=False)
    random = Random(5)
    rows = []
    for number in range(80):
        moment = number * 100_000 - random.choice([0, 0, 300_000, 700_000])
        rows.append((number, moment))
    base = int(start.timestamp()) * MICROS
    for first in range(0, 80, 11):
        part = rows[first : first + 11]
        db.append(name, [(v, start + timedelta(microseconds=moment)) for v, moment in part])
        table.append([(v, base + moment) for v, moment in part])
    db.sql(f"WAIT FOR {name}_n")
    expected = []
    for tick in table.ticks(2 * MICROS):
        at = datetime.fromtimestamp(tick / MICROS, UTC)
        inside = len(table.by_time(tick, 1_500_000))
        expected.append((inside, at if inside else None, at))
    assert bag(ask(db, f"SELECT * FROM {name}_n")) == bag(expected)
    assert len(expected) == 4
    assert bag(ask(db, f"SELECT v FROM {name}__late")) == bag((row["v"],) for row in table.late)


def test_a_replaced_view_has_the_new_querys_rows(db: Connection) -> None:
    name = unused("replaced")
    db.sql(f"CREATE STREAMING TABLE {name} (v INT) RANGE UNLIMITED")
    db.append(name, [(number, number) for number in range(10)])
    view = f"VIEW w_{name} RANGE INTERVAL 100 AS (SELECT {{}} AS x FROM {name} [ROWS 1] SAMPLE INTERVAL 4)"
    db.sql(f"CREATE {view.format('v')}")
    db.sql(f"WAIT FOR w_{name}")
    assert bag(ask(db, f"SELECT * FROM w_{name}")) == bag([(0, 0), (4, 4), (8, 8)])
    db.sql(f"CREATE {view.format('v').replace('VIEW', 'VIEW IF NOT EXISTS')}")
    db.sql(f"CREATE OR REPLACE {view.format('v + 100')}")
    db.sql(f"WAIT FOR w_{name}")
    assert bag(ask(db, f"SELECT * FROM w_{name}")) == bag([(100, 0), (104, 4), (108, 8)])


def test_a_view_that_fails_says_so_and_why(db: Connection) -> None:
    name = unused("failing")
    db.sql(f"CREATE STREAMING TABLE {name} (v INT) RANGE UNLIMITED")
    db.sql(
        f"CREATE VIEW w_{name} RANGE INTERVAL 100 AS "
        f"(SELECT 1 DIV v AS x FROM {name} [ROWS 1] SAMPLE REALTIME)"
    )
    db.append(name, [(1, 1), (0, 2), (1, 3)])
    with pytest.raises(UserError, match=f"view w_{name} failed"):
        db.sql(f"WAIT FOR w_{name}")
    assert [row[2] for row in ask(db, "SHOW QUERIES") if row[0] == f"w_{name}"] == ["failed"]


def test_a_window_is_partitioned_by_simple_types(db: Connection, name: str) -> None:
    db.sql(f"CREATE STREAMING TABLE {name} (v ARRAY<INT>) RANGE UNLIMITED")
    with pytest.raises(UserError, match=f"v of {name} is of type array<int>; a window is partitioned by"):
        db.sql(
            f"CREATE VIEW w_{name} RANGE INTERVAL 5 AS "
            f"(SELECT count(*) FROM {name} [v ROWS 1] SAMPLE REALTIME)"
        )
    assert f"w_{name}" not in [row[0] for row in ask(db, "SHOW VIEWS")]


def test_rows_deleted_from_the_table_stay_in_earlier_answers_of_a_view(db: Connection) -> None:
    name = unused("deleted")
    db.sql(f"CREATE STREAMING TABLE {name} (v INT) RANGE UNLIMITED")
    db.sql(
        f"CREATE VIEW w_{name} RANGE INTERVAL 100 AS "
        f"(SELECT sum(v) AS x FROM {name} [ROWS 3] SAMPLE REALTIME)"
    )
    db.append(name, [(1, 1), (2, 2), (4, 3)])
    db.sql(f"WAIT FOR w_{name}")
    db.sql(f"DELETE FROM {name} WHERE v = 1")
    db.append(name, [(8, 4), (16, 5)])
    db.sql(f"WAIT FOR w_{name}")
    assert bag(ask(db, f"SELECT * FROM w_{name}")) == bag([(1, 1), (3, 2), (6, 3), (14, 4)])


@pytest.mark.parametrize(
    ("newest", "expected"), [(899, [600, 660, 720, 780, 840]), (900, [660, 720, 780, 840, 900])]
)
def test_a_view_that_is_made_later_has_all_ticks_of_its_period(
    db: Connection, newest: int, expected: list[int]
) -> None:
    name = unused("later")
    db.sql(f"CREATE STREAMING TABLE {name} (v INT) RANGE UNLIMITED")
    db.append(name, [(number, number) for number in range(0, newest + 1)])
    db._background.writer(name).close_time()
    db.sql(
        f"CREATE VIEW w_{name} RANGE INTERVAL '5' MINUTE AS "
        f"(SELECT v FROM {name} [ROWS 1] SAMPLE INTERVAL '1' MINUTE)"
    )
    db.sql(f"WAIT FOR w_{name}")
    assert sorted(tick for _, tick in ask(db, f"SELECT * FROM w_{name}")) == expected
    assert [row[4] for row in ask(db, "SHOW QUERIES") if row[0] == f"w_{name}"] == [str(expected[-1])]


def test_compartments_fall_when_no_view_or_query_needs_them(db: Connection) -> None:
    name = unused("falling")
    db.sql(f"CREATE STREAMING TABLE {name} (v INT) RANGE INTERVAL 10 COMPARTMENT INTERVAL 10")
    query = pushed(db, f"SELECT count(*) FROM {name} [INTERVAL 5] SAMPLE INTERVAL 10")
    writer = db._background.writer(name)
    db.append(name, [(1, 1), (2, 2), (3, 21)])
    writer.flush()
    db.append(name, [(4, 200)])
    writer.flush()

    def kept() -> int:
        return writer.store.snapshot().describe().files

    before = kept()
    db._background.drop_expired()
    assert kept() == before == 3
    # The query has all ticks, however late it is asked, and those of empty windows, too.
    found = [next(query) for _ in range(3)]
    assert [(tick, tuples(rows)[0][0]) for tick, rows in found] == [(10, 0), (20, 0), (30, 0)]
    found = [next(query) for _ in range(16)]
    assert [tick for tick, _ in found] == list(range(40, 200, 10))
    db._background.drop_expired()
    db.append(name, [(5, 211), (6, 212)])
    found = [next(query) for _ in range(2)]
    query.kill()
    assert [(tick, tuples(rows)[0][0]) for tick, rows in found] == [(200, 1), (210, 0)]
    db._background.drop_expired()
    assert kept() == 1
    assert bag(ask(db, f"SELECT * FROM {name}")) == bag([(5, 211), (6, 212)])


def test_ticks_go_on_when_all_rows_are_deleted_or_have_fallen(db: Connection) -> None:
    name = unused("sparse")
    db.sql(f"CREATE STREAMING TABLE {name} (v INT) RANGE INTERVAL 10 COMPARTMENT INTERVAL 10")
    db.sql(
        f"CREATE VIEW w_{name} (n) RANGE INTERVAL 1000 AS "
        f"(SELECT count(*) FROM {name} [ROWS 9] SAMPLE INTERVAL 10)"
    )
    db.append(name, [(1, 1), (2, 12)])
    db.sql(f"WAIT FOR w_{name}")
    db.sql(f"DELETE FROM {name}")
    db._background.drop_expired()
    db.append(name, [(3, 41)])
    db.sql(f"WAIT FOR w_{name}")
    assert sorted(ask(db, f"SELECT T, n FROM w_{name}")) == [(10, 1), (20, 0), (30, 0), (40, 0)]


def test_a_view_with_a_tick_at_each_time_is_up_to_date_before_the_next_one(db: Connection, name: str) -> None:
    view = f"{name}_v"
    db.sql(f"CREATE STREAMING TABLE {name} (i INT) RANGE UNLIMITED")
    db.sql(f"CREATE VIEW {view} RANGE INTERVAL 1000 AS (SELECT i FROM {name} [ROWS 1] SAMPLE REALTIME)")
    db.append(name, [(1, 150), (2, 180)])
    db.sql(f"WAIT FOR {view}")
    # Time is closed up to 179, and the last tick before that is 150: a query in a script must end here.
    assert db.is_quiet((view,))
    query = pushed(db, f"SELECT i FROM {view} [ROWS 1] SAMPLE REALTIME")
    query.end_when(db.is_quiet)
    assert [(tick, tuples(rows)) for tick, rows in query] == [(150, [(1,)])]
