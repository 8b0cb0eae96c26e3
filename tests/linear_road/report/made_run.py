"""Folders of small Linear Road runs, made without Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from causeway.linear_road.model.answers import ANSWER_SCHEMA
from causeway.linear_road.runner.answers_file import collect_answers

__all__ = ["FACTS", "make_run", "validation", "write_answers", "write_segments"]

FACTS: dict[str, Any] = {
    "version": "0.1.0",
    "state": "finished",
    "workload": "<b>roads</b> & more",
    "expressways": 2.0,
    "minutes": 5,
    "seed": 1,
    "rules": "vldb2004",
    "speed": 2.0,
    "from_minute": 2,
    "master": "local[2]",
    "settings": {"spark.driver.memory": "<8g>"},
    "hardware": {"processor": "Fast <& cheap>", "cores": 2, "memory_gib": 23.5, "system": "Linux"},
    "versions": {"pyspark": "4.3.0"},
    "started_at": 1_760_000_000.0,
    "attempts": 1,
    "counts": {"tuples": 12_345, "answers": {"0": 4}},
    "delivery": {"worst_lateness_ms": 12.0, "p99_lateness_ms": 3.0, "kept_promise": True},
}
SEGMENTS = ("Minute", "XWay", "Dir", "Seg", "Cars", "Lav", "Toll", "Accident")


def write_answers(run: Path, number: int, first: int, rows: list[tuple[int, int, float]]) -> None:
    """Answers as (Type, Time, Emit); the batch is readable at its last Emit."""
    folder = run / "batches"
    folder.mkdir(parents=True, exist_ok=True)
    fields = dict.fromkeys(ANSWER_SCHEMA.names[3:], 1)
    table = [{"Type": kind, "Time": time, "Emit": emit} | fields for kind, time, emit in rows]
    pq.write_table(pa.Table.from_pylist(table, schema=ANSWER_SCHEMA), folder / f"batch-{number:09d}.parquet")
    counts = {str(kind): sum(row[0] == kind for row in rows) for kind in range(5)}
    facts = {
        "batch": number,
        "first_second": first,
        "last_second": first + 9,
        "tuples": 500,
        "answers": counts,
    }
    times = {"started_at": 100.0 + number, "readable": 100.75 + number}
    facts |= times | {"readable_simulated": max([emit for *_, emit in rows], default=0.0)}
    (folder / f"batch-{number:09d}.json").write_text(json.dumps(facts))


def write_segments(run: Path, rows: list[tuple[int, ...]]) -> None:
    (run / "segments").mkdir(parents=True)
    columns = np.array(rows, np.int32).T
    pq.write_table(pa.table(list(columns), names=SEGMENTS), run / "segments/batch-000000000.parquet")


def make_run(run: Path, collect: bool = True, segments: bool = True, **facts: Any) -> Path:
    run.mkdir()
    write_answers(run, 0, 0, [(0, 5, 100.0)])
    write_answers(run, 1, 120, [(0, 120, 121.0), (0, 125, 130.0), (2, 126, 130.0), (3, 121, 130.0)])
    write_answers(run, 2, 130, [(0, 131, 139.0), (1, 131, 139.0), (4, 139, 142.0)])
    rows = [(1, 0, 0, 31, 80, 30, 1800, 1), (2, 0, 0, 31, 70, 20, 800, 1), (2, 1, 1, 9, 7, 66, 0, 0)]
    if segments:
        write_segments(run, rows)
    told = [json.loads(path.read_text()) for path in sorted((run / "batches").glob("*.json"))]
    spent = {"addBatch": 600, "walCommit": 20, "commitOffsets": 10, "queryPlanning": 30}
    batches = [batch | {"seconds": 0.75, "durations_ms": spent} for batch in told]
    (run / "run.json").write_text(json.dumps(FACTS | {"batches": batches} | facts))
    if collect:
        collect_answers(run)
    return run


def validation(passed: bool, **facts: Any) -> dict[str, Any]:
    took = {"answers": 3, "least": 0.5, "mean": 2.5, "p50": 2.25, "p95": 4.0, "p99": 4.0, "worst": 4.0}
    names = ["toll notification", "accident alert", "account balance", "daily expenditure", "travel time"]
    types = [
        {"type": number, "name": name, "passed": passed, "deadline": 5, "expected": 1234, "answered": 1234}
        | dict.fromkeys(("missing", "extra", "doubled", "late", "early"), 0)
        | {"wrong": 0 if passed else 3, "response": took if number else None}
        for number, name in enumerate(names)
    ]
    told = {"passed": passed, "xways": None, "speed": 2.0, "types": types, "malformed": 0, "differences": []}
    return told | {"notes": []} | facts
