"""What a run refuses before Spark starts, and how it fails after."""

from __future__ import annotations

import contextlib
import json
import logging
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from tests.linear_road.spark_settings import settings_kept
from tests.linear_road.validation.made_workload import write_workload

from causeway.cli import main as cli
from causeway.cli import options
from causeway.linear_road.driver.clock import SimulatedClock
from causeway.linear_road.runner.run import RunSettings, _Run, begin_run, run
from causeway.linear_road.runner.run_folder import RunFolder
from causeway.linear_road.workload.workload import Workload
from causeway.runtime.errors import UserError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Ended(NamedTuple):
    code: int
    told: str
    """On standard error, in one line."""


Causeway = Callable[..., Ended]


@pytest.fixture
def causeway(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Causeway]:
    """Runs `causeway linear-road run` in this process; Spark must not start."""

    def no_spark(*_: object, **__: object) -> None:
        pytest.fail("Spark was started")

    def command(*arguments: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["causeway", "linear-road", "run", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return Ended(int(ended.value.code or 0), " ".join(capsys.readouterr().err.split()))

    monkeypatch.setattr(options, "spark_session", no_spark)
    yield command
    logging.disable(logging.NOTSET)


def report(time: int, vid: int = 1) -> tuple[int, ...]:
    return (0, time, vid, 50, 0, 1, 0, 5, 26_400, *[-1] * 6)


@pytest.fixture
def workload(tmp_path: Path) -> Workload:
    """Two minutes of reports."""
    made = write_workload(tmp_path / "workload", [report(time, time) for time in range(0, 120, 5)])
    made = replace(made, minutes=2)
    made.save()
    return made


def make_run(folder: Path, workload: Path, state: str = "running") -> None:
    RunFolder(folder).make()
    settings = {"speed": 2.0, "from_minute": 1, "rules": "vldb2004"}
    RunFolder(folder).save({"workload": str(workload), "state": state, **settings})


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--speed", "0"], "a speed of 0.0 is not possible; give a number above 0, or max"),
        (["--speed", "-2"], "a speed of -2.0 is not possible"),
        (["--speed", "nan"], "a speed of nan is not possible"),
        (["--speed", "inf"], "a speed of inf is not possible"),
        (["--speed", "fast"], "'fast' is no number, and not max"),
        (["--from-minute", "2"], "real time cannot start at minute 2"),
        (["--from-minute", "-1"], "--from-minute"),
        (["--rules", "vldb2003"], "--rules vldb2003: there are vldb2004"),
        (["--conf", "nonsense"], "--conf"),
        (["--resume"], "is not a run: it has no run.json"),
    ],
)
def test_settings_that_are_not_possible(
    causeway: Causeway, workload: Workload, tmp_path: Path, options: list[str], told: str
) -> None:
    ended = causeway(workload.folder, "--out", tmp_path / "run", *options)
    assert ended.code == 2
    assert told in ended.told
    assert not (tmp_path / "run" / "batches").exists() or options[0] == "--conf"


def test_no_workload(causeway: Causeway, tmp_path: Path) -> None:
    assert causeway(tmp_path / "nowhere", "--out", tmp_path / "run").code == 2
    assert not (tmp_path / "run").exists()


def test_a_used_folder(causeway: Causeway, workload: Workload, tmp_path: Path) -> None:
    make_run(tmp_path / "run", workload.folder)
    ended = causeway(workload.folder, "--out", tmp_path / "run")
    assert ended.code == 2
    assert "is not empty" in ended.told
    (tmp_path / "file").touch()
    assert "is a file; give a folder" in causeway(workload.folder, "--out", tmp_path / "file").told


@pytest.mark.parametrize(("kind", "table"), [(3, "toll_history"), (4, "segment_history")])
def test_requests_without_history(causeway: Causeway, tmp_path: Path, kind: int, table: str) -> None:
    made = write_workload(tmp_path / "workload", [report(0)])
    replace(made, counts={"reports": 1, f"type_{kind}": 1}).save()
    ended = causeway(made.folder, "--out", tmp_path / "run")
    assert ended.code == 2
    assert f"has no {table} to answer requests from" in ended.told
    assert "causeway linear-road history" in ended.told
    assert not (tmp_path / "run").exists()


def test_a_finished_run_is_not_resumed(causeway: Causeway, workload: Workload, tmp_path: Path) -> None:
    make_run(tmp_path / "run", workload.folder, state="finished")
    ended = causeway(workload.folder, "--out", tmp_path / "run", "--resume")
    assert (ended.code, "is finished; there is nothing to resume" in ended.told) == (2, True)


def test_a_run_of_another_workload_is_not_resumed(
    causeway: Causeway, workload: Workload, tmp_path: Path
) -> None:
    make_run(tmp_path / "run", Path("/some/other"))
    ended = causeway(workload.folder, "--out", tmp_path / "run", "--resume")
    assert (ended.code, "is a run of /some/other, not of" in ended.told) == (2, True)


@pytest.mark.parametrize("text", ["[nonsense", "[]", "{}", '{"workload": 1}'])
def test_a_run_json_that_is_none(causeway: Causeway, workload: Workload, tmp_path: Path, text: str) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text(text)
    ended = causeway(workload.folder, "--out", tmp_path / "run", "--resume")
    assert ended.code == 2
    assert "run.json" in ended.told or "is a run of 1" in ended.told


def test_a_run_can_be_resumed_before_spark_has_started(workload: Workload, tmp_path: Path) -> None:
    given = RunSettings(speed=3.0, from_minute=1)
    assert begin_run(workload, tmp_path / "run", given, resume=False) == given
    facts = RunFolder(tmp_path / "run").facts()
    assert (facts["state"], facts["attempts"]) == ("new", 0)
    # Its own settings hold, whatever is given now.
    assert begin_run(workload, tmp_path / "run", RunSettings(speed=None), resume=True) == given


@pytest.mark.parametrize("state", ["new", "running", "stopped", "failed"])
def test_what_came_to_no_end_can_be_resumed(workload: Workload, tmp_path: Path, state: str) -> None:
    make_run(tmp_path / "run", workload.folder, state=state)
    settings = begin_run(workload, tmp_path / "run", RunSettings(), resume=True)
    assert settings == RunSettings(2.0, 1, "vldb2004")


def test_a_driver_that_fails_fails_the_run_which_can_be_resumed(
    causeway: Causeway,
    monkeypatch: pytest.MonkeyPatch,
    workload: Workload,
    tmp_path: Path,
    spark: SparkSession,
) -> None:
    monkeypatch.setattr(options, "spark_session", lambda *_, **__: contextlib.nullcontext(spark))
    out = tmp_path / "run"
    whole = workload.parts[0].read_bytes()
    workload.parts[0].write_bytes(whole[:-100])
    with settings_kept(spark):
        ended = causeway(workload.folder, "--out", out, "--speed", "max")
    assert ended.code == 2
    assert ended.told.startswith("error: the driver failed: ")
    # Lines break anywhere in a path.
    assert "part-00000.parquetcannotberead" in ended.told.replace(" ", "")
    assert RunFolder(out).facts()["state"] == "failed"
    assert not spark.streams.active

    workload.parts[0].write_bytes(whole)
    settings = begin_run(workload, out, RunSettings(), resume=True)
    with settings_kept(spark):
        facts = run(spark, workload, out, settings, resume=True)
    assert (facts["state"], facts["attempts"], facts["counts"]["tuples"]) == ("finished", 2, 24)
    assert len((out / "answers.csv").read_text().splitlines()) == 24
    with pytest.raises(UserError, match="is finished"):
        begin_run(workload, out, RunSettings(), resume=True)
    assert json.loads((out / "run.json").read_text()) == facts


class Query:
    """What Spark tells of a query, as it would be asked for it."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []
        self.asked_for_all = 0

    def tells(self, batch: int, rows: int = 10) -> None:
        self.told.append({"batchId": batch, "numInputRows": rows})

    @property
    def lastProgress(self) -> dict[str, Any] | None:  # noqa: N802 - Spark's name
        return self.told[-1] if self.told else None

    @property
    def recentProgress(self) -> list[dict[str, Any]]:  # noqa: N802 - Spark's name
        self.asked_for_all += 1
        return list(self.told)


def test_every_batch_is_looked_at_once(workload: Workload, tmp_path: Path) -> None:
    query = Query()
    clock = SimulatedClock(tmp_path, None, 0, 0.0)
    watched = _Run(RunFolder(tmp_path), workload, RunSettings(), query, clock, {}, 0)  # type: ignore[arg-type]

    def news() -> list[int]:
        return [progress["batchId"] for progress in watched._new_progress()]

    assert news() == []
    # While nothing comes, Spark tells of the batch to come.
    query.tells(0, rows=0)
    assert news() == []
    query.tells(0)
    assert (news(), news()) == ([0], [])
    query.tells(1)
    assert (news(), news()) == ([1], [])
    assert query.asked_for_all == 0
    # Several since the last look, with and without a word of what is to come.
    query.tells(2)
    query.tells(3)
    assert (news(), news()) == ([2, 3], [])
    query.tells(4)
    query.tells(5, rows=0)
    assert (news(), news()) == ([4], [])
    query.tells(5)
    assert (news(), news()) == ([5], [])
    assert query.asked_for_all == 2


def test_a_resumed_run_begins_with_any_batch(workload: Workload, tmp_path: Path) -> None:
    query = Query()
    clock = SimulatedClock(tmp_path, None, 0, 0.0)
    watched = _Run(RunFolder(tmp_path), workload, RunSettings(), query, clock, {}, 0)  # type: ignore[arg-type]
    query.tells(41)
    query.tells(42)
    assert [progress["batchId"] for progress in watched._new_progress()] == [41, 42]
