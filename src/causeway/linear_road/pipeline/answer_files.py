"""A batch's answers as one file that appears whole, and the note that makes them count."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from causeway.linear_road.driver.clock import SimulatedClock
from causeway.linear_road.model.answers import ANSWER_SCHEMA
from causeway.streaming.cells import Arrays
from causeway.streaming.sink import BatchFolder

__all__ = ["answer_table", "write_answers", "write_whole"]

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


def write_answers(
    batches: BatchFolder,
    answers: Arrays,
    clock: SimulatedClock,
    facts: Mapping[str, Any],
    spent: Mapping[str, float],
) -> dict[str, Any]:
    """Write the answers of the batch that `facts` name; returns the note.

    `facts` are the batch's number, its seconds and tuples; `spent` are seconds before this step, which adds
    its own.
    """
    began = time.perf_counter()
    output = batches.begin(facts["batch"])
    # All work on the rows is done but writing them down: this is the hand-over.
    handed_over = time.time()
    emit = clock.at(handed_over)
    write_whole(answer_table(answers, emit), output)
    readable = time.time()
    note = {
        **facts,
        "answers": {str(kind): len(answers[fields["Time"]]) for kind, fields in _FIELDS.items()},
        "handed_over": handed_over,
        "readable": readable,
        "emit": emit,
        "readable_simulated": clock.at(readable),
        "spent": {**spent, "sink": spent.get("sink", 0.0) + time.perf_counter() - began},
    }
    batches.finish(facts["batch"], note)
    return note


def answer_table(answers: Arrays, emit: float) -> pa.Table:
    """All answers as rows, null where a field is not of the type."""
    parts = []
    for kind, fields in _FIELDS.items():
        count = len(answers[fields["Time"]])
        columns: list[Any] = []
        for field in ANSWER_SCHEMA:
            if field.name in fields:
                values = answers[fields[field.name]]
                columns.append(pa.array(values.astype(np.int32, copy=False), field.type))
            elif field.name == "Type":
                columns.append(pa.array(np.full(count, kind, np.int8)))
            elif field.name == "Emit":
                columns.append(pa.array(np.full(count, emit)))
            else:
                columns.append(pa.nulls(count, field.type))
        parts.append(pa.record_batch(columns, schema=ANSWER_SCHEMA))
    return pa.Table.from_batches(parts)


def write_whole(table: pa.Table, path: Path) -> None:
    """Write a file that appears when it is complete."""
    unfinished = path.with_name(f".{path.name}")
    pq.write_table(table, unfinished, compression="lz4", use_dictionary=False, write_statistics=False)
    unfinished.replace(path)
