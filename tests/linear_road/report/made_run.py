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

__all__ = ["FACTS", "HISTORY", "make_run", "query_session", "validation", "write_answers", "write_segments"]

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
    "made_at": 1_759_999_940.0,
    "started_at": 1_760_000_000.0,
    "attempts": 1,
    "counts": {"tuples": 12_345, "answers": {"0": 4}},
    "delivery": {"worst_lateness_ms": 12.0, "p99_lateness_ms": 3.0, "kept_promise": True},
}
HISTORY: dict[str, Any] = {
    "keep": "POSREPORTS",
    "history_table": "POSREPORTS",
    "kept": {
        "rows": 2_000_000,
        "late": 0,
        "bytes": 52_000_000,
        "files": 2,
        "rows_in_log": 12,
        "keeper_cpu_seconds": 3.0,
        "visible_ms": {"appends": 180, "p50": 31.0, "p99": 88.0, "worst": 120.0},
    },
    "resources": [[60.0, 95.0, 900.0], [125.0, 30.0, 1000.0], [130.0, 50.0, 1100.0], [135.0, 40.0, 1500.0]],
}
"""Facts of a run that keeps its reports."""

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


def query_session(**facts: Any) -> dict[str, Any]:
    """A session of queries in minute 2 of the run."""
    times = {"high": 0.04, "medium": 0.05, "low": 0.4}
    return {
        "began": 1_760_000_000.0,
        "ended": 1_760_000_060.0,
        "expressways": 2.0,
        "speed": 2.0,
        "rate": 200,
        "index": True,
        "seed": 1,
        "live": True,
        "newest": [118, 128],
        "cells": {
            name: {
                "count": 9,
                "min": 0.02,
                "max": 0.5,
                "mean": mean,
                "p50": 0.03,
                "p99": 0.45,
                "rows": 9_876.5,
            }
            for name, mean in times.items()
        },
        "queries": [
            [name, 1_760_000_001.0 + number, 2.0 + number / 100, mean, 9_876, 10, 69]
            for number in range(9)
            for name, mean in times.items()
        ],
        "checked": 5,
        "wrong": [],
        "scans": {
            "files": 2.0,
            "files_by_time": 1.0,
            "files_by_value": 0.0,
            "files_read": 1.0,
            "groups": 31.0,
            "groups_read": 2.5,
            "bytes": 5.2e7,
            "bytes_read": 3.1e6,
            "log_rows": 12.0,
            "indexed": 0.5,
        },
        "visible": {"count": 14, "min": 0.02, "max": 0.15, "mean": 0.05, "p50": 0.04, "p99": 0.14},
        "just_arrived": [[120, 0.09, 1], [125, 0.11, 2]],
    } | facts


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
