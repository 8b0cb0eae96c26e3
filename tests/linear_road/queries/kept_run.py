"""A run with a history, made by hand: a workload, and the table that a keeper would have made of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from tests.linear_road.validation.made_workload import write_workload

from causeway.linear_road.keeping.keeper import SOURCE
from causeway.linear_road.keeping.reports_table import open_reports_table, report_rows
from causeway.linear_road.workload.workload import Workload
from causeway.streaming_tables.storage import TableStore

__all__ = ["TABLE", "kept_run", "small_traffic"]

TABLE = "POSREPORTS"


def small_traffic(folder: Path, vehicles: int = 60, minutes: int = 15) -> Workload:
    """Vehicles that report every 30 seconds, and a request now and then."""
    random = np.random.default_rng(3)
    tuples = []
    for vid in range(vehicles):
        pos = int(random.integers(0, 400_000))
        for time in range(vid % 30, 60 * minutes, 30):
            speed = int(random.integers(10, 60))
            pos += 44 * speed
            tuples.append((0, time, vid, speed, vid % 3, 1 + vid % 3, vid % 2, pos // 5280, pos, *[-1] * 6))
            if random.random() < 0.05:
                tuples.append((2, time, vid, *[-1] * 6, len(tuples), *[-1] * 5))
    made = replace(write_workload(folder, tuples), minutes=minutes)
    made.save()
    return made


def kept_run(folder: Path, workload: Workload) -> TableStore:
    """A finished run of `workload` in `folder`; returns the table with its history."""
    store = open_reports_table(folder / "warehouse", TABLE)
    tuples = pq.read_table(workload.parts[0])
    rows = report_rows(tuples, store.definition.arrow_schema())
    with store.writer("test") as writer:
        half = rows.num_rows // 2
        writer.append(rows.slice(0, half), source=SOURCE, batch=0)
        writer.flush()
        writer.append(rows.slice(half), source=SOURCE, batch=1)
    facts = {
        "layout": 1,
        "state": "finished",
        "workload": str(workload.folder),
        "expressways": workload.expressways,
        "minutes": workload.minutes,
        "speed": None,
        "from_minute": 0,
        "made_at": 1.0,
        "keep": TABLE,
        "history_table": TABLE,
    }
    (folder / "run.json").write_text(json.dumps(facts))
    return store
