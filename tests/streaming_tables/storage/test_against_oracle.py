"""Random histories of a table, read by its writer and by a second store, against a plain list of rows."""

from __future__ import annotations

import copy
import random
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.streaming_tables.storage.oracle import (
    COLUMNS,
    Oracle,
    arrow_rows,
    comparable,
    holds,
    plain_rows,
    random_predicate,
    random_values,
    table_definition,
    time_value,
)

from causeway.streaming_tables.storage import (
    REJECTED_SCHEMA,
    SEQ,
    IndexDefinition,
    Snapshot,
    TableStore,
)
from causeway.streaming_tables.storage.past import data_files

SEEDS = st.integers(0, 2**32)


class TableHistory(RuleBasedStateMachine):
    """A table and its oracle."""

    def __init__(self) -> None:
        super().__init__()
        self.home = Path(tempfile.mkdtemp(prefix="causeway-oracle-"))
        self.kept: tuple[Snapshot, Oracle] | None = None
        self.dropped = -(2**62)

    @initialize(
        kind=st.sampled_from(["seconds", "timestamp"]),
        range_=st.sampled_from([None, 0, 15, 40]),
        slack=st.sampled_from([0, 0, 3, 12]),
        compartment=st.sampled_from([5, 10, 60]),
        begin=st.sampled_from([0, -30, 1000]),
        flush_rows=st.sampled_from([30, 10_000]),
        group_rows=st.sampled_from([7, 65_536]),
    )
    def create(
        self,
        kind: str,
        range_: int | None,
        slack: int,
        compartment: int,
        begin: int,
        flush_rows: int,
        group_rows: int,
    ) -> None:
        data_files.ROW_GROUP_ROWS = group_rows  # type: ignore[misc]
        self.unit = 1 if kind == "seconds" else 1_000_000
        # Retention never reaches below zero for seconds, so a table that begins there keeps its rows.
        self.begin = begin * self.unit
        definition = table_definition(
            kind,
            range=None if range_ is None else range_ * self.unit,
            slack=slack * self.unit,
            compartment=compartment * self.unit,
        )
        self.flush_rows = flush_rows
        self.store = TableStore.create(self.home / "t", definition)
        self.other = TableStore.open(self.home / "t")
        self.writer = self.store.writer("oracle", flush_rows=flush_rows)
        self.oracle = Oracle(definition)

    def teardown(self) -> None:
        data_files.ROW_GROUP_ROWS = 65_536  # type: ignore[misc]
        if hasattr(self, "writer"):
            self.writer.close()
        shutil.rmtree(self.home)

    @rule(
        seed=SEEDS,
        count=st.integers(0, 40),
        spread=st.integers(0, 15),
        step=st.sampled_from([0, 1, 1, 5, 30]),
        rejected=st.sampled_from([0, 0, 2]),
        source=st.sampled_from([None, "a", "b"]),
        advance=st.sampled_from([None, None, None, -2, 0, 4]),
    )
    def append(
        self,
        seed: int,
        count: int,
        spread: int,
        step: int,
        rejected: int,
        source: str | None,
        advance: int | None,
    ) -> None:
        chance = random.Random(seed)
        base = self.begin if self.oracle.newest is None else self.oracle.newest
        rows = []
        for _ in range(count):
            base += chance.choice([0, 0, step * self.unit // 4, step * self.unit]) if step else 0
            tick = base - chance.choice([0, 0, chance.randint(0, spread * self.unit)])
            rows.append({**random_values(chance), "T": tick})
        batch = None if source is None else self.oracle.batches.get(source, -1) + chance.randint(1, 3)
        refused = pa.table(
            {
                "source": ["x"] * rejected,
                "line": list(range(rejected)),
                "reason": ["r"] * rejected,
                "text": [""] * rejected,
            },
            schema=REJECTED_SCHEMA,
        )
        newest = max((row["T"] for row in rows), default=base)
        advance_to = None if advance is None else newest + advance * self.unit
        before = self.oracle.accepted, len(self.oracle.late)
        self.oracle.append(rows, rejected, advance_to)
        # The answer must not depend on how rows are cut into batches.
        cut = chance.randint(0, count) if source is None and advance is None else 0
        parts = [rows[:cut], rows[cut:]] if cut else [rows]
        done = [
            self.writer.append(
                arrow_rows(part, self.oracle.definition),
                rejected=refused if place == len(parts) - 1 else None,
                source=source,
                batch=batch,
                advance_to=advance_to,
            )
            for place, part in enumerate(parts)
        ]
        assert sum(one.accepted for one in done) == self.oracle.accepted - before[0]
        assert sum(one.late for one in done) == len(self.oracle.late) - before[1]
        assert (done[-1].newest, done[-1].closed) == (self.oracle.newest, self.oracle.closed())
        if source is not None and batch is not None:
            self.oracle.batches[source] = batch
            again = self.writer.append(arrow_rows(rows, self.oracle.definition), source=source, batch=batch)
            assert again.repeated

    @rule()
    def flush(self) -> None:
        self.writer.flush()

    @rule(fresh=st.booleans())
    def reopen(self, fresh: bool) -> None:
        self.writer.close()
        if fresh:
            self.store = TableStore.open(self.home / "t")
        self.writer = self.store.writer("oracle again", flush_rows=self.flush_rows)
        for source, batch in self.oracle.batches.items():
            assert self.writer.last_batch(source) == batch

    @rule()
    def reopen_reader(self) -> None:
        self.other = TableStore.open(self.home / "t")

    @rule()
    def close_time(self) -> None:
        self.writer.close_time()
        self.oracle.close_time()

    @rule(seed=SEEDS)
    def delete(self, seed: int) -> None:
        chance = random.Random(seed)
        found = self.oracle.content(random_predicate(chance, self.oracle.definition, self.oracle.newest))
        chosen = {row[SEQ] for row in found if chance.random() < 0.5}
        assert self.writer.delete(np.array([*chosen, 10**12], np.int64)) == len(chosen)
        self.oracle.rows = [row for row in self.oracle.rows if row[SEQ] not in chosen]

    @rule(seed=SEEDS)
    def replace(self, seed: int) -> None:
        chance = random.Random(seed)
        rows = self.oracle.content()
        chosen = {row[SEQ]: {**row, **random_values(chance)} for row in rows if chance.random() < 0.2}
        if chosen:
            values = arrow_rows(list(chosen.values()), self.oracle.definition)
            assert self.writer.replace(values) == len(chosen)
            self.oracle.rows = [chosen.get(row[SEQ], row) for row in self.oracle.rows]

    @rule(keep=st.sampled_from([None, 0, 20]))
    def expire(self, keep: int | None) -> None:
        if self.oracle.newest is None:
            return
        keep_from = None if keep is None else self.oracle.newest - keep * self.unit
        self.writer.drop_expired(keep_from)
        if self.oracle.definition.range is not None:
            self.dropped = max(self.dropped, self.oracle.newest - self.oracle.definition.range)

    @rule(number=st.integers(0, len(COLUMNS) - 1))
    def change_index(self, number: int) -> None:
        name = COLUMNS[number].name
        if any(index.column == name for index in self.store.definition.indexes):
            self.writer.drop_index(f"i_{name}")
        else:
            self.writer.add_index(IndexDefinition(f"i_{name}", name))
        assert self.other.definition == self.store.definition

    def _check(self, snapshot: Snapshot, chance: random.Random) -> None:
        oracle, unit = self.oracle, self.unit
        predicate = random_predicate(chance, oracle.definition, oracle.newest)
        newest = oracle.newest or 0
        time_from = chance.choice([None, newest - chance.randint(-3, 50) * unit])
        time_to = chance.choice([None, newest - chance.randint(-3, 50) * unit])
        as_of = chance.choice([None, newest - chance.randint(-3, 50) * unit])
        if as_of is not None:
            time_from = max(time_from if time_from is not None else self.dropped, self.dropped)
        expected = oracle.content(predicate, time_from, time_to, as_of)
        ranges: dict[str, Any] = {"time_from": time_from, "time_to": time_to, "as_of": as_of}
        found = snapshot.scan(None, predicate, with_seq=True, **ranges)
        assert found.schema.names == oracle.definition.file_schema().names
        assert comparable(plain_rows(found, oracle.definition)) == comparable(expected)
        some = [column.name for column in COLUMNS if chance.random() < 0.2]
        narrow = snapshot.scan(some, predicate, **ranges)
        assert narrow.num_rows == len(expected)
        limit = chance.randint(0, 5)
        assert snapshot.scan(some, predicate, limit=limit, **ranges).num_rows == min(limit, len(expected))
        self._check_candidates(snapshot, predicate, ranges, expected)
        snapshot.explain(None, predicate, time_from, time_to)

    def _check_candidates(
        self, snapshot: Snapshot, predicate: Any, ranges: dict[str, Any], expected: list[dict[str, Any]]
    ) -> None:
        definition = self.oracle.definition
        candidates = snapshot.candidates(None, predicate, with_seq=True, **ranges)
        rows = plain_rows(candidates.tail, definition)
        for path in candidates.files:
            for row in plain_rows(pq.ParquetFile(path).read(), definition):
                shown = {**row, "T": time_value(row["T"])} if definition.time.kind == "timestamp" else row
                early = candidates.time_from is not None and row["T"] < candidates.time_from
                after = candidates.time_to is not None and row["T"] > candidates.time_to
                if not early and not after and holds(shown, predicate):
                    rows.append(row)
        assert comparable(sorted(rows, key=lambda row: row[SEQ])) == comparable(expected)

    @rule(seed=SEEDS)
    def read(self, seed: int) -> None:
        chance = random.Random(seed)
        for store in (self.store, self.other):
            self._check(store.snapshot(), chance)

    @rule(count=st.integers(0, 4), seed=SEEDS)
    def read_last_rows(self, count: int, seed: int) -> None:
        chance = random.Random(seed)
        names = chance.sample([column.name for column in COLUMNS], chance.randint(0, 2))
        as_of = chance.choice([None, (self.oracle.newest or 0) - 3 * self.unit])
        if as_of is not None and self.dropped > -(2**62):
            as_of = None
        expected = self.oracle.last_rows(count, names, as_of)
        for store in (self.store, self.other):
            found = store.snapshot().last_rows(count, names, as_of=as_of)
            assert comparable(plain_rows(found, self.oracle.definition)) == comparable(expected)

    @rule()
    def keep_snapshot(self) -> None:
        self.kept = self.other.snapshot(), copy.deepcopy(self.oracle)

    @precondition(lambda self: self.kept is not None)
    @rule()
    def read_kept_snapshot(self) -> None:
        """A snapshot is of its own prefix; or, where files of it have gone, of a later one."""
        assert self.kept is not None
        snapshot, oracle = self.kept
        found = comparable(plain_rows(snapshot.scan(with_seq=True), oracle.definition))
        if found != comparable(oracle.content()):
            assert found == comparable(self.oracle.content())
            assert snapshot.newest == self.oracle.newest
            self.kept = snapshot, copy.deepcopy(self.oracle)

    @invariant()
    def facts(self) -> None:
        if not hasattr(self, "oracle"):
            return
        for store in (self.store, self.other):
            snapshot = store.snapshot()
            assert (snapshot.newest, snapshot.closed) == (self.oracle.newest, self.oracle.closed())
            assert snapshot.ended == self.oracle.ended
            assert snapshot.rows_total == self.oracle.accepted
            facts = snapshot.describe()
            content = self.oracle.content()
            assert facts.rows == len(content)
            assert facts.oldest == min((row["T"] for row in content), default=None)
            assert (facts.late, facts.rejected) == (len(self.oracle.late), self.oracle.rejected)
            assert comparable(plain_rows(snapshot.late(), self.oracle.definition)) == comparable(
                self.oracle.late
            )
            assert snapshot.rejected().num_rows == self.oracle.rejected


class LongTableHistory(TableHistory):
    """The same, many times."""


TestTableHistory = TableHistory.TestCase
TestTableHistory.settings = settings(
    max_examples=12,
    stateful_step_count=25,
    deadline=None,
    report_multiple_bugs=False,
    # A history takes a second to run: shrinking would take many minutes and say little more.
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)

TestLongTableHistory = pytest.mark.slow(LongTableHistory.TestCase)
TestLongTableHistory.settings = settings(TestTableHistory.settings, max_examples=300)
