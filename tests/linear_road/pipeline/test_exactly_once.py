"""Runs broken off at any moment and resumed: the answers are those of an unbroken run, Emit aside.

Those of an unbroken run are the literal reading's, to the letter (see `test_third_opinion`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.command_process import CommandProcess
from tests.linear_road.pipeline.conftest import Asked
from tests.linear_road.pipeline.random_workload import answers_of

from causeway.linear_road.keeping.reports_table import open_reports_table

FROM_MINUTE = 4
TABLE = "POSREPORTS"
REAL_TIME = ("--speed", 10, "--from-minute", FROM_MINUTE, "--keep", TABLE)


def attempted(workload: Path, run: Path, *options: object, master: str = "local[2]") -> CommandProcess:
    return CommandProcess(run, "linear-road", "run", workload, "--out", run, "--master", master, *options)


class Watched:
    """A run's folder, as it stood when an attempt began and as it stands now."""

    def __init__(self, run: Path) -> None:
        self._run = run
        self._begun_before = self._begun()
        self._written_before = self._written()

    def has_settings(self) -> bool:
        """Spark is about to start."""
        return (self._run / "run.json").exists()

    def past_is_delivered(self) -> bool:
        """At least some of it, and nothing is answered."""
        return any((self._run / "spool").glob("seconds-*"))

    def real_time_is_answered(self) -> bool:
        """A batch of real time has been written; it may not be committed yet."""
        return any(
            json.loads(note.read_text())["last_second"] >= 60 * FROM_MINUTE
            for note in sorted((self._run / "batches").glob("batch-*.json"))[-2:]
        )

    def batches_are_saved(self) -> bool:
        """What a kill would leave has batches."""
        return facts(self._run)["state"] == "running" and bool(facts(self._run)["batches"])

    def batch_is_begun(self) -> bool:
        """Spark has planned another batch since."""
        return self._begun() > self._begun_before

    def batch_is_written(self) -> bool:
        """The answers of a batch have appeared since, or again; most likely it is not committed."""
        return self._written() != self._written_before

    def all_is_delivered(self) -> bool:
        try:
            state: str = json.loads((self._run / "spool" / "_delivery.json").read_text())["state"]
        except FileNotFoundError:
            return False
        return state == "finished"

    def answers_are_collected(self) -> bool:
        return (self._run / ".collecting").exists()

    def _begun(self) -> int:
        log = self._run / "checkpoint" / "offsets"
        return max((int(path.name) for path in log.glob("[0-9]*")), default=-1)

    def _written(self) -> set[tuple[str, int]]:
        batches = (self._run / "batches").glob("batch-*.parquet")
        return {(path.name, path.stat().st_mtime_ns) for path in batches}


def facts(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "run.json").read_text())
    return found


def check(run: Path, asked: Asked, attempts: int) -> None:
    """All is as if nothing had happened, in the answers and in the history."""
    check_history(run, asked)
    found = answers_of(run)
    assert found - asked.expected == Counter()
    assert asked.expected - found == Counter()
    recorded = facts(run)
    assert (recorded["state"], recorded["attempts"]) == ("finished", attempts)
    assert recorded["counts"]["tuples"] == asked.tuples
    assert sum(recorded["counts"]["answers"].values()) == asked.expected.total()
    noted = sorted((run / "batches").glob("batch-*.json"))
    assert [f"batch-{batch['batch']:09d}" for batch in recorded["batches"]] == [path.stem for path in noted]
    left = ("spool", "checkpoint", ".collecting", ".warm-up", ".lock")
    assert not any((run / name).exists() for name in left)
    names = [path.name for folder in ("batches", "segments") for path in (run / folder).iterdir()]
    assert not [name for name in names if name.startswith(".")]


def check_history(run: Path, asked: Asked) -> None:
    """Every position report is in the table, once, in the order of time."""
    if facts(run)["keep"] is None:
        return
    rows = open_reports_table(run / "warehouse", TABLE).snapshot().scan(with_seq=True)
    rows = rows.sort_by("__seq")
    assert rows.column("T").to_pylist() == sorted(rows.column("T").to_pylist())
    kept = Counter(zip(*(column.to_pylist() for column in rows.drop(["__seq"]).columns), strict=True))
    fields = ["VID", "Spd", "XWay", "Lane", "Dir", "Seg", "Pos", "Time"]
    reported: Counter[tuple[int, ...]] = Counter()
    for part in asked.workload.parts:
        tuples = pq.read_table(part).to_pylist()
        reported.update(tuple(one[name] for name in fields) for one in tuples if one["Type"] == 0)
    assert kept == reported
    assert facts(run)["kept"]["rows"] == reported.total()
    assert facts(run)["kept"]["late"] == 0
    assert (run / "keeping-log.txt").read_text() == ""


@pytest.mark.starts_spark
def test_killed_and_interrupted_it_goes_on(asked: Asked, tmp_path: Path) -> None:
    run = tmp_path / "run"
    workload = asked.workload.folder

    with attempted(workload, run, *REAL_TIME) as attempt:
        attempt.wait_for(Watched(run).has_settings)
        attempt.kill()
    assert facts(run)["state"] == "new"

    with attempted(workload, run, "--resume") as attempt:
        attempt.wait_for(Watched(run).real_time_is_answered)
        attempt.wait_for(Watched(run).batches_are_saved)
        assert attempt.interrupt() == 130
        # A busy machine shows its progress before.
        assert attempt.output.endswith("interrupted")
    assert facts(run)["state"] == "stopped"
    assert facts(run)["speed"] == 10

    with attempted(workload, run, "--resume") as attempt:
        attempt.wait_for(Watched(run).batch_is_written)
        attempt.kill()
    assert facts(run)["state"] == "running"
    assert facts(run)["batches"]

    with attempted(workload, run, "--resume") as attempt:
        assert attempt.end() == 0, attempt.output
    check(run, asked, attempts=3)
    # Real time had started: there was no time for a warm-up.
    assert ["warm_up" in start for start in facts(run)["starts"]] == [True, False, False]
    assert "WARN" in (run / "log.txt").read_text()


@pytest.mark.slow
def test_killed_at_every_kind_of_moment(asked: Asked, tmp_path: Path) -> None:
    run = tmp_path / "run"
    workload = asked.workload.folder
    moments: list[tuple[Callable[[Watched], bool], float]] = [
        (Watched.past_is_delivered, 0.0),
        (Watched.batch_is_begun, 0.0),
        (Watched.batch_is_written, 0.0),
        (Watched.real_time_is_answered, 0.5),
        (Watched.batch_is_written, 0.0),
        (Watched.batch_is_begun, 0.1),
        (Watched.all_is_delivered, 0.1),
    ]
    attempts = 1
    for number, (moment, at_most_after) in enumerate(moments):
        with attempted(workload, run, *(["--resume"] if number else REAL_TIME)) as attempt:
            attempt.wait_for(partial(moment, Watched(run)))
            attempt.kill(at_most_after)
        # The driver starts before Spark, so the first moment may come before the first attempt has begun.
        assert facts(run)["state"] == "running" or (number == 0 and facts(run)["state"] == "new")
        attempts += facts(run)["state"] == "running"
    with attempted(workload, run, "--resume") as attempt:
        # This is a matter of milliseconds, and may be missed.
        if attempt.comes_to(Watched(run).answers_are_collected):
            attempt.kill()
    if facts(run)["state"] != "finished":
        attempts += 1
        with attempted(workload, run, "--resume") as attempt:
            assert attempt.end() == 0, attempt.output
    check(run, asked, attempts)


@pytest.mark.slow
def test_workers_in_other_processes(asked: Asked, tmp_path: Path) -> None:
    """A cluster of two workers on this machine: they have nothing but the folders in common."""
    run = tmp_path / "run"
    options = ("--speed", "max", "--conf", "spark.executor.memory=1g")
    with attempted(asked.workload.folder, run, *options, master="local-cluster[2,1,1024]") as attempt:
        assert attempt.end() == 0, attempt.output
    check(run, asked, attempts=1)
    assert facts(run)["master"] == "local-cluster[2,1,1024]"
