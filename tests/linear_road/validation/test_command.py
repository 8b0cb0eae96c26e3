"""`causeway linear-road validate`, from the command line to its files and exit codes."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.linear_road.literal_reading import expected_answers
from tests.linear_road.made_traffic import balance_request, crowd, report, travel_request
from tests.linear_road.validation.made_workload import answer_lines, write_answers, write_workload

from causeway.cli import main as cli
from causeway.cli import options
from causeway.linear_road.workload.workload import Workload
from causeway.runtime import progress
from causeway.spark import session

pytestmark = pytest.mark.slow

TUPLES = [
    *crowd(1, 51),
    report(60),
    report(90, seg=51),
    balance_request(100),
    *(report(60 + n, 900 + n, xway=1) for n in range(9)),
]
LINES = answer_lines(expected_answers(TUPLES, {}, {}))
OTHER = "0,903,63,67.900,-1,0"


class Ended(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def validate(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Ended]:
    """Runs the command in this process, on the tests' own Spark, on a wide terminal."""

    def run(*arguments: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["causeway", "linear-road", "validate", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = capsys.readouterr()
        return Ended(int(ended.value.code or 0), printed.out, " ".join(printed.err.split()))

    monkeypatch.setattr(session, "spark_session", lambda *_, **__: contextlib.nullcontext(spark))
    monkeypatch.setattr(options.output, "width", 200)
    # A slow machine would print lines of progress.
    monkeypatch.setattr(progress, "_LINE_SECONDS", 1e6)
    return run


@pytest.fixture(scope="module")
def workload(tmp_path_factory: pytest.TempPathFactory) -> Workload:
    return write_workload(tmp_path_factory.mktemp("workload"), TUPLES)


def judgement(path: Path) -> dict[str, object]:
    facts: dict[str, object] = json.loads(path.read_text())
    return facts


def test_right_answers_of_another_system(
    validate: Callable[..., Ended], workload: Workload, tmp_path: Path
) -> None:
    ended = validate(workload.folder, write_answers(tmp_path / "theirs.csv", LINES))
    assert (ended.code, ended.err) == (0, "")
    assert "Validation of theirs.csv, all expressways: passed" in ended.out
    for heading in ("expected", "missing", "extra", "doubled", "wrong", "late", "p50", "p95", "p99"):
        assert heading in ended.out
    assert {path.name for path in tmp_path.iterdir()} == {"theirs.csv", "theirs.validation.json"}
    facts = judgement(tmp_path / "theirs.validation.json")
    assert (facts["passed"], facts["speed"], facts["from_minute"]) == (True, 1.0, 0)


def test_a_run_with_failures(validate: Callable[..., Ended], workload: Workload, tmp_path: Path) -> None:
    """In Parquet, which is taken before the flat file; its `Readable` is what makes it late."""
    told = {"Type": 0, "Time": 60, "Emit": 64.9, "VID": 1, "Spd": 30, "Toll": 3, "Readable": 66.0}
    names = ("Seg", "QID", "ResultTime", "Bal", "TravelTime")
    (tmp_path / "answers").mkdir()
    table = pa.Table.from_pylist([told]).append_column("_", pa.array([0]))
    for name in names:
        table = table.append_column(name, pa.nulls(1, pa.int32()))
    pq.write_table(table, tmp_path / "answers" / "part-0.parquet")
    write_answers(tmp_path / "answers.csv", LINES)
    (tmp_path / "run.json").write_text(
        json.dumps({"speed": 1, "from_minute": 1, "rules": "vldb2004", "layout": 1})
    )
    ended = validate(workload.folder, tmp_path, "--only-xways", "0")
    assert ended.code == 1
    assert ended.err.startswith("no: ")
    assert "vehicles of expressway 0: failed" in ended.out
    assert "toll should be 2 (Lav 30, 51 cars), the answer says 3" in ended.out
    assert "the toll notification took 6.000 s; 5 s are allowed" in ended.out
    missing = "vehicle 5000 at second 0 entered segment 50 east of expressway 0: no toll notification"
    assert missing in ended.out
    assert "before second 60 (minute 1) have no deadline" in ended.out
    facts = judgement(tmp_path / "validation.json")
    assert (facts["passed"], facts["xways"], facts["from_minute"]) == (False, [0], 1)
    kinds = {(d["type"], d["kind"]) for d in facts["differences"]}  # type: ignore[attr-defined]
    assert kinds == {(0, "wrong"), (0, "late"), (0, "missing"), (2, "missing")}


def test_malformed_lines_are_told_with_their_numbers(
    validate: Callable[..., Ended], workload: Workload, tmp_path: Path
) -> None:
    answers = write_answers(tmp_path / "theirs.csv", [*LINES[:3], "[bold]nonsense", *LINES[3:], "", "0,1"])
    ended = validate(workload.folder, answers, "--speed", "max")
    assert ended.code == 1
    assert "2 lines" in ended.out
    assert "line 4 is no answer: '[bold]nonsense'" in ended.out
    assert f"line {len(LINES) + 3} is no answer: '0,1'" in ended.out
    assert "Response times were not judged" in ended.out
    facts = judgement(tmp_path / "theirs.validation.json")
    assert (facts["malformed"], facts["speed"]) == (2, None)
    assert all(result["passed"] for result in facts["types"])  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--only-xways", "0"], 0),
        (["--only-xways", "0,1"], 1),
        (["--only-xways", "1"], 1),
        (["--sample", "2"], 1),
    ],
)
def test_only_vehicles_of_some_expressways(
    validate: Callable[..., Ended], workload: Workload, tmp_path: Path, options: list[str], code: int
) -> None:
    assert OTHER in LINES
    answers = write_answers(tmp_path / "theirs.csv", [line for line in LINES if line != OTHER])
    assert validate(workload.folder, answers, *options).code == code


def test_speed_and_minute_of_another_systems_answers(
    validate: Callable[..., Ended], workload: Workload, tmp_path: Path
) -> None:
    """Answers that took 4.9 simulated seconds are late at half speed, but not those of minute 0."""
    answers = write_answers(tmp_path / "theirs.csv", LINES)
    ended = validate(workload.folder, answers, "--speed", "0.5", "--from-minute", "1")
    assert ended.code == 1
    facts = judgement(tmp_path / "theirs.validation.json")
    late = [result["late"] for result in facts["types"]]  # type: ignore[attr-defined]
    assert late == [11, 0, 0, 0, 0]
    assert "the toll notification took 9.800 s; 5 s are allowed" in ended.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nowhere"], "nowhere: no such file or folder"),
        (["."], "give answers.csv itself"),
        (["theirs.csv", "--speed", "0"], "speed of 0;"),
        (["theirs.csv", "--speed", "nan"], "speed of nan"),
        (["theirs.csv", "--speed", "fast"], "'fast' is no number"),
        (["theirs.csv", "--from-minute", "-1"], "--from-minute"),
        (["theirs.csv", "--from-minute", "999"], "real time cannot have begun at minute 999: "),
        (["theirs.csv", "--only-xways", "east"], "'east' is no list"),
        (["theirs.csv", "--only-xways", "0", "--sample", "1"], "not both"),
        (["theirs.csv", "--only-xways", "0,7"], "no reports from expressway 7; it has 0, 1"),
        (["theirs.csv", "--sample", "3"], "has 2 expressways"),
        (["theirs.csv", "--sample", "0"], "--sample"),
    ],
)
def test_the_users_mistakes(
    validate: Callable[..., Ended],
    workload: Workload,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    write_answers(tmp_path / "theirs.csv", [])
    if arguments == ["."]:
        write_answers(tmp_path / "answers.csv", [])
    ended = validate(workload.folder, *arguments)
    assert ended.code == 2
    assert told in ended.err
    assert not list(tmp_path.glob("*.json"))


def test_requests_without_history(validate: Callable[..., Ended], tmp_path: Path) -> None:
    workload = write_workload(tmp_path / "workload", [report(0), travel_request(10, 12)])
    ended = validate(workload.folder, write_answers(tmp_path / "theirs.csv", []))
    assert ended.code == 2
    assert f"make it with `causeway linear-road history {workload.folder}`" in ended.err
