from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.quick_spark import QUICK_JAVA

from causeway import __version__
from causeway.cli import main as cli
from causeway.cli import options
from causeway.nexmark.events.dataset import write_dataset
from causeway.nexmark.generator.firehose import Firehose
from causeway.runtime.errors import CheckFailedError
from causeway.spark import session

_COMMANDS = ["generate", "import", "inspect", "history", "prepare", "drive", "run", "validate", "rate"]
_LINE = "0,{time},{vehicle},30,0,1,0,5,26400,-1,-1,-1,-1,-1,-1\n"


class Ended(NamedTuple):
    code: int
    out: str
    err: str
    """In one line, since the terminal's width is not the matter here."""


Causeway = Callable[..., Ended]


@pytest.fixture
def causeway(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Causeway:
    """Runs a command line in this process; Spark does not start, its commands get none."""

    def run(*arguments: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["causeway", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = capsys.readouterr()
        return Ended(int(ended.value.code or 0), printed.out, " ".join(printed.err.split()))

    for module in (options, session):
        monkeypatch.setattr(module, "spark_session", lambda *_, **__: contextlib.nullcontext())
    return run


@pytest.fixture
def workload(causeway: Causeway, tmp_path: Path) -> Path:
    lines = tmp_path / "cars.dat"
    lines.write_text("".join(_LINE.format(time=time, vehicle=time) for time in range(0, 90, 10)))
    folder = tmp_path / "workload"
    assert causeway("linear-road", "import", lines, "--out", folder).code == 0
    return folder


def command_line(*arguments: object) -> list[str]:
    return [sys.executable, "-c", "from causeway.cli.main import main; main()", *map(str, arguments)]


def in_a_process(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command_line(*arguments), capture_output=True, text=True, timeout=600, check=False)


def test_version(causeway: Causeway) -> None:
    assert causeway("--version") == (0, f"causeway {__version__}\n", "")


@pytest.mark.parametrize("path", [[], ["linear-road"], *(["linear-road", command] for command in _COMMANDS)])
def test_help_fits_a_terminal(causeway: Causeway, path: list[str]) -> None:
    code, out, err = causeway(*path, "--help")
    assert (code, err) == (0, "")
    assert out.startswith(f"Usage: {' '.join(['causeway', *path])}")
    assert all(len(line) <= 80 for line in out.splitlines())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nonsense"], "No such command 'nonsense'"),
        (["linear-road", "nonsense"], "No such command 'nonsense'"),
        (["linear-road", "generate"], "Missing option '--out'"),
        (["linear-road", "import", "--out", "x"], "Missing argument 'FILE"),
        (["linear-road", "drive", "x"], "Missing option '--to'"),
        (["linear-road", "generate", "--out", "x", "--nonsense"], "No such option: --nonsense"),
        (["linear-road", "generate", "--out", "x", "--format", "nonsense"], "'--format'"),
        (["linear-road", "history", "x", "--format", "nonsense"], "'--format'"),
        (["linear-road", "generate", "--out", "x", "--xways", "many"], "'--xways'"),
        (["linear-road", "generate", "--out", "x", "--xways", "0.7"], "--xways"),
        (["linear-road", "generate", "--out", "x", "--xways", "-1"], "--xways"),
        (["linear-road", "generate", "--out", "x", "--xways", "nan"], "--xways"),
        (["linear-road", "generate", "--out", "x", "--xways", "inf"], "--xways"),
        (["linear-road", "generate", "--out", "x", "--minutes", "0"], "--minutes"),
        (["linear-road", "generate", "--out", "x", "--minutes", "-5"], "--minutes"),
        (["linear-road", "generate", "--out", "x", "--seed", "-1"], "--seed"),
        (["linear-road", "generate", "--out", "x", "--conf", "nonsense"], "--conf"),
        (["linear-road", "import", "nowhere.dat", "--out", "x"], "nowhere.dat"),
        (["linear-road", "import", "nowhere.dat", "--out", "x", "--slack", "-1"], "--slack"),
        (["linear-road", "inspect", "nowhere"], "nowhere: no such folder"),
        (["linear-road", "history", "nowhere"], "nowhere: no such folder"),
        (["linear-road", "history", "nowhere", "--seed", "-1"], "--seed"),
        (["linear-road", "drive", "nowhere", "--to", "x"], "nowhere: no such folder"),
        (["linear-road", "drive", "nowhere", "--to", "x", "--from-minute", "-1"], "--from-minute"),
    ],
)
def test_the_users_mistakes(
    causeway: Causeway, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = causeway(*arguments)
    assert ended.code == 2
    assert message in ended.err
    assert "Traceback" not in ended.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [["inspect"], ["history"], ["drive", "--to", "spool"]])
def test_a_folder_that_is_no_workload(causeway: Causeway, tmp_path: Path, command: list[str]) -> None:
    ended = causeway("linear-road", command[0], tmp_path, *command[1:])
    assert ended.code == 2
    assert "is not a workload" in ended.err
    (tmp_path / "workload.json").write_text("[nonsense")
    ended = causeway("linear-road", command[0], tmp_path, *command[1:])
    assert ended.code == 2
    assert "workload.json cannot be read" in ended.err


def test_a_folder_with_something_in_it_is_left_alone(causeway: Causeway, tmp_path: Path) -> None:
    dat = tmp_path / "cars.dat"
    dat.write_text(_LINE.format(time=0, vehicle=0))
    for arguments in (["generate"], ["import", dat]):
        ended = causeway("linear-road", *arguments, "--out", tmp_path)
        assert ended.code == 2
        assert "is not empty (it has cars.dat)" in ended.err
    assert list(tmp_path.iterdir()) == [dat]


def test_out_may_not_be_a_file(causeway: Causeway, tmp_path: Path) -> None:
    dat = tmp_path / "cars.dat"
    dat.write_text(_LINE.format(time=0, vehicle=0))
    for arguments in (["generate"], ["import", dat]):
        ended = causeway("linear-road", *arguments, "--out", dat)
        assert ended.code == 2
        assert "is a file; give a folder" in ended.err


@pytest.mark.parametrize("content", [b"", b"\x1f\x8bnot really gzip", b"\xff\xfe\x00nonsense\n"])
def test_an_unreadable_file_is_told(causeway: Causeway, tmp_path: Path, content: bytes) -> None:
    dat = tmp_path / "cars.dat.gz"
    dat.write_bytes(content)
    ended = causeway("linear-road", "import", dat, "--out", tmp_path / "workload")
    assert ended.code == 2
    assert "cars.dat.gz" in ended.err
    assert not (tmp_path / "workload").exists()


def test_malformed_lines_are_told(causeway: Causeway, tmp_path: Path) -> None:
    dat = tmp_path / "cars.dat"
    dat.write_text(_LINE.format(time=0, vehicle=0) + "nonsense\n")
    ended = causeway("linear-road", "import", dat, "--out", tmp_path / "workload")
    assert ended.code == 0
    assert ended.err.startswith("1 line rejected: see ")
    ended = causeway("linear-road", "import", dat, "--out", tmp_path / "strict", "--strict")
    assert ended.code == 2
    assert "cars.dat:2" in ended.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--speed", "0"], "speed"),
        (["--speed", "-2"], "speed"),
        (["--speed", "nan"], "speed"),
        (["--from-minute", "2"], "minute 2"),
    ],
)
def test_a_drive_that_is_not_possible(
    causeway: Causeway, workload: Path, tmp_path: Path, options: list[str], message: str
) -> None:
    ended = causeway("linear-road", "drive", workload, "--to", tmp_path / "spool", *options)
    assert ended.code == 2
    assert message in ended.err
    assert not (tmp_path / "spool").exists()


def test_a_failed_check_is_exit_code_1(
    causeway: Causeway, monkeypatch: pytest.MonkeyPatch, workload: Path
) -> None:
    def late(*_: object, **__: object) -> None:
        raise CheckFailedError("a tuple was 500 ms late")

    monkeypatch.setattr("causeway.linear_road.driver.deliver.drive", late)
    ended = causeway("linear-road", "drive", workload, "--to", "spool")
    assert (ended.code, ended.err) == (1, "no: a tuple was 500 ms late")


@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_a_bug_is_told_in_short_and_with_debug_in_full(
    causeway: Causeway, monkeypatch: pytest.MonkeyPatch, workload: Path, place: int
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a bug [not markup]")

    monkeypatch.setattr("causeway.linear_road.driver.deliver.drive", broken)
    arguments = ["linear-road", "drive", str(workload), "--to", "spool"]
    ended = causeway(*arguments)
    assert ended.code == 70
    assert ended.err.startswith("failed: ZeroDivisionError: a bug [not markup] This should not happen")
    assert "Traceback" not in ended.err
    ended = causeway(*arguments[:place], "--debug", *arguments[place:])
    assert ended.code == 70
    assert "Traceback (most recent call last)" in ended.err


def test_ctrl_c_outside_spark(causeway: Causeway, monkeypatch: pytest.MonkeyPatch, workload: Path) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("causeway.linear_road.driver.deliver.drive", interrupted)
    ended = causeway("linear-road", "drive", workload, "--to", "spool")
    assert (ended.code, ended.err) == (130, "interrupted")


def test_drive_is_light(workload: Path, tmp_path: Path) -> None:
    """The driver runs beside Spark on few cores: it must load nothing of Spark, nor a compiler."""
    program = (
        "import sys\nsys.argv += ['--from-minute', '1', '--speed', '100']\n"
        "from causeway.cli.main import main\n"
        "try: main()\n"
        "finally: print(sorted({'pyspark', 'py4j', 'numba'} & set(sys.modules)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, "linear-road", "drive", workload, "--to", tmp_path / "spool"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    # A busy machine may be late.
    assert ran.stderr == "" or "ms late; 100 ms were promised" in ran.stderr
    assert ran.stdout.splitlines()[-1] == "[]"
    assert json.loads((tmp_path / "spool" / "_delivery.json").read_text())["state"] == "finished"


@pytest.mark.starts_spark
def test_debug_shows_sparks_warnings_and_the_traceback(tmp_path: Path) -> None:
    ran = in_a_process(
        *("linear-road", "generate", "--out", tmp_path / "workload", "--minutes", 1, "--debug"),
        *("--conf", "spark.sql.shuffle.partitions=nonsense", "--conf", "spark.driver.memory=1g"),
        *("--conf", f"spark.driver.extraJavaOptions={QUICK_JAVA}"),
    )
    assert ran.returncode == 2
    assert "WARN NativeCodeLoader" in ran.stderr
    assert "Traceback" in ran.stderr
    message = " ".join(ran.stderr.rpartition("error: ")[2].split())
    assert "spark.sql.shuffle.partitions=nonsense" in message
    assert "The value 'nonsense' in the config" in message
    assert not (tmp_path / "workload").exists()


@pytest.fixture(scope="module")
def made_events(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "events"
    write_dataset(Firehose("paper", events=2_000, rate=0.2), folder, slice_events=1_000)
    return folder


@pytest.fixture
def events(made_events: Path, tmp_path: Path) -> Path:
    """A copy, which a test may spoil."""
    return shutil.copytree(made_events, tmp_path / "events")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--query", "q99"], "there is no query 'q99' in the modern model: q0, q1,"),
        (["run", "--query", "five"], "there is no query 'five'"),
        (["run", "--query", "Q9", "--model", "paper"], "there is no query 'Q9' in the paper model: q1,"),
        (["run", "--source", "nowhere"], "nowhere is no folder"),
        (["run", "--source", "."], "has no events: expected nexmark.json"),
        (["run", "--source", "events", "--model", "modern"], "has events of the paper model, not the modern"),
        (
            ["run", "--duration", "10", "--warm-up", "10"],
            "leaves nothing of 10 s to measure",
        ),
        (["run", "--bid-streams", "3"], "several bid streams are for the paper model"),
        (["run", "--resume"], "make a run with `causeway nexmark run`"),
        (["run", "--rules", "mine"], "'mine' is not one of 'ours', 'beam', 'flink'"),
        (["run", "--rate", "0"], "--rate"),
        (["generate", "--bid-streams", "3"], "several bid streams are for the paper model"),
        (["generate", "--rate", "-1"], "the rate is a number of events per second"),
        (["generate", "--events", "0"], "--events"),
        (["generate", "--format", "csv"], "'csv' is not one of 'parquet', 'json', 'xml'"),
    ],
)
def test_nexmark_tells_the_users_mistakes(
    causeway: Causeway,
    events: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = causeway("nexmark", *arguments, "--out", "new")
    assert ended.code == 2
    assert message in ended.err
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("command", [["generate"], ["run"], ["run", "--source", "events"]])
def test_nexmark_takes_no_folder_that_is_used(
    causeway: Causeway, events: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.chdir(events.parent)
    before = sorted(events.iterdir())
    ended = causeway("nexmark", *command, "--out", "events")
    assert (ended.code, sorted(events.iterdir())) == (2, before)
    assert "events is not empty" in ended.err
