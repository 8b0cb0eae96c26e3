"""The sink alone, given what shards would give it."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.linear_road.pipeline.tuple_tables import table
from tests.linear_road.random_traffic import make_traffic

from causeway.linear_road.driver.clock import SimulatedClock
from causeway.linear_road.history.prepared import PreparedHistory
from causeway.linear_road.model.answers import ANSWER_SCHEMA
from causeway.linear_road.model.rules import RULES
from causeway.linear_road.model.tuples import INPUT_SCHEMA
from causeway.linear_road.pipeline.answer_files import answer_table
from causeway.linear_road.pipeline.answer_sink import AnswerSink, MissingShardError
from causeway.linear_road.pipeline.shard import Shard
from causeway.linear_road.pipeline.tuples_by_shard import deal
from causeway.linear_road.runner.answers_file import collect_answers
from causeway.streaming.cells import Arrays, pack
from causeway.streaming.sink import BatchFolder

SEED = 34
"""Of traffic with tolls, alerts and balance requests on two expressways."""


class Batch:
    """What Spark hands to the sink: a row for each shard."""

    def __init__(self, *answers: Arrays, shards: list[int] | None = None) -> None:
        self._cells = [pack(arrays) for arrays in answers]
        self._shards = list(range(len(answers))) if shards is None else shards

    def toArrow(self) -> pa.Table:  # noqa: N802 - Spark's name
        columns = [pa.array(self._shards, pa.int32()), pa.array(self._cells, pa.binary())]
        return pa.table(columns, names=["shard", "answers"])


class NoState:
    def read(self, name: str) -> None:
        return None

    def write(self, name: str, cell: bytes) -> None:
        pass

    def remove(self, name: str) -> None:
        pass


def shards_of(seed: int, shards: int, crowded: bool = True) -> tuple[list[Arrays], int]:
    """The shards' answers to random traffic of types 0 and 2, and how many tuples there were."""
    tuples = [given for given in make_traffic(Random(seed), crowded=crowded) if given[0] in (0, 2)]
    rules, history = RULES["vldb2004"], PreparedHistory(Path("/nowhere"), "none")
    dealt = deal(table(tuples), shards)
    spent = {f"spent_{what}": np.array([0.25]) for what in ("reading", "unpacking", "kernel", "state")}
    answers = [
        Shard(rules, history, shards, shard).answer(arrays, NoState()) | spent
        for shard, arrays in enumerate(dealt)
    ]
    return answers, len(tuples)


def make_sink(run: Path, shards: int) -> AnswerSink:
    (run / "batches").mkdir(exist_ok=True)
    (run / "segments").mkdir(exist_ok=True)
    clock = SimulatedClock(run, None, 0, made_at=0.0)
    return AnswerSink(BatchFolder(run / "batches"), run / "segments", clock, shards)


@pytest.fixture
def sink(tmp_path: Path) -> AnswerSink:
    """Of two shards."""
    return make_sink(tmp_path, 2)


def files(run: Path) -> dict[str, list[str]]:
    """All names, hidden ones too."""
    return {name: sorted(file.name for file in (run / name).iterdir()) for name in ("batches", "segments")}


def note(run: Path, number: int) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads((run / "batches" / f"batch-{number:09d}.json").read_text())
    return facts


def test_a_batch_is_whole_files_and_a_note(sink: AnswerSink, tmp_path: Path) -> None:
    answers, tuples = shards_of(SEED, 2)
    sink(Batch(*answers), 12)
    name = "batch-000000012"
    assert files(tmp_path) == {
        "batches": [f"{name}.json", f"{name}.parquet"],
        "segments": [f"{name}.parquet"],
    }
    rows = pq.read_table(tmp_path / "batches" / f"{name}.parquet")
    assert rows.schema.equals(ANSWER_SCHEMA)
    told = note(tmp_path, 12)
    assert told["batch"] == 12
    assert told["tuples"] == tuples
    kinds = np.bincount(rows.column("Type").to_numpy(), minlength=5)
    assert told["answers"] == {str(kind): int(count) for kind, count in enumerate(kinds)}
    assert 0 <= told["first_second"] < told["last_second"] < 15 * 60 + 200
    # The clock counts seconds since 1970 here: handed over, then readable, on both clocks.
    assert told["handed_over"] <= told["readable"] <= told["readable_simulated"] + 1e-6
    assert set(rows.column("Emit").to_pylist()) == {told["emit"]} == {told["handed_over"]}
    assert {what: told["spent"][what] for what in ("reading", "kernel")} == {"reading": 0.5, "kernel": 0.5}
    assert collect_answers(tmp_path) == dict(enumerate(kinds.tolist()))


def test_a_batch_done_twice_is_there_once(sink: AnswerSink, tmp_path: Path) -> None:
    answers, _ = shards_of(SEED, 2)
    sink(Batch(*answers), 3)
    there, before = files(tmp_path), note(tmp_path, 3)
    rows = pq.read_table(tmp_path / "batches" / "batch-000000003.parquet")
    # A crash may have left half of a file, which is in nobody's way.
    (tmp_path / "batches" / ".batch-000000003.parquet").write_bytes(b"PAR1 half")
    sink(Batch(*answers), 3)
    assert files(tmp_path) == there
    again = pq.read_table(tmp_path / "batches" / "batch-000000003.parquet")
    assert again.drop_columns("Emit").equals(rows.drop_columns("Emit"))
    after = note(tmp_path, 3)
    assert after["emit"] > before["emit"]
    same = ("batch", "first_second", "last_second", "tuples", "answers")
    assert [after[name] for name in same] == [before[name] for name in same]


@pytest.mark.parametrize(
    ("present", "message"),
    [([], "it has none"), ([0], "it has 0"), ([1], "it has 1"), ([0, 1, 1], "it has 0, 1, 1")],
)
def test_a_missing_shard_is_noticed(
    sink: AnswerSink, tmp_path: Path, present: list[int], message: str
) -> None:
    """Otherwise the tolls that it has charged would be missing from balances, and nobody would know."""
    answers, _ = shards_of(SEED, 2)
    with pytest.raises(MissingShardError, match=f"batch 7 must have .* shards 0 to 1, each once; {message}"):
        sink(Batch(*(answers[shard] for shard in present), shards=present), 7)
    assert files(tmp_path) == {"batches": [], "segments": []}


def test_a_batch_without_tuples_leaves_nothing(sink: AnswerSink, tmp_path: Path) -> None:
    rules, history = RULES["vldb2004"], PreparedHistory(Path("/nowhere"), "none")
    spent = {f"spent_{what}": np.array([0.25]) for what in ("reading", "unpacking", "kernel", "state")}
    dealt = deal(INPUT_SCHEMA.empty_table(), 2)
    answers = [
        Shard(rules, history, 2, shard).answer(arrays, NoState()) | spent
        for shard, arrays in enumerate(dealt)
    ]
    sink(Batch(*answers), 7)
    assert files(tmp_path) == {"batches": [], "segments": []}


def test_balances_of_shards_add_up(tmp_path: Path) -> None:
    sink = make_sink(tmp_path, 3)
    answers, _ = shards_of(SEED, 3)
    asked = len(answers[0]["balance_qid"])
    assert asked
    for shard, arrays in enumerate(answers):
        arrays["balance_bal"] = np.arange(asked, dtype=np.int32) * 10**shard
    sink(Batch(*answers), 0)
    rows = pq.read_table(tmp_path / "batches" / "batch-000000000.parquet").to_pylist()
    balances = [row for row in rows if row["Type"] == 2]
    assert [row["Bal"] for row in balances] == [111 * i for i in range(asked)]
    assert [row["QID"] for row in balances] == answers[0]["balance_qid"].tolist()
    assert [row["ResultTime"] for row in balances] == [row["Time"] - 1 for row in balances]


def test_shards_that_were_asked_for_others_balances_are_refused(sink: AnswerSink, tmp_path: Path) -> None:
    answers, _ = shards_of(SEED, 2)
    answers[1]["balance_qid"] = answers[1]["balance_qid"] + 1
    with pytest.raises(RuntimeError, match="different vehicles"):
        sink(Batch(*answers), 0)
    assert files(tmp_path) == {"batches": [], "segments": []}


def test_one_shard_or_three_give_the_same_answers(tmp_path: Path) -> None:
    tables, minutes = [], []
    for number, shards in enumerate((1, 3)):
        answers, _ = shards_of(SEED, shards)
        make_sink(tmp_path, shards)(Batch(*answers), number)
        name = f"batch-{number:09d}.parquet"
        order = [(name, "ascending") for name in ("Type", "Time", "VID", "QID")]
        tables.append(pq.read_table(tmp_path / "batches" / name).drop_columns("Emit").sort_by(order))
        ended = pq.read_table(tmp_path / "segments" / name).to_pylist()
        minutes.append({tuple(row.values()) for row in ended})
    alone, shared = tables
    assert alone.equals(shared)
    # A minute ends with a later tuple: a shard of few roads may have none.
    assert minutes[0] >= minutes[1] > set()


def test_a_field_that_is_not_of_the_type_is_null() -> None:
    (answers,), _ = shards_of(SEED, 1)
    rows = answer_table(answers, 1.5).to_pylist()
    of_type = {0: {"VID", "Spd", "Toll"}, 1: {"VID", "Seg"}, 2: {"QID", "ResultTime", "Bal"}}
    assert {row["Type"] for row in rows} == {0, 1, 2}
    for row in rows:
        told = {name for name, value in row.items() if value is not None}
        assert told == {"Type", "Time", "Emit"} | of_type[row["Type"]]
        assert row["Emit"] == 1.5
