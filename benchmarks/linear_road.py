"""Where the time of a batch goes, next to the floor: the same kernel over the same arrays without Spark.

    python benchmarks/linear_road.py [WORKLOAD RUN] [--no-floor]

RUN is one of WORKLOAD at any speed; without them, those that `make run` makes. The last 300 batches of real
time are looked at (all but the first ten of a run at `--speed max`), and the floor answers the same batches
again, for which it must answer all that came before them: `--no-floor` saves the wait where L is large.

Of a run in SQL (`run --engine tables`), all of real time is looked at, and there is no floor: the table has
the time from one stage to the next, on its own for the first seconds of each minute.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

from causeway.linear_road.history.prepare import prepared_folder
from causeway.linear_road.history.prepared import PreparedHistory
from causeway.linear_road.model.rules import RULES
from causeway.linear_road.pipeline.shard import Shard
from causeway.linear_road.pipeline.tuples_by_shard import deal
from causeway.linear_road.workload.stream_reader import read_seconds
from causeway.linear_road.workload.workload import Workload
from causeway.streaming.cells import pack, unpack

_BATCH_LIMIT = 300
_SECONDS_OF_A_TURN: Final = 4
"""The statements of a minute may delay this many seconds of the next one."""
_STAGES: Final = {
    "insert": "insert",
    "`MOVES`": "moves",
    "views of minutes": "tolls",
    "`CROSSINGS`": "crossings",
    "procedures, answers": "answers",
    "all": "triggerExecution",
}
_IN_TASKS = {
    "source: read and deal to shards": "reading",
    "transfer: unpack in Python": "unpacking",
    "kernel and history": "kernel",
    "state store": "state",
}


class _Cells(dict[str, bytes]):
    """State that costs nothing to keep."""

    def read(self, name: str) -> bytes | None:
        return self.get(name)

    def write(self, name: str, cell: bytes) -> None:
        self[name] = cell

    def remove(self, name: str) -> None:
        del self[name]


def floor(workload: Workload, run: dict[str, Any], batches: list[dict[str, Any]]) -> dict[str, float]:
    """Seconds per million tuples of the run's batches, in one process, shard by shard."""
    shards = int(run["shards"])
    history = PreparedHistory.open(prepared_folder(workload))
    replicas = [Shard(RULES[run["rules"]], history, shards, number) for number in range(shards)]
    states = [_Cells() for _ in range(shards)]
    spent: dict[str, float] = defaultdict(float)
    tuples = 0
    cuts = [batch["first_second"] for batch in batches] + [batches[-1]["last_second"] + 1]
    # What comes before the batches is taken a minute at a time.
    cuts = [*range(0, cuts[0], 60), *cuts]
    waiting: list[pa.RecordBatch] = []
    at = 1
    for second in read_seconds(workload.parts, workload.format):
        while at < len(cuts) and second.time >= cuts[at]:
            if waiting:
                timed = cuts[at - 1] >= batches[0]["first_second"]
                tuples += _answer(waiting, replicas, states, spent if timed else defaultdict(float)) * timed
                waiting = []
            at += 1
        if at == len(cuts):
            break
        waiting += second.batches
    if waiting and at < len(cuts):
        tuples += _answer(waiting, replicas, states, spent)
    return {name: seconds / tuples * 1e6 for name, seconds in spent.items()}


def _answer(
    waiting: list[pa.RecordBatch], replicas: list[Shard], states: list[_Cells], spent: dict[str, float]
) -> int:
    table = pa.Table.from_batches(waiting).combine_chunks()
    moments = [time.perf_counter()]
    dealt = deal(table, len(replicas))
    moments.append(time.perf_counter())
    tuples = [unpack(pack(arrays)) for arrays in dealt]
    moments.append(time.perf_counter())
    for replica, arrays, state in zip(replicas, tuples, states, strict=True):
        replica.answer(arrays, state)
    moments.append(time.perf_counter())
    for name, before, after in zip(("reading", "unpacking", "kernel"), moments, moments[1:], strict=False):
        spent[name] += after - before
    return int(table.num_rows)


def stages(batches: list[dict[str, Any]]) -> Table:
    """Of a run in SQL: milliseconds from each stage to the next, on average and at most."""
    turns = np.array([batch["first_second"] % 60 < _SECONDS_OF_A_TURN for batch in batches])
    table = Table(title=f"{len(batches):,} batches in real time, ms from the spool to the answers")
    table.add_column("")
    for name in ("mean", "99 % within", "at most"):
        table.add_column(name, justify="right")
    for name in ("turn: mean", "turn: at most"):
        table.add_column(name, justify="right")
    for title, name in _STAGES.items():
        spent = np.array([batch["durations_ms"][name] for batch in batches])
        others, turning = spent[~turns], spent[turns]
        found = [others.mean(), np.percentile(others, 99), others.max(), turning.mean(), turning.max()]
        table.add_row(title, *(f"{value:,.0f}" for value in found))
    return table


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("workload", nargs="?", type=Path, default=Path("demo/workload"))
    arguments.add_argument("run", nargs="?", type=Path, default=Path("demo/run"))
    arguments.add_argument("--no-floor", action="store_true", help="look at the run alone")
    given = arguments.parse_args()
    run = json.loads((given.run / "run.json").read_text())
    batches = [batch for batch in run["batches"] if batch["first_second"] >= 60 * run["from_minute"]]
    machine = f"{run['hardware']['processor']}, {run['hardware']['cores']} cores"
    load = f"L = {run['expressways']:g}, speed {run['speed'] or 'max'}"
    if run["engine"] == "tables":
        Console().print(stages([batch for batch in batches if "durations_ms" in batch]))
        print(f"turn: the first {_SECONDS_OF_A_TURN} s of each minute, which the other columns leave out")
        print(f"run: {load}, {machine}")
        return
    batches = (batches if run["speed"] else batches[10:] or batches)[-_BATCH_LIMIT:]
    count, tuples = len(batches), sum(batch["tuples"] for batch in batches)
    total = sum(batch["seconds"] for batch in batches)
    tasks = sum(batch["spent"]["tasks"] for batch in batches)
    sink = sum(batch["spent"]["sink"] for batch in batches)
    table = Table(title=f"{count:,} batches of {tuples / count:,.0f} tuples, {total / count:.3f} s each")
    for name in ("", "ms a batch", "s per million tuples", "floor"):
        table.add_column(name, justify="left" if not name else "right")
    lowest = {} if given.no_floor else floor(Workload.load(given.workload), run, batches)
    in_tasks = 0.0
    for title, name in _IN_TASKS.items():
        seconds = sum(batch["spent"][name] for batch in batches)
        in_tasks += seconds
        below = f"{lowest[name]:.3f}" if name in lowest else ""
        table.add_row(f"{title} ¹", f"{1000 * seconds / count:.1f}", f"{seconds / tuples * 1e6:.3f}", below)
    for title, seconds in (
        ("tasks: all of the above, shuffle, scheduling", tasks),
        ("sink", sink),
        ("fixed cost of a batch: planning, logs, commits", total - tasks - sink),
        ("whole batch", total),
    ):
        below = f"{sum(lowest.values()):.3f}" if lowest and title == "whole batch" else ""
        table.add_row(title, f"{1000 * seconds / count:.1f}", f"{seconds / tuples * 1e6:.3f}", below)
    Console().print(table)
    print(f"¹ summed over tasks, which run side by side: {1000 * in_tasks / count:.0f} ms of work a batch")
    print(f"run: {load}, {machine}" + ("; the floor is one core" if lowest else ""))


if __name__ == "__main__":
    main()
