"""Continuous queries against plain Python over all rows, in every way that the engine has.

At each tick the answer is the one-time answer over the windows as of that tick, however appends were cut.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from tests.streaming_tables.engine.oracle import Row, Table
from tests.streaming_tables.engine.reading import Way, answers, bag, continuous, unused

from causeway.streaming_tables.engine.connection import Connection
from causeway.streaming_tables.engine.windows.window_needs import rows_that_can_meet

Rows = list[tuple[Any, ...]]
WORDS = {1: "one", 2: "two", 3: "three"}


@dataclass(frozen=True)
class Case:
    """A query over a table `p (V, S)`, its ticks, and its answer at a tick by the oracle."""

    text: str
    step: int | None
    of: Callable[[Table, int], Rows]
    ordered: bool = False

    def statement(self, table: str, other: str) -> str:
        sample = "REALTIME" if self.step is None else f"INTERVAL {self.step}"
        return f"{self.text.replace('@p', table).replace('@q', other)} SAMPLE {sample}"


def _all(row: Row) -> tuple[Any, ...]:
    return (row["V"], row["S"], row["T"])


def _sum(values: list[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _by_vehicle(rows: list[Row]) -> Rows:
    groups: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["V"]].append(row)
    return [(vid, len(group), _sum([row["S"] for row in group])) for vid, group in groups.items()]


def _chain(
    partition: list[str], count: int, length: int, *, at_now: bool = False
) -> Callable[[Table, int], Rows]:
    def of(table: Table, tick: int) -> Rows:
        return [
            (rows[0]["V"], *(row["S"] for row in rows), rows[0]["T"])
            for rows in table.chains(tick, partition, count, length)
            if (not at_now or rows[0]["T"] == tick) and (rows[0]["S"] is None or rows[0]["S"] != 7)
        ]

    return of


def _chain_text(partition: str, count: int, length: int, condition: str = "") -> str:
    aliases = [f"p{number}" for number in range(1, length + 1)]
    windows = ", ".join(f"@p [WINDOW {partition} ROWS {count}] {alias}" for alias in aliases)
    links = " AND ".join(f"{older} = PREV({newer})" for newer, older in pairwise(aliases))
    columns = ", ".join(f"{alias}.S AS s{alias}" for alias in aliases)
    return (
        f"SELECT p1.V, {columns}, p1.T FROM {windows} WHERE {links} "
        f"AND (p1.S <> 7 OR p1.S IS NULL){condition}"
    )


CASES = [
    Case("SELECT * FROM @p [WINDOW INTERVAL 7]", 3, lambda p, t: [_all(r) for r in p.by_time(t, 7)]),
    Case("SELECT * FROM @p [INTERVAL 0]", None, lambda p, t: [_all(r) for r in p.by_time(t, 0)]),
    Case("SELECT * FROM @p [WINDOW ROWS 3]", None, lambda p, t: [_all(r) for r in p.by_rows(t, 3)]),
    Case("SELECT * FROM @p [V ROWS 2]", 4, lambda p, t: [_all(r) for r in p.by_partition(t, "V", 2)]),
    Case(
        "SELECT V, S, T FROM @p [WINDOW V, S ROWS 1]",
        None,
        lambda p, t: [_all(r) for r in p.by_partition(t, "VS", 1)],
    ),
    Case(
        "SELECT count(*), sum(S) FROM @p [WINDOW INTERVAL 2]",
        1,
        lambda p, t: [(len(p.by_time(t, 2)), _sum([r["S"] for r in p.by_time(t, 2)]))],
    ),
    Case(
        "SELECT V, count(*), sum(S) FROM @p [WINDOW INTERVAL 5] GROUP BY V",
        2,
        lambda p, t: _by_vehicle(p.by_time(t, 5)),
    ),
    Case(
        "SELECT V, count(*) AS n, sum(S) FROM @p [V ROWS 3] GROUP BY V HAVING n > 1",
        None,
        lambda p, t: [row for row in _by_vehicle(p.by_partition(t, "V", 3)) if row[1] > 1],
    ),
    Case(_chain_text("V", 2, 2), None, _chain(["V"], 2, 2)),
    Case(_chain_text("V", 4, 2), 2, _chain(["V"], 4, 2)),
    Case(_chain_text("V", 3, 3), None, _chain(["V"], 3, 3)),
    Case(_chain_text("V", 4, 4), None, _chain(["V"], 4, 4)),
    Case(_chain_text("", 3, 2), None, _chain([], 3, 2)),
    Case(_chain_text("V", 3, 2, " AND p1.T = NOW()"), None, _chain(["V"], 3, 2, at_now=True)),
    Case(
        "SELECT p1.*, p2.S, NOW() - p2.T FROM @p [V ROWS 3] p1, @p [V ROWS 3] p2 "
        "WHERE PREV(p1) = p2 AND p2.T < NOW() - INTERVAL 2",
        2,
        lambda p, t: [(*_all(a), b["S"], t - b["T"]) for a, b in p.chains(t, "V", 3, 2) if b["T"] < t - 2],
    ),
    Case(
        "SELECT a.V, a.T, b.T FROM @p [INTERVAL 4] a JOIN @p [ROWS 4] b ON a.V = b.V AND a.T <= b.T",
        3,
        lambda p, t: [
            (a["V"], a["T"], b["T"])
            for a in p.by_time(t, 4)
            for b in p.by_rows(t, 4)
            if a["V"] is not None and a["V"] == b["V"] and a["T"] <= b["T"]
        ],
    ),
    Case(
        "SELECT a.T, w.word FROM @p [INTERVAL 4] a LEFT JOIN words_of_p w ON a.V = w.n",
        2,
        lambda p, t: [(r["T"], WORDS.get(r["V"])) for r in p.by_time(t, 4)],
    ),
    Case(
        "SELECT T, S, V FROM @p [INTERVAL 6] ORDER BY T DESC, S, V LIMIT 3",
        3,
        lambda p, t: sorted(
            [(r["T"], r["S"], r["V"]) for r in p.by_time(t, 6)],
            key=lambda r: (-r[0], r[1] is not None, r[1] or 0, r[2] is not None, r[2] or 0),
        )[:3],
        ordered=True,
    ),
    Case(
        "SELECT V, NOW() AS now, NOW() - INTERVAL '3' SECOND FROM @p [ROWS 2]",
        None,
        lambda p, t: [(r["V"], t, t - 3) for r in p.by_rows(t, 2)],
    ),
    Case(
        "SELECT V, (SELECT count(*) FROM @p) FROM @p [ROWS 1]",
        4,
        lambda p, t: [(r["V"], len(p.content(t))) for r in p.by_rows(t, 1)],
    ),
    Case(
        "SELECT T FROM @p [INTERVAL 5] a WHERE EXISTS (SELECT 1 FROM @p [ROWS 2] b WHERE a.V = b.V)",
        2,
        lambda p, t: [
            (r["T"],)
            for r in p.by_time(t, 5)
            if r["V"] is not None and r["V"] in {b["V"] for b in p.by_rows(t, 2)}
        ],
    ),
    Case(
        "WITH w AS (SELECT V FROM @p [INTERVAL 5]) "
        "SELECT DISTINCT V FROM w UNION ALL SELECT V FROM @p [ROWS 1]",
        3,
        lambda p, t: [(v,) for v in {r["V"] for r in p.by_time(t, 5)}] + [(r["V"],) for r in p.by_rows(t, 1)],
    ),
    Case(
        "SELECT T, row_number() OVER (PARTITION BY V ORDER BY T, S) FROM @p [INTERVAL 5] "
        "WHERE V = 1 AND S > 0",
        3,
        lambda p, t: [
            (time, number + 1)
            for number, (time, _) in enumerate(
                sorted((r["T"], r["S"]) for r in p.by_time(t, 5) if r["V"] == 1 and (r["S"] or 0) > 0)
            )
        ],
    ),
    Case("SELECT 1 AS x FROM @p [ROWS 1] WHERE false", 5, lambda p, t: []),
    Case(
        "SELECT count(*), sum(S) FROM @p [INTERVAL 5] WHERE V = 1 AND T < NOW()",
        3,
        lambda p, t: [_count_and_sum([r["S"] for r in p.by_time(t, 5) if r["V"] == 1 and r["T"] < t])],
    ),
    Case(
        "SELECT a.T, b.T FROM @p [INTERVAL 6] a JOIN @p [INTERVAL 6] b ON a.S = b.S "
        "WHERE a.V = 1 AND b.V <> 1 AND b.T < NOW()",
        2,
        lambda p, t: [
            (a["T"], b["T"])
            for a in p.by_time(t, 6)
            for b in p.by_time(t, 6)
            if a["V"] == 1 and b["V"] not in (1, None) and b["T"] < t and a["S"] is not None
            if a["S"] == b["S"]
        ],
    ),
    Case(
        "SELECT a.T, a.S, (SELECT max(c.T) FROM @p [INTERVAL 6] c WHERE c.V = 3), count(b.T) "
        "FROM @p [INTERVAL 6] a LEFT JOIN @p [INTERVAL 6] b ON b.S = a.S AND b.V = 2 "
        "WHERE a.V = 1 OR a.V IS NULL GROUP BY a.T, a.S",
        2,
        lambda p, t: [
            (
                time,
                s,
                max((c["T"] for c in p.by_time(t, 6) if c["V"] == 3), default=None),
                sum(
                    b["V"] == 2 and s is not None and b["S"] == s
                    for a in p.by_time(t, 6)
                    if a["V"] in (1, None) and (a["T"], a["S"]) == (time, s)
                    for b in p.by_time(t, 6)
                ),
            )
            for time, s in {(a["T"], a["S"]) for a in p.by_time(t, 6) if a["V"] in (1, None)}
        ],
    ),
]


def _count_and_sum(values: list[int | None]) -> tuple[int, int | None]:
    known = [value for value in values if value is not None]
    return len(values), sum(known) if known else None


def random_rows(random: Random, count: int, slack: int, first: int = 0) -> list[tuple[Any, ...]]:
    rows, time = [], first
    for _ in range(count):
        time += random.choice([0, 0, 1, 1, 2, 5])
        early = random.randint(0, slack + 1) if random.random() < 0.3 else 0
        rows.append(
            (random.choice([None, 1, 1, 2, 3]), random.choice([None, 0, 0, 5, 7]), max(time - early, 0))
        )
    return rows


@pytest.fixture(scope="module", autouse=True)
def _words(db: Connection) -> None:
    db.spark.createDataFrame(list(WORDS.items()), "n INT, word STRING").createOrReplaceTempView("words_of_p")


def _check(case: Case, found: list[tuple[int, Rows]], table: Table, after: int | None = None) -> None:
    expected = [tick for tick in table.ticks(case.step) if after is None or tick > after]
    assert [tick for tick, _ in found] == expected, case.text
    for tick, rows in found:
        wanted = case.of(table, tick)
        if case.ordered:
            assert rows == wanted, (case.text, tick)
        else:
            assert bag(rows) == bag(wanted), (case.text, tick)


def _made(db: Connection, table: Table) -> str:
    name = unused("p")
    period = "UNLIMITED" if table.period is None else f"INTERVAL {table.period}"
    db.sql(
        f"CREATE STREAMING TABLE {name} (V INT, S INT) RANGE {period} SLACK INTERVAL {table.slack} "
        "COMPARTMENT INTERVAL 10"
    )
    return name


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case.text[:60] for case in CASES])
def test_every_way_gives_the_definitions_answers(db: Connection, number: int) -> None:
    case = CASES[number]
    random = Random(number)
    table = Table(("V", "S"), period=random.choice([9, 30]), slack=random.choice([0, 0, 3]))
    name = _made(db, table)
    ways: tuple[Way, ...] = ("chain", "together", "each tick")
    queries = {way: continuous(db, case.statement(name, name), way) for way in ways}
    found: dict[Way, list[tuple[int, Rows]]] = {way: [] for way in ways}
    rows = random_rows(random, 16, table.slack)
    while rows:
        size = random.choice([1, 3, 16])
        db.append(name, rows[:size])
        table.append(rows[:size])
        rows = rows[size:]
        if random.random() < 0.3:
            db._background.writer(name).flush()
        for way in ways[:2]:
            query = queries[way]
            if query is not None and random.random() < 0.5:
                found[way] += answers(query, found[way][-1][0] if found[way] else None)
    db._background.writer(name).close_time()
    table.end()
    for way in ways[:2]:
        query = queries[way]
        if query is not None:
            found[way] += answers(query, found[way][-1][0] if found[way] else None)
            _check(case, found[way], table)
    # The way that is always there is a job for each tick: a few of them are enough.
    ticks = table.ticks(case.step)
    after = ticks[-4] if len(ticks) > 4 else None
    each = queries["each tick"]
    assert each is not None
    _check(case, answers(each, after), table, after)


def test_rows_that_cannot_matter_at_any_tick_are_left_out(db: Connection) -> None:
    name = _made(db, Table(("V", "S")))
    query = continuous(
        db,
        f"SELECT a.T, count(*) FROM {name} [INTERVAL 6] a JOIN {name} [INTERVAL 6] b ON a.S = b.S "
        f"JOIN {name} [INTERVAL 6] c ON c.S = b.S "
        "WHERE a.V = 1 AND b.V IN (2, 3) AND b.T < NOW() GROUP BY a.T SAMPLE INTERVAL 2",
    )
    assert query is not None
    assert query.way == "together"
    rows = pa.table({"V": [1, 1, 2, 4, None], "S": [5, None, 5, 5, 5], "T": [1, 2, 3, 4, 5]})
    kept = [
        rows_that_can_meet(rows, query._together.needs[piece.index]).column("T").to_pylist()
        for piece in query._query.windows
    ]
    assert kept == [[1, 2], [3], [1, 2, 3, 4, 5]]


def test_each_way_is_taken_by_some_statement(db: Connection) -> None:
    name = _made(db, Table(("V", "S")))
    ways = Counter(
        query.way for case in CASES if (query := continuous(db, case.statement(name, name))) is not None
    )
    assert set(ways) == {"chain", "together", "each tick"}
    assert ways["chain"] >= 5
    assert ways["together"] >= 8


def test_partitions_are_told_apart_as_spark_does(db: Connection) -> None:
    """NULL is no NaN, 0.0 is -0.0, and whole numbers are exact."""
    name = unused("p")
    db.sql(f"CREATE STREAMING TABLE {name} (d DOUBLE, l BIGINT, x INT) RANGE UNLIMITED")
    nan = float("nan")
    keys = [(None, 2**53), (nan, 2**53 + 1), (0.0, None), (-0.0, None), (nan, 2**53), (1.0, 2**53 + 1)]
    db.append(name, [(d, n, x, x) for x, (d, n) in enumerate(keys)])
    db.append(name, [(2.0, -1, 6, 6), (2.0, -1, 7, 7)])
    expected = {"d": [0, 3, 4, 5, 6], "l": [3, 4, 5, 6], "d, l": [0, 1, 3, 4, 5, 6]}
    for columns, rows in expected.items():
        for way in ("together", "each tick"):
            query = continuous(db, f"SELECT x FROM {name} [{columns} ROWS 1] SAMPLE REALTIME", way)
            assert query is not None
            tick, found = answers(query)[-1]
            assert (tick, sorted(x for (x,) in found)) == (6, rows), (columns, way)


WIDE_CASES = {
    "SELECT count(*) FROM @p [INTERVAL 7] SAMPLE INTERVAL 3": "",
    "SELECT a, count(*), max(x.B) FROM @p [INTERVAL 7] x GROUP BY A SAMPLE INTERVAL 3": "ab",
    "SELECT * FROM @p [INTERVAL 7] SAMPLE INTERVAL 3": "abcdT",
    "SELECT * EXCEPT (b, C) FROM @p [INTERVAL 7] SAMPLE INTERVAL 3": "abcdT",
    "SELECT y.n FROM (SELECT a + 1 AS n, d FROM @p [INTERVAL 7]) y SAMPLE INTERVAL 3": "ad",
    "SELECT b FROM @p [c ROWS 2] WHERE a > 1 SAMPLE INTERVAL 3": "abc",
    "SELECT count(*) FROM @p [c ROWS 2] x JOIN @p [INTERVAL 4] y USING (a) SAMPLE INTERVAL 3": "abcdT",
    "SELECT x.b FROM @p [ROWS 3] x NATURAL JOIN @p [INTERVAL 4] y SAMPLE INTERVAL 3": "abcdT",
    "SELECT x.b, y.b FROM @p [ROWS 3] x JOIN @p [INTERVAL 4] y ON x.T = y.T SAMPLE INTERVAL 3": "bT",
    "SELECT a FROM @p [INTERVAL 4] x WHERE EXISTS (SELECT * FROM @p [ROWS 2] y WHERE y.b = x.b) "
    "SAMPLE INTERVAL 3": "abcdT",
    "SELECT n FROM (SELECT DISTINCT * FROM @p [INTERVAL 7]) LATERAL VIEW explode(array(a, d)) e AS n "
    "SAMPLE INTERVAL 3": "abcdT",
    "SELECT `A` AS `b c`, row_number() OVER (ORDER BY T, d, a) FROM @p [INTERVAL 7] SAMPLE INTERVAL 3": "adT",
    "SELECT sum(a) FROM @p [INTERVAL 7] HAVING max(d) > 1 ORDER BY 1 SAMPLE INTERVAL 3": "ad",
    "(TABLE @p [INTERVAL 7]) UNION ALL SELECT * FROM @p [ROWS 1] SAMPLE INTERVAL 3": "abcdT",
    "SELECT n.b FROM @p [c ROWS 2] n, @p [c ROWS 2] o WHERE o = PREV(n) AND o.d > 1 SAMPLE REALTIME": "bcd",
}
"""Statements, and the columns of `p (a, b, c, d)` that they refer to."""


@pytest.mark.parametrize("text", WIDE_CASES)
def test_columns_that_nothing_refers_to_are_left_out(db: Connection, text: str) -> None:
    """The oracle is Spark over all columns of the windows' rows, which plain Python has chosen."""
    random = Random(text)
    table = Table(("a", "b", "c", "d"))
    name = unused("wide")
    db.sql(f"CREATE STREAMING TABLE {name} (a INT, b INT, c INT, d INT) RANGE UNLIMITED")
    rows = [(*(random.choice([1, 1, 2, 3]) for _ in range(4)), t // 2) for t in range(24)]
    db.append(name, rows)
    table.append(rows)
    db._background.writer(name).close_time()
    table.end()
    query = continuous(db, text.replace("@p", name))
    assert query is not None
    assert query.columns[name] == set(WIDE_CASES[text])
    found = answers(query)
    assert found
    for tick, got in found[-2:]:
        if "PREV" in text:
            wanted: Rows = [(n["b"],) for n, o in table.chains(tick, "c", 2, 2) if o["d"] > 1]
        else:
            wanted = _by_spark(db, text, table, tick)
        assert bag(got) == bag(wanted), tick


def _by_spark(db: Connection, text: str, table: Table, tick: int) -> Rows:
    windows: dict[str, Callable[[], list[Row]]] = {
        "[INTERVAL 7]": lambda: table.by_time(tick, 7),
        "[INTERVAL 4]": lambda: table.by_time(tick, 4),
        "[ROWS 3]": lambda: table.by_rows(tick, 3),
        "[ROWS 2]": lambda: table.by_rows(tick, 2),
        "[ROWS 1]": lambda: table.by_rows(tick, 1),
        "[c ROWS 2]": lambda: table.by_partition(tick, "c", 2),
    }
    plain = text.rpartition(" SAMPLE ")[0]
    for number, (window, rows) in enumerate(windows.items()):
        if f"@p {window}" in plain:
            values = [[row[column] for column in ("a", "b", "c", "d", "T")] for row in rows()]
            frame = db.spark.createDataFrame(values, "a INT, b INT, c INT, d INT, T BIGINT")
            frame.createOrReplaceTempView(f"wide_window_{number}")
            plain = plain.replace(f"@p {window}", f"wide_window_{number}")
    return [tuple(row) for row in db.spark.sql(plain).collect()]
