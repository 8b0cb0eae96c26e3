"""The sink: a batch's answers, from all shards, as one file that appears whole.

    RUN/batches/batch-000000012.parquet   the answers of batch 12
    RUN/batches/batch-000000012.json      how many, and when they were handed over and readable
    RUN/segments/batch-000000012.parquet  the minutes of segments that ended in it

A batch that is done again after a crash writes the same names again: nothing is lost, nothing doubled.
"""

from __future__ import annotations

import json
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

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["AnswerSink", "answer_table"]

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


class AnswerSink:
    """Writes batches into a run's folder; to be given to `foreachBatch`."""

    def __init__(self, batches: Path, segments: Path, clock: SimulatedClock) -> None:
        self._batches = batches
        self._segments = segments
        self._clock = clock

    def __call__(self, batch: DataFrame, number: int) -> None:
        began = time.perf_counter()
        cells = batch.toArrow().column("answers").to_pylist()
        if not cells:
            return
        collected = time.perf_counter()
        shards = [unpack(cell) for cell in cells]
        answers = _add_up(shards)
        ended = {name: answers[f"segment_{name.lower()}"] for name in _SEGMENT_FIELDS}
        if len(ended["Minute"]):
            _write_whole(pa.table(ended), self._segments / _name(number, "parquet"))
        # All work on the rows is done but writing them down: this is the hand-over.
        handed_over = time.time()
        emit = self._clock.at(handed_over)
        _write_whole(answer_table(answers, emit), self._batches / _name(number, "parquet"))
        readable = time.time()
        spent = {what: float(answers[f"spent_{what}"].sum()) for what in _SPENT}
        facts = {
            "batch": number,
            "first_second": int(answers["batch_first"].min()),
            "last_second": int(answers["batch_last"].max()),
            "tuples": int(answers["batch_tuples"].sum() + answers["batch_balances"][0]),
            "answers": {str(kind): len(answers[fields["Time"]]) for kind, fields in _FIELDS.items()},
            "handed_over": handed_over,
            "readable": readable,
            "emit": emit,
            "readable_simulated": self._clock.at(readable),
            "spent": spent | {"tasks": collected - began, "sink": time.perf_counter() - collected},
        }
        note = self._batches / f".{_name(number, 'json')}"
        note.write_text(json.dumps(facts))
        note.rename(self._batches / _name(number, "json"))


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
    asked = [shard["balance_qid"] for shard in shards]
    if any(not np.array_equal(qids, asked[0]) for qids in asked):
        raise RuntimeError("shards were asked for the balances of different vehicles")
    total = np.stack([shard["balance_bal"] for shard in shards]).sum(axis=0, dtype=np.int32)
    mine = {name: values for name, values in shards[0].items() if name.startswith("balance_")}
    return concatenate(shards) | mine | {"balance_bal": total}


def _name(number: int, kind: str) -> str:
    return f"batch-{number:09d}.{kind}"


def _write_whole(table: pa.Table, path: Path) -> None:
    aside = path.with_name(f".{path.name}")
    pq.write_table(table, aside, compression="lz4", use_dictionary=False, write_statistics=False)
    aside.replace(path)
