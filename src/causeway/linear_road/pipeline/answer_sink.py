"""The sink: a batch's answers, from all shards, as one file that appears whole.

    RUN/batches/batch-000000012.parquet   the answers of batch 12
    RUN/batches/batch-000000012.json      how many, and when they were handed over and readable
    RUN/segments/batch-000000012.parquet  the minutes of segments that ended in it

A batch that is done again after a crash writes the same names again: nothing is lost, nothing doubled. A
batch without the answers of one of its shards fails: the tolls that this shard has charged would be missing
from balances.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from causeway.linear_road.driver.clock import SimulatedClock
from causeway.linear_road.model.answers import ANSWER_SCHEMA
from causeway.streaming.cells import Arrays, concatenate, unpack
from causeway.streaming.sink import BatchFolder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["AnswerSink", "MissingShardError", "answer_table"]

_FIELDS: Final[dict[int, dict[str, str]]] = {
    0: {"Time": "toll_time", "VID": "toll_vid", "Spd": "toll_lav", "Toll": "toll_toll"},
    1: {"Time": "alert_time", "VID": "alert_vid", "Seg": "alert_seg"},
    2: {
        "Time": "balance_time",
        "QID": "balance_qid",
        "ResultTime": "balance_result_time",
        "Bal": "balance_bal",
    },
    3: {"Time": "expenditure_time", "QID": "expenditure_qid", "Bal": "expenditure_bal"},
    4: {
        "Time": "journey_time",
        "QID": "journey_qid",
        "TravelTime": "journey_travel_time",
        "Toll": "journey_toll",
    },
}
_SPENT: Final = ("reading", "unpacking", "kernel", "state")
"""Seconds that tasks note, summed over all of them."""
_SEGMENT_FIELDS: Final = ("Minute", "XWay", "Dir", "Seg", "Cars", "Lav", "Toll", "Accident")


class MissingShardError(RuntimeError):
    """A batch came without the answers of one of its shards, or with several of one."""


class AnswerSink:
    """Writes batches of `shards` shards into a run's folder; to be given to `foreachBatch`."""

    def __init__(self, batches: BatchFolder, segments: Path, clock: SimulatedClock, shards: int) -> None:
        self._batches = batches
        self._segments = segments
        self._clock = clock
        self._shards = shards

    def __call__(self, batch: DataFrame, number: int) -> None:
        began = time.perf_counter()
        rows = batch.toArrow()
        collected = time.perf_counter()
        self._check_shards(rows.column("shard").to_pylist(), number)
        shards = [unpack(cell) for cell in rows.column("answers").to_pylist()]
        answers = _add_up(shards)
        tuples = int(answers["batch_tuples"].sum() + answers["batch_balances"][0])
        if not tuples:
            return
        output = self._batches.begin(number)
        ended = {name: answers[f"segment_{name.lower()}"] for name in _SEGMENT_FIELDS}
        if len(ended["Minute"]):
            _write_whole(pa.table(ended), self._segments / output.name)
        # All work on the rows is done but writing them down: this is the hand-over.
        handed_over = time.time()
        emit = self._clock.at(handed_over)
        _write_whole(answer_table(answers, emit), output)
        readable = time.time()
        spent = {what: float(answers[f"spent_{what}"].sum()) for what in _SPENT}
        note = {
            "batch": number,
            "first_second": int(answers["batch_first"].min()),
            "last_second": int(answers["batch_last"].max()),
            "tuples": tuples,
            "answers": {str(kind): len(answers[fields["Time"]]) for kind, fields in _FIELDS.items()},
            "handed_over": handed_over,
            "readable": readable,
            "emit": emit,
            "readable_simulated": self._clock.at(readable),
            "spent": spent | {"tasks": collected - began, "sink": time.perf_counter() - collected},
        }
        self._batches.finish(number, note)

    def _check_shards(self, present: list[int], number: int) -> None:
        if sorted(present) != list(range(self._shards)):
            raise MissingShardError(
                f"batch {number} must have answers of the shards 0 to {self._shards - 1}, each once; "
                f"it has {', '.join(map(str, sorted(present))) or 'none'}"
            )


def answer_table(answers: Arrays, emit: float) -> pa.Table:
    """All answers as rows, null where a field is not of the type."""
    parts = []
    for kind, fields in _FIELDS.items():
        count = len(answers[fields["Time"]])
        columns: list[Any] = []
        for field in ANSWER_SCHEMA:
            if field.name in fields:
                columns.append(pa.array(answers[fields[field.name]], field.type))
            elif field.name == "Type":
                columns.append(pa.array(np.full(count, kind, np.int8)))
            elif field.name == "Emit":
                columns.append(pa.array(np.full(count, emit)))
            else:
                columns.append(pa.nulls(count, field.type))
        parts.append(pa.record_batch(columns, schema=ANSWER_SCHEMA))
    return pa.Table.from_batches(parts)


def _add_up(shards: Sequence[Arrays]) -> Arrays:
    """The answers of all shards; a balance is the sum of what each has of it.

    Every shard has had the same balance requests in the same order.
    """
    requests = [shard["balance_qid"] for shard in shards]
    if any(not np.array_equal(qids, requests[0]) for qids in requests):
        raise RuntimeError("shards were asked for the balances of different vehicles")
    total = np.stack([shard["balance_bal"] for shard in shards]).sum(axis=0, dtype=np.int32)
    balances = {name: values for name, values in shards[0].items() if name.startswith("balance_")}
    return concatenate(shards) | balances | {"balance_bal": total}


def _write_whole(table: pa.Table, path: Path) -> None:
    unfinished = path.with_name(f".{path.name}")
    pq.write_table(table, unfinished, compression="lz4", use_dictionary=False, write_statistics=False)
    unfinished.replace(path)
