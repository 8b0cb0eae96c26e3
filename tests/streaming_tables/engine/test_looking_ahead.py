"""Answers that do not need the rows of the tick itself are computed before it is over, and are the same."""

from __future__ import annotations

from typing import Any

import pytest
from tests.streaming_tables.engine.reading import bag, continuous, tuples, unused

from causeway.streaming_tables.engine.connection import Connection
from causeway.streaming_tables.engine.continuous.query import ContinuousQuery
from causeway.streaming_tables.engine.continuous.tick_statement import TickStatement
from causeway.streaming_tables.engine.continuous.time_bounds import unneeded_seconds

_BEFORE = "SELECT v, count(*), sum(s) FROM {t} [INTERVAL 10] WHERE T < NOW() GROUP BY v SAMPLE INTERVAL 5"


def _begun(db: Connection, text: str) -> tuple[str, ContinuousQuery]:
    """A table whose time is closed up to 9, and a query over it whose tick 5 is answered."""
    name = unused("ahead")
    db.sql(f"CREATE STREAMING TABLE {name} (v INT, s INT) RANGE INTERVAL 100")
    db.append(name, [(time % 2, time, time) for time in range(11)])
    query = continuous(db, text.format(t=name))
    assert query is not None
    assert [tick for tick, _ in query.answers(None)] == [0, 5]
    query.look_ahead(5)
    return name, query


def _of(query: ContinuousQuery, after: int) -> list[tuple[int, list[str]]]:
    return [(tick, bag(tuples(rows))) for tick, rows in query.answers(after)]


def _expected(rows: list[tuple[int, int, int]]) -> list[str]:
    groups: dict[int, list[int]] = {}
    for v, s, _ in rows:
        groups.setdefault(v, []).append(s)
    return bag([(v, len(values), sum(values)) for v, values in groups.items()])


def test_the_answer_is_at_hand_when_the_tick_is_over(db: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    name, query = _begun(db, _BEFORE)
    assert query.way == "together"
    # The tick is not over, and may never be.
    assert _of(query, 5) == []
    query.look_ahead(5)
    db.append(name, [(0, 100, 10), (0, 100, 11)])

    def refuse(*_: Any) -> None:
        raise AssertionError("the answer was not at hand")

    with monkeypatch.context() as patch:
        patch.setattr(TickStatement, "run", refuse)
        found = _of(query, 5)
    assert found == [(10, _expected([(time % 2, time, time) for time in range(10)]))]
    assert _of(query, 10) == []
    db.append(name, [(1, 7, 16)])
    before = [(time % 2, time, time) for time in range(5, 11)] + [(0, 100, 10), (0, 100, 11)]
    assert _of(query, 10) == [(15, _expected(before))]


def test_rows_that_are_deleted_meanwhile_are_not_in_the_answer(db: Connection) -> None:
    name, query = _begun(db, _BEFORE)
    db.sql(f"DELETE FROM {name} WHERE s IN (2, 3)")
    db.append(name, [(0, 100, 11)])
    left = [(time % 2, time, time) for time in range(10) if time not in (2, 3)]
    assert _of(query, 5) == [(10, _expected(left))]


def test_a_standard_table_counts_as_it_is_when_the_tick_is_over(db: Connection) -> None:
    wanted = unused("wanted")
    db.sql(f"CREATE TABLE {wanted} AS SELECT 1 AS w")
    text = f"SELECT v, count(*), sum(s) FROM {{t}} [INTERVAL 10], {wanted} WHERE T < NOW() AND v = w"
    name, query = _begun(db, text + " GROUP BY v SAMPLE INTERVAL 5")
    db.sql(f"INSERT INTO {wanted} VALUES (0)")
    db.append(name, [(0, 100, 11)])
    assert _of(query, 5) == [(10, _expected([(time % 2, time, time) for time in range(10)]))]


def test_what_needs_the_rows_of_the_tick_waits_for_them(db: Connection) -> None:
    name, query = _begun(db, _BEFORE.replace("T < NOW()", "T <= NOW()"))
    db.append(name, [(0, 100, 10), (0, 100, 11)])
    rows = [(time % 2, time, time) for time in range(11)]
    assert _of(query, 5) == [(10, _expected([*rows, (0, 100, 10)]))]


def test_a_view_has_the_same_ticks(db: Connection) -> None:
    name = unused("ahead")
    db.sql(f"CREATE STREAMING TABLE {name} (v INT, s INT) RANGE INTERVAL 100")
    db.sql(f"CREATE VIEW {name}_v (v, n, total) RANGE INTERVAL 100 AS ({_BEFORE.format(t=name)})")
    for time in range(15):
        db.append(name, [(0, time, time)])
        db.sql(f"WAIT FOR {name}_v")
    db._background.writer(name).close_time()
    db.sql(f"WAIT FOR {name}_v")
    answer = db.sql(f"SELECT T, n, total FROM {name}_v ORDER BY T")
    # Tick 15 is not over, though all that it would read is there.
    assert tuples(answer.to_arrow()) == [(5, 5, 10), (10, 10, 45)]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("where", "seconds"),
    [
        ("p.T < NOW() AND b.T < NOW()", 1),
        ("p.T < NOW() - INTERVAL 3 SECOND AND b.T < NOW()", 1),
        ("p.T < NOW() - INTERVAL 3 SECOND AND b.T = p.T", 4),
        ("p.T <= NOW() AND b.T < NOW()", 0),
        ("p.T < NOW()", 0),
        # A minute is not always as far from NOW().
        ("p.T < NOW() - NOW() % 60 AND b.T < NOW()", 0),
        ("p.T < 5 AND b.T < NOW()", 0),
        ("(p.T < NOW() OR p.s = 1) AND b.T < NOW()", 0),
    ],
)
def test_how_many_seconds_are_not_needed(db: Connection, where: str, seconds: int) -> None:
    name = unused("ahead")
    db.sql(f"CREATE STREAMING TABLE {name} (v INT, s INT) RANGE INTERVAL 100")
    query = continuous(
        db,
        f"SELECT count(*) FROM {name} [INTERVAL 90] p JOIN {name} [INTERVAL 90] b ON b.v = p.v "
        f"WHERE {where} SAMPLE INTERVAL 5",
    )
    assert query is not None
    assert unneeded_seconds(query._relations, query._query, query.snapshots()) == seconds
