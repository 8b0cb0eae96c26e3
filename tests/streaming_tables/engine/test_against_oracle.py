"""Random tables, appends cut anywhere, flushes, deletions, replacements and restarts, against plain Python.

One-time reads are compared after every step, in both ways; a continuous query for the ticks that are over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.streaming_tables.engine.oracle import MICROS, Table
from tests.streaming_tables.engine.reading import answers, ask, bag, continuous, tuples, unused
from tests.streaming_tables.engine.test_continuous import CASES, Case

import causeway
from causeway.streaming_tables.engine.connection import Connection
from causeway.streaming_tables.engine.reads.answers import Answer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass
class Opened:
    """A connection that a test may close and open again."""

    folder: Path
    spark: SparkSession
    db: Connection

    def reopen(self) -> None:
        self.db.close()
        self.db = causeway.connect(self.folder, spark=self.spark)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Iterator[Opened]:
    folder = tmp_path_factory.mktemp("random") / "w"
    spark.createDataFrame(
        [(1, "one"), (2, "two"), (3, "three")], "n INT, word STRING"
    ).createOrReplaceTempView("words_of_p")
    opened = Opened(folder, spark, causeway.connect(folder, spark=spark))
    yield opened
    opened.db.close()


ROWS = st.lists(
    st.tuples(
        st.sampled_from([None, 1, 1, 2, 3]),
        st.sampled_from([None, 0, 0, 5, 7]),
        st.sampled_from([0, 0, 1, 1, 2, 3, 15]),
        st.sampled_from([0, 0, 0, 1, 4]),
    ),
    max_size=12,
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), ROWS),
        st.tuples(st.sampled_from(["flush", "reopen", "drop expired"]), st.none()),
        st.tuples(
            st.just("delete"), st.sampled_from(["V = 1", "S IS NULL", "T % 3 = 0", "T > NOW() - INTERVAL 2"])
        ),
        st.tuples(st.just("update"), st.sampled_from(["V = 2", "T % 2 = 0"])),
    ),
    min_size=2,
    max_size=7,
)


def _matches(row: dict[str, Any], condition: str, now: int | None, second: int) -> bool:
    if condition == "V = 1":
        return bool(row["V"] == 1)
    if condition == "V = 2":
        return bool(row["V"] == 2)
    if condition == "S IS NULL":
        return row["S"] is None
    if condition == "T > NOW() - INTERVAL 2":
        assert now is not None
        return bool(row["T"] > now - 2 * second)
    return bool(row["T"] // second % int(condition[4]) == 0)


class Subject:
    """The table and its model, changed alike."""

    def __init__(self, opened: Opened, table: Table) -> None:
        self.opened = opened
        self.table = table
        self.name = unused("r")
        self.second = 1 if table.counts_seconds else MICROS
        period = "UNLIMITED" if table.period is None else f"INTERVAL {table.period // self.second}"
        time = "" if table.counts_seconds else "TIMESTAMP BY T TIMESTAMP"
        self.db.sql(
            f"CREATE STREAMING TABLE {self.name} (V INT, S INT) {time} RANGE {period} "
            f"SLACK INTERVAL {table.slack // self.second} COMPARTMENT INTERVAL 10"
        )
        self.time = 0

    @property
    def db(self) -> Connection:
        return self.opened.db

    def stamp(self, time: int) -> Any:
        return time if self.table.counts_seconds else EPOCH + timedelta(microseconds=time)

    def append(self, drawn: list[tuple[Any, Any, int, int]]) -> None:
        rows = []
        for vid, speed, step, early in drawn:
            self.time += step
            rows.append((vid, speed, max(self.time - early, 0) * self.second))
        self.table.append(rows)
        self.db.append(self.name, [(vid, speed, self.stamp(time)) for vid, speed, time in rows])

    def delete(self, condition: str) -> None:
        doomed = self._those(condition)
        found = ask(self.db, f"DELETE FROM {self.name} WHERE {self._sql(condition)}")
        assert found == [(len(doomed),)]
        self.table.rows = [row for row in self.table.rows if row["seq"] not in doomed]

    def update(self, condition: str) -> None:
        changed = self._those(condition)
        found = ask(self.db, f"UPDATE {self.name} SET S = coalesce(S, 0) + 1 WHERE {self._sql(condition)}")
        assert found == [(len(changed),)]
        for row in self.table.rows:
            if row["seq"] in changed:
                row["S"] = (row["S"] or 0) + 1

    def _those(self, condition: str) -> set[int]:
        # Rows that have expired are in no table, and so cannot be changed.
        rows = self.table.content()
        return {row["seq"] for row in rows if _matches(row, condition, self.table.newest, self.second)}

    def _sql(self, condition: str) -> str:
        return condition if self.table.counts_seconds else condition.replace("T %", "unix_seconds(T) %")

    def check(self) -> None:
        expected = [(row["V"], row["S"], self.stamp(row["T"])) for row in self.table.content()]
        answer = self.db.sql(f"SELECT * FROM {self.name}")
        assert isinstance(answer, Answer)
        assert bag(tuples(answer.to_arrow())) == bag(expected)
        assert bag(tuples(answer.df.toArrow())) == bag(expected)
        late = [(row["V"], row["S"], self.stamp(row["T"])) for row in self.table.late]
        assert bag(ask(self.db, f"SELECT * FROM {self.name}__late")) == bag(late)


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    steps=STEPS,
    period=st.sampled_from([None, 1, 5, 20]),
    slack=st.sampled_from([0, 0, 3]),
    counts_seconds=st.booleans(),
    case=st.sampled_from(CASES),
)
def test_every_read_is_the_models(
    opened: Opened,
    steps: list[tuple[str, Any]],
    period: int | None,
    slack: int,
    counts_seconds: bool,
    case: Case,
) -> None:
    second = 1 if counts_seconds else MICROS
    table = Table(
        ("V", "S"),
        period=None if period is None else period * second,
        slack=slack * second,
        counts_seconds=counts_seconds,
    )
    subject = Subject(opened, table)
    after: int | None = None
    statement = case.statement(subject.name, subject.name)
    query = continuous(opened.db, statement) if counts_seconds else None
    for what, how in steps:
        if what == "append":
            subject.append(how)
        elif what == "delete" and table.newest is not None:
            subject.delete(how)
        elif what == "update":
            subject.update(how)
        elif what == "flush":
            opened.db._background.writer(subject.name).flush()
        elif what == "drop expired" and query is None:
            opened.db._background.drop_expired()
        elif what == "reopen":
            opened.reopen()
            query = continuous(opened.db, statement) if counts_seconds else None
        subject.check()
        if query is not None and (after is not None or table.rows):
            found = answers(query, after)
            ticks = [tick for tick in table.ticks(case.step) if after is None or tick > after]
            if case.step is not None and after is not None and table.closed is not None:
                first = (after // case.step + 1) * case.step
                ticks = list(range(first, table.closed + 1, case.step))
            assert [tick for tick, _ in found] == ticks
            for tick, rows in found:
                assert bag(rows) == bag(case.of(table, tick)), (statement, tick)
            after = ticks[-1] if ticks else after
    opened.db.sql(f"DROP TABLE {subject.name}")
