"""What a run refuses before Spark starts, and how it fails after."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from tests.linear_road.validation.made_workload import write_workload

from causeway import linear_road
from causeway.cli import main as cli
from causeway.linear_road.driver.spool import spool_files
from causeway.linear_road.model.rules import RULES
from causeway.linear_road.pipeline import answer_sink
from causeway.linear_road.runner import run as running
from causeway.linear_road.runner.run import begun_run
from causeway.linear_road.runner.run_folder import RunFolder
from causeway.linear_road.runner.settings import RequestedSettings, RunSettings
from causeway.linear_road.workload.workload import Workload
from causeway.runtime.errors import UserError
from causeway.spark import precedence, session
from causeway.streaming.watch import QueryFailedError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Ended(NamedTuple):
    code: int
    message: str
    """On standard error, in one line."""


Causeway = Callable[..., Ended]


@pytest.fixture
def causeway(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Causeway:
    """Runs `causeway linear-road run` in this process; Spark must not start."""

    def no_spark(*_: object, **__: object) -> None:
        pytest.fail("Spark was started")

    def command(*arguments: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["causeway", "linear-road", "run", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return Ended(int(ended.value.code or 0), " ".join(capsys.readouterr().err.split()))

    monkeypatch.setattr(session, "spark_session", no_spark)
    # It would lower the priority of the tests' own Spark, for good.
    monkeypatch.setattr(precedence, "give_way", lambda _: None)
    return command


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
    settings = {"speed": 2.0, "from_minute": 1, "rules": "vldb2004"}
    RunFolder(folder).begin({"workload": str(workload), "state": state, **settings})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--speed", "0"], "a speed of 0 is not possible; give a number above 0, or max"),
        (["--speed", "-2"], "a speed of -2 is not possible"),
        (["--speed", "nan"], "a speed of nan is not possible"),
        (["--speed", "inf"], "a speed of inf is not possible"),
        (["--speed", "fast"], "'fast' is no number, and not max"),
        (["--from-minute", "2"], "real time cannot start at minute 2"),
        (["--from-minute", "-1"], "--from-minute"),
        (["--rules", "vldb2003"], "'vldb2003' is not"),
        (["--conf", "nonsense"], "--conf"),
        (
            ["--conf", "spark.sql.streaming.noDataMicroBatches.enabled=true"],
            "enabled=true is not possible here: a batch without input looks like one whose answers were lost",
        ),
        (["--resume"], "run: no such folder; make a run with `causeway linear-road run`"),
    ],
)
def test_settings_that_are_not_possible(
    causeway: Causeway, workload: Workload, tmp_path: Path, options: list[str], message: str
) -> None:
    ended = causeway(workload.folder, "--out", tmp_path / "run", *options)
    assert ended.code == 2
    assert message in ended.message
    assert not (tmp_path / "run").exists()


def test_no_workload(causeway: Causeway, tmp_path: Path) -> None:
    assert causeway(tmp_path / "nowhere", "--out", tmp_path / "run").code == 2
    assert not (tmp_path / "run").exists()


def test_a_used_folder(causeway: Causeway, workload: Workload, tmp_path: Path) -> None:
    make_run(tmp_path / "run", workload.folder)
    ended = causeway(workload.folder, "--out", tmp_path / "run")
    assert ended.code == 2
    assert "is not empty" in ended.message
    (tmp_path / "file").touch()
    assert "is a file; give a folder" in causeway(workload.folder, "--out", tmp_path / "file").message


@pytest.mark.parametrize(("kind", "table"), [(3, "toll_history"), (4, "segment_history")])
def test_requests_without_history(causeway: Causeway, tmp_path: Path, kind: int, table: str) -> None:
    made = write_workload(tmp_path / "workload", [report(0)])
    replace(made, counts={"reports": 1, f"type_{kind}": 1}).save()
    ended = causeway(made.folder, "--out", tmp_path / "run")
    assert ended.code == 2
    assert f"has no {table} to answer requests from" in ended.message
    assert "causeway linear-road history" in ended.message
    assert not (tmp_path / "run").exists()


def test_a_finished_run_is_not_resumed(causeway: Causeway, workload: Workload, tmp_path: Path) -> None:
    make_run(tmp_path / "run", workload.folder, state="finished")
    ended = causeway(workload.folder, "--out", tmp_path / "run", "--resume")
    assert (ended.code, "is finished; there is nothing to resume" in ended.message) == (2, True)


def test_a_run_of_another_workload_is_not_resumed(
    causeway: Causeway, workload: Workload, tmp_path: Path
) -> None:
    make_run(tmp_path / "run", Path("/some/other"))
    ended = causeway(workload.folder, "--out", tmp_path / "run", "--resume")
    assert (ended.code, "is a run of /some/other, not of" in ended.message) == (2, True)


@pytest.mark.parametrize("text", ["[nonsense", "[]", "{}", '{"workload": 1}'])
def test_a_run_json_that_is_none(causeway: Causeway, workload: Workload, tmp_path: Path, text: str) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text(text)
    ended = causeway(workload.folder, "--out", tmp_path / "run", "--resume")
    assert ended.code == 2
    assert "run.json" in ended.message or "is a run of 1" in ended.message


def test_a_run_can_be_resumed_before_spark_has_started(workload: Workload, tmp_path: Path) -> None:
    settings = RunSettings(speed=3.0, from_minute=1)
    with begun_run(workload, tmp_path / "run", RequestedSettings(3.0, 1)) as attempt:
        assert attempt.settings == settings
    facts = RunFolder(tmp_path / "run").facts()
    assert (facts["state"], facts["attempts"]) == ("new", 0)
    with begun_run(workload, tmp_path / "run", RequestedSettings(), resume=True) as attempt:
        assert attempt.settings == settings


@pytest.mark.parametrize("state", ["new", "running", "stopped", "failed"])
def test_what_came_to_no_end_can_be_resumed(workload: Workload, tmp_path: Path, state: str) -> None:
    make_run(tmp_path / "run", workload.folder, state=state)
    requested = RequestedSettings(2.0, 1, "vldb2004")
    with begun_run(workload, tmp_path / "run", requested, resume=True) as attempt:
        assert attempt.settings == RunSettings(2.0, 1, "vldb2004")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--speed", "1"], "was begun with speed 2.0; it cannot be resumed with 1.0"),
        (["--speed", "max"], "was begun with speed 2.0; it cannot be resumed with 'max'"),
        (["--from-minute", "0"], "was begun with from minute 1; it cannot be resumed with 0"),
        (["--engine", "tables"], "was begun with engine 'columnar'; it cannot be resumed with 'tables'"),
    ],
)
def test_a_resumed_run_keeps_its_settings(
    causeway: Causeway, workload: Workload, tmp_path: Path, options: list[str], message: str
) -> None:
    make_run(tmp_path / "run", workload.folder)
    ended = causeway(workload.folder, "--out", tmp_path / "run", "--resume", *options)
    assert ended.code == 2
    assert message in ended.message


def test_the_choice_of_rules_has_all_there_are() -> None:
    from causeway.cli.linear_road.run import RulesOption

    assert {option.value for option in RulesOption} == set(RULES)


@pytest.mark.parametrize("resume", [False, True])
def test_a_run_that_another_process_works_on(
    causeway: Causeway, workload: Workload, tmp_path: Path, resume: bool
) -> None:
    out = tmp_path / "run"
    with begun_run(workload, out, RequestedSettings()) as attempt:
        before = attempt.folder.facts()
        ended = causeway(workload.folder, "--out", out, *(["--resume"] if resume else []))
        assert ended.code == 2
        if resume:
            assert f"is in use by process {os.getpid()} (causeway linear-road run)" in ended.message
        assert attempt.folder.facts() == before
        assert not attempt.driver.ended


def test_the_driver_is_at_work_before_spark_starts(
    causeway: Causeway, monkeypatch: pytest.MonkeyPatch, workload: Workload, tmp_path: Path
) -> None:
    """It is ready, and does not start real time on its own; it ends when Spark does not start."""
    drivers = []

    @contextlib.contextmanager
    def broken_session(*_: object, **__: object) -> Iterator[None]:
        (driver,) = drivers
        while not driver.ready:
            assert not driver.ended, driver.failure()
        raise UserError("Spark did not start")
        yield

    class NotedDriver(running.DriveProcess):
        def __init__(self, *arguments: object, **options: object) -> None:
            super().__init__(*arguments, **options)  # type: ignore[arg-type]
            drivers.append(self)

    monkeypatch.setattr(running, "DriveProcess", NotedDriver)
    monkeypatch.setattr(session, "spark_session", broken_session)
    ended = causeway(workload.folder, "--out", tmp_path / "run")
    assert (ended.code, ended.message) == (2, "error: Spark did not start")
    assert drivers[0].ended
    assert not spool_files(tmp_path / "run" / "spool")
    assert RunFolder(tmp_path / "run").facts()["state"] == "new"


def test_a_driver_that_fails_fails_the_run_which_can_be_resumed(
    causeway: Causeway,
    monkeypatch: pytest.MonkeyPatch,
    workload: Workload,
    tmp_path: Path,
    spark: SparkSession,
) -> None:
    monkeypatch.setattr(session, "spark_session", lambda *_, **__: contextlib.nullcontext(spark))
    out = tmp_path / "run"
    whole = workload.parts[0].read_bytes()
    workload.parts[0].write_bytes(whole[:-100])
    before = dict(spark.conf.getAll)
    ended = causeway(workload.folder, "--out", out, "--speed", "max")
    assert ended.code == 2
    assert ended.message.startswith("error: the data driver ended with exit code 1: ")
    # Lines break anywhere in a path.
    message = ended.message.replace(" ", "")
    assert "part-00000.parquetcannotberead" in message
    assert f"(itslogis{out}/driver-log.txt)" in message
    assert "Traceback" in (out / "driver-log.txt").read_text()
    assert "attempt 1 failed" in (out / "log.txt").read_text()
    assert RunFolder(out).facts()["state"] == "failed"
    assert not spark.streams.active
    assert dict(spark.conf.getAll) == before

    workload.parts[0].write_bytes(whole)
    result = linear_road.run(workload, out, resume=True, spark=spark)
    assert (result.facts["state"], result.facts["attempts"], result.tuples) == ("finished", 2, 24)
    assert len(result.answers_file.read_text().splitlines()) == 24
    assert dict(spark.conf.getAll) == before
    log = result.log.read_text()
    assert "attempt 2 begins" in log and "attempt 2 is finished" in log
    with pytest.raises(UserError, match="is finished"):
        linear_road.run(workload, out, resume=True, spark=spark)
    saved = json.loads((out / "run.json").read_text())
    assert saved.pop("layout") == 1
    assert saved == result.facts
    assert [sorted(start) for start in saved["starts"]] == [
        ["history", "spark"],
        ["first_batch", "history", "spark"],
    ]


def test_a_query_that_fails_fails_the_run_and_names_the_log(
    monkeypatch: pytest.MonkeyPatch, workload: Workload, tmp_path: Path, spark: SparkSession
) -> None:
    def lose_a_shard(self: answer_sink.AnswerSink, present: list[int], number: int) -> None:
        check(self, present[1:], number)

    check = answer_sink.AnswerSink._check_shards
    monkeypatch.setattr(answer_sink.AnswerSink, "_check_shards", lose_a_shard)
    out = tmp_path / "run"
    with pytest.raises(QueryFailedError, match=r"each once; it has .*\(the log is .*/log\.txt\)"):
        linear_road.run(workload, out, speed="max", spark=spark)
    assert "MissingShardError" in (out / "log.txt").read_text()
    assert RunFolder(out).facts()["state"] == "failed"


def test_a_users_partitions_and_settings_stand(
    workload: Workload, tmp_path: Path, spark: SparkSession
) -> None:
    before = spark.conf.get("spark.sql.shuffle.partitions")
    key = "spark.sql.streaming.noDataMicroBatches.enabled"
    try:
        spark.conf.set("spark.sql.shuffle.partitions", "3")
        result = linear_road.run(workload, tmp_path / "run", speed="max", spark=spark)
        assert (result.facts["partitions"], result.facts["shards"]) == (3, 2)
        assert result.tuples == 24
        assert spark.conf.get("spark.sql.shuffle.partitions") == "3"

        own = spark.conf.get(key)
        spark.conf.set(key, "TRUE")
        try:
            with pytest.raises(UserError, match=f"{key}=TRUE is not possible here: .*answers were lost"):
                linear_road.run(workload, tmp_path / "refused", speed="max", spark=spark)
        finally:
            spark.conf.set(key, str(own))

        # The number of partitions belongs to the run.
        spark.conf.set("spark.sql.shuffle.partitions", "2")
        with pytest.raises(UserError, match=r"partitions=2 is not possible here.*or set 3"):
            facts = RunFolder(tmp_path / "refused").facts() | {"partitions": 3}
            RunFolder(tmp_path / "refused").save(facts)
            linear_road.run(workload, tmp_path / "refused", resume=True, spark=spark)
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", str(before))


def test_an_own_spark_gives_way_to_the_driver(
    monkeypatch: pytest.MonkeyPatch, workload: Workload, tmp_path: Path
) -> None:
    """But not a session of the caller's, whose priority could not be raised again."""

    class AnsweredError(Exception):
        pass

    def answer(_attempt: object, spark: object) -> None:
        raise AnsweredError(spark)

    gave_way: list[object] = []
    monkeypatch.setattr(precedence, "give_way", gave_way.append)
    monkeypatch.setattr(running.Attempt, "answer", answer)
    monkeypatch.setattr(session, "spark_session", lambda *_, **__: contextlib.nullcontext("own"))
    with pytest.raises(AnsweredError, match="own"):
        linear_road.run(workload, tmp_path / "own")
    assert gave_way == ["own"]
    with pytest.raises(AnsweredError, match="theirs"):
        linear_road.run(workload, tmp_path / "theirs", spark="theirs")  # type: ignore[arg-type]
    assert gave_way == ["own"]
