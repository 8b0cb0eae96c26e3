from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import floor, log2
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from causeway import __version__
from causeway.cli import main as cli
from causeway.linear_road.model.answers import ANSWER_NAMES, DEADLINES
from causeway.linear_road.rating import command_process
from causeway.linear_road.rating.command_process import Ended, run_command
from causeway.linear_road.rating.rate import Protocol, Rating, largest_passing, rate
from causeway.linear_road.report.rating import print_rating, rating_words
from causeway.linear_road.workload.workload import Workload
from causeway.runtime.errors import UserError

HALVES = st.integers(0, 600).map(lambda halves: halves / 2)


def asked_and_found(passes: Callable[[float], bool], largest: float | None) -> tuple[list[float], float]:
    asked: list[float] = []

    def ask(xways: float) -> bool:
        asked.append(xways)
        return passes(xways)

    return asked, largest_passing(ask, largest)


@pytest.mark.parametrize(
    ("threshold", "largest", "asked", "found"),
    [
        (0.2, None, [0.5], 0),
        (0.5, None, [0.5, 1], 0.5),
        (1.5, None, [0.5, 1, 2, 1.5], 1.5),
        (2.5, None, [0.5, 1, 2, 4, 3, 2.5], 2.5),
        (3.5, None, [0.5, 1, 2, 4, 3], 3),
        (13, None, [0.5, 1, 2, 4, 8, 16, 12, 14, 13], 13),
        (100, None, [0.5, 1, 2, 4, 8, 16, 32, 64, 128, 96, 112, 104, 100], 100),
        (99, 3.5, [0.5, 1, 2, 3], 3),
        (99, 25, [0.5, 1, 2, 4, 8, 16, 25], 25),
        (20, 25, [0.5, 1, 2, 4, 8, 16, 25, 20, 22, 21], 20),
        (99, 0.5, [0.5], 0.5),
    ],
)
def test_the_search(threshold: float, largest: float | None, asked: list[float], found: float) -> None:
    assert asked_and_found(lambda xways: xways <= threshold, largest) == (asked, found)


@given(threshold=HALVES, largest=st.none() | HALVES.filter(bool))
def test_the_search_finds_the_threshold(threshold: float, largest: float | None) -> None:
    asked, found = asked_and_found(lambda xways: xways <= threshold, largest)
    assert len(asked) == len(set(asked))
    assert all(xways <= (largest or xways) for xways in asked)
    assert all(xways == floor(2 * xways) / 2 if xways < 3 else xways == floor(xways) for xways in asked)
    assert len(asked) <= 2 * log2(max(threshold, 1)) + 5
    true = min(threshold, largest or threshold)
    true = true if true < 3 else floor(true)
    assert found <= true
    assert true - found < max(0.5, 0.05 * true)
    if true <= 20:
        assert found == true


@given(fails=st.sets(HALVES, max_size=300), largest=HALVES.filter(lambda xways: xways >= 0.5))
def test_the_search_never_claims_what_was_not_tried(fails: set[float], largest: float) -> None:
    asked, found = asked_and_found(lambda xways: xways not in fails, largest)
    assert len(asked) == len(set(asked))
    assert found == 0 or (found in asked and found not in fails)


class FakeCauseway:
    """Stands for the commands: leaves the files that they would, and notes what was called for."""

    def __init__(self, *, right_up_to: float = 99, in_time_up_to: float = 99, punctual_up_to: float = 99):
        self.calls: list[Sequence[str]] = []
        self.crashes: dict[tuple[str, float], Ended] = {}
        self._limits = right_up_to, in_time_up_to, punctual_up_to

    @property
    def steps(self) -> list[str]:
        return [arguments[1] for arguments in self.calls]

    def __call__(self, arguments: Sequence[str]) -> Ended:
        self.calls.append(arguments)
        assert arguments[0] == "linear-road"
        name, rest = arguments[1], list(arguments[2:])
        options = {key: value for key, value in pairwise(rest) if key.startswith("--")}
        folder = Path(options["--out"] if name == "generate" else rest[0])
        xways = float(folder.name.split("-")[1])
        crash = self.crashes.get((name, xways))
        if crash is not None and name != "run":
            return crash
        if name == "generate":
            self._generate(folder, options)
        elif name == "history":
            (folder / "history").mkdir()
            (folder / "history" / "history.json").write_text(json.dumps({"seed": int(options["--seed"])}))
        elif name == "run":
            self._run(Workload.load(folder), Path(options["--out"]), options, broken=crash is not None)
        elif name == "validate":
            passed = self._validate(xways, Path(rest[1]), options)
            return Ended(0 if passed else 1, "")
        return crash or Ended(0, "")

    def _generate(self, folder: Path, options: dict[str, str]) -> None:
        (folder / "stream").mkdir(parents=True)
        (folder / "stream" / "part-00000.parquet").touch()
        minutes, seed = int(options["--minutes"]), int(options["--seed"])
        Workload(folder, "generated", "parquet", float(options["--xways"]), minutes, seed).save()

    def _run(self, workload: Workload, run: Path, options: dict[str, str], broken: bool) -> None:
        assert not run.exists()
        run.mkdir(parents=True)
        punctual = workload.expressways <= self._limits[2]
        facts = {
            "layout": 1,
            "state": "running" if broken else "finished",
            "expressways": workload.expressways,
            "minutes": workload.minutes,
            "seed": workload.seed,
            "rules": options["--rules"],
            "speed": float(options["--speed"]),
            "from_minute": int(options["--from-minute"]),
            "master": options["--master"],
            "versions": {"causeway": __version__, "pyspark": "4.3.0"},
            "seconds": 1.5,
            "counts": {} if broken else {"tuples": 7},
            "delivery": {"kept_promise": punctual, "worst_lateness_ms": 4.0 if punctual else 350.0},
        }
        (run / "run.json").write_text(json.dumps(facts))

    def _validate(self, xways: float, run: Path, options: dict[str, str]) -> bool:
        wrong, late = int(xways > self._limits[0]), 1200 * int(xways > self._limits[1])
        sample = options.get("--sample")
        types = [
            {
                "type": number,
                "name": name,
                "deadline": DEADLINES[number],
                **dict.fromkeys(("missing", "extra", "doubled", "early"), 0),
                "wrong": wrong if number == 2 else 0,
                "late": late if number == 0 else 0,
                "response": None if number == 4 else {"worst": 7.5 if late else 1.25},
            }
            for number, name in ANSWER_NAMES.items()
        ]
        facts = {
            "passed": not (wrong or late),
            "types": types,
            "malformed": 0,
            "xways": None if sample is None else list(range(int(sample))),
        }
        (run / "validation.json").write_text(json.dumps(facts))
        return not (wrong or late)


def rated(out: Path, causeway: FakeCauseway, protocol: Protocol | None = None, **how: Any) -> Rating:
    return rate(out, protocol or Protocol(), command=causeway, **how)


def test_a_rating_and_what_it_leaves(tmp_path: Path) -> None:
    causeway = FakeCauseway(in_time_up_to=2.5)
    told: list[str] = []
    protocol = Protocol(minutes=30, from_minute=20, speed=2, seed=7, settings={"spark.driver.memory": "1g"})
    rating = rated(tmp_path, causeway, protocol, report_line=told.append)
    assert rating.xways == 2.5
    facts = json.loads((tmp_path / "rating.json").read_text())
    assert (facts["finished"], facts["rating"], facts["limited_by_max_xways"]) == (True, 2.5, False)
    assert facts["protocol"] == {
        "minutes": 30,
        "from_minute": 20,
        "speed": 2,
        "seed": 7,
        "sample": None,
        "master": "local[*]",
        "settings": {"spark.driver.memory": "1g"},
        "rules": "vldb2004",
        "is_the_papers": False,
    }
    assert facts["machine"]["cores"] >= 1 and facts["machine"]["memory_gib"] > 0
    assert facts["versions"] == {"causeway": __version__, "pyspark": "4.3.0"}
    assert [trial["xways"] for trial in facts["trials"]] == [0.5, 1, 2, 4, 3, 2.5]
    assert facts["trials"][3] == {
        "xways": 4,
        "passed": False,
        "why_not": "toll notification: 1,200 late, up to 7.5 s where 5 s are allowed",
        "worst_response": {name: None if name == "travel time" else 7.5 for name in ANSWER_NAMES.values()},
        "judged": None,
        "delivered_on_time": True,
        "worst_lateness_ms": 4.0,
        "seconds": 1.5,
        "run": "runs/L-4",
        "kept": False,
    }
    assert facts["trials"][-1]["why_not"] is None
    assert told[:2] == ["L = 0.5 …", "L = 0.5: passed, every answer within 1.25 s"]
    assert told[7] == f"L = 4: no: {facts['trials'][3]['why_not']}"


def test_each_step_is_what_a_user_would_type(tmp_path: Path) -> None:
    causeway = FakeCauseway()
    protocol = Protocol(30, 20, 2.0, 7, 2, "local[2]", {"spark.driver.memory": "1g"})
    rated(tmp_path, causeway, protocol, max_xways=0.5)
    workload = f"{tmp_path}/workloads/L-0.5-minutes-30-seed-7"
    run = f"{tmp_path}/runs/L-0.5"
    spark = "--master local[2] --conf spark.driver.memory=1g"
    assert [" ".join(arguments) for arguments in causeway.calls] == [
        f"linear-road generate --out {workload} --xways 0.5 --minutes 30 --seed 7 {spark}",
        f"linear-road history {workload} --seed 7 {spark}",
        f"linear-road run {workload} --out {run} --speed 2.0 --from-minute 20 --rules vldb2004 {spark}",
        f"linear-road validate {workload} {run} {spark}",
    ]


def test_a_sample_is_for_more_expressways_than_that(tmp_path: Path) -> None:
    causeway = FakeCauseway()
    rating = rated(tmp_path, causeway, Protocol(sample=2), max_xways=4)
    assert [trial.judged for trial in rating.trials] == [None, None, None, (0, 1)]
    assert "from L = 4 on only the vehicles of 2 expressways judged" in " ".join(shown(rating).split())


def test_the_rating_may_be_0(tmp_path: Path) -> None:
    rating = rated(tmp_path, FakeCauseway(right_up_to=0.2))
    assert (rating.xways, len(rating.trials)) == (0, 1)
    assert rating.trials[0].why_not == "account balance: 1 wrong"
    assert rating_words(rating).startswith("L-rating 0: not even L = 0.5")
    assert json.loads((tmp_path / "rating.json").read_text())["rating"] == 0


def test_late_input_makes_a_trial_fail(tmp_path: Path) -> None:
    rating = rated(tmp_path, FakeCauseway(punctual_up_to=1))
    assert rating.xways == 1
    late = rating.trials[2]
    assert (late.passed, late.delivered_on_time) == (False, False)
    assert late.why_not == "the input itself came late, by up to 350 ms (100 ms are promised)"


def test_a_crash_of_the_run_is_a_no_with_its_reason(tmp_path: Path) -> None:
    causeway = FakeCauseway()
    causeway.crashes["run", 2] = Ended(70, "OutOfMemoryError: Java heap space")
    pages: list[str] = []
    rating = rated(tmp_path, causeway, write_page=lambda run: pages.append(run.name))
    assert pages == ["L-2"]
    assert rating.xways == 1.5
    crashed = rating.trials[2]
    assert crashed.why_not == "the run crashed: OutOfMemoryError: Java heap space"
    assert (crashed.delivered_on_time, set(crashed.worst_response.values())) == (None, {None})
    assert "crashed" in shown(rating)


@pytest.mark.parametrize("step", ["generate", "history", "run", "validate"])
def test_a_mistake_is_no_verdict(tmp_path: Path, step: str) -> None:
    causeway = FakeCauseway()
    causeway.crashes[step, 1] = Ended(2, "Spark did not start with --conf nonsense")
    with pytest.raises(UserError, match=r"L = 1: .*Spark did not start with --conf nonsense"):
        rated(tmp_path, causeway)
    facts = json.loads((tmp_path / "rating.json").read_text())
    assert (facts["finished"], facts["rating"], len(facts["trials"])) == (False, 0.5, 1)


@pytest.mark.parametrize("step", ["generate", "history", "validate"])
def test_only_a_crash_of_the_run_is_a_verdict(tmp_path: Path, step: str) -> None:
    causeway = FakeCauseway()
    causeway.crashes[step, 1] = Ended(70, "OSError: no space left on device")
    with pytest.raises(UserError, match=f"`{step}` did not succeed, call again to go on: OSError"):
        rated(tmp_path, causeway)


@pytest.mark.parametrize("step", ["generate", "history", "run", "validate"])
def test_a_rating_that_was_broken_off_goes_on(tmp_path: Path, step: str) -> None:
    causeway = FakeCauseway(in_time_up_to=1)
    causeway.crashes[step, 2] = Ended(130, "interrupted")
    with pytest.raises(KeyboardInterrupt):
        rated(tmp_path, causeway)
    again = FakeCauseway(in_time_up_to=1)
    rating = rated(tmp_path, again)
    whole = ["generate", "history", "run", "validate"]
    assert again.steps == whole[whole.index(step) :] + whole
    assert (rating.xways, [trial.kept for trial in rating.trials]) == (1, [True, True, False, False])
    last = FakeCauseway()
    told: list[str] = []
    assert rated(tmp_path, last, report_line=told.append).xways == 1
    assert last.calls == []
    assert "L = 0.5: passed (as judged before), every answer within 1.25 s" in told
    assert any(
        line.startswith("L = 2: no (as judged before): toll notification: 1,200 late") for line in told
    )


def test_a_crashed_run_is_made_anew(tmp_path: Path) -> None:
    causeway = FakeCauseway()
    causeway.crashes["run", 0.5] = Ended(70, "ConnectionRefusedError: Connection refused")
    rating = rated(tmp_path, causeway)
    assert rating.xways == 0
    assert str(rating.trials[0].why_not).endswith("Connection refused (Java is gone; was memory short?)")
    assert rated(tmp_path, FakeCauseway(), max_xways=0.5).xways == 0.5


def test_ratings_may_share_workloads(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    rated(tmp_path / "one", FakeCauseway(), max_xways=1, workloads=shared)
    causeway = FakeCauseway()
    rated(tmp_path / "two", causeway, Protocol(speed=2), max_xways=1, workloads=shared)
    assert causeway.steps == ["run", "validate"] * 2
    causeway = FakeCauseway()
    rated(tmp_path / "three", causeway, Protocol(seed=2), max_xways=0.5, workloads=shared)
    assert causeway.steps == ["generate", "history", "run", "validate"]


def test_a_workload_that_is_not_what_its_name_says(tmp_path: Path) -> None:
    folder = tmp_path / "workloads" / "L-0.5-minutes-180-seed-1"
    FakeCauseway()._generate(folder, {"--xways": "3", "--minutes": "180", "--seed": "1"})
    with pytest.raises(UserError, match="has L = 3, 180 minutes, seed 1, which is not what its name says"):
        rated(tmp_path, FakeCauseway())


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"minutes": 60}, "minutes 180, not 60"),
        ({"from_minute": 150}, "start minute 0, not 150"),
        ({"speed": 2.0}, "speed 1, not 2"),
        ({"seed": 2}, "seed 1, not 2"),
        ({"sample": 3}, r"sample \(none\), not 3"),
        ({"master": "local[1]"}, r"master local\[\*\], not local\[1\]"),
        ({"settings": {"spark.driver.memory": "8g"}}, r"Spark settings \(none\), not spark.driver.memory=8g"),
    ],
)
def test_another_protocol_is_another_rating(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    rated(tmp_path, FakeCauseway(), max_xways=0.5)
    causeway = FakeCauseway()
    with pytest.raises(UserError, match=f"has a rating with {told}"):
        rated(tmp_path, causeway, dataclasses.replace(Protocol(), **change))
    (tmp_path / "rating.json").unlink()
    if not change.keys() & {"sample", "settings"}:
        with pytest.raises(UserError, match="is a run with"):
            rated(tmp_path, causeway, dataclasses.replace(Protocol(), **change))
    assert causeway.calls == []


def test_another_machine_is_another_rating(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rated(tmp_path, FakeCauseway(), max_xways=0.5)
    machine = {"processor": "Pentium", "cores": 1, "memory_gib": 2.0, "system": "Linux"}
    monkeypatch.setattr("causeway.linear_road.rating.rate.hardware", lambda: machine)
    with pytest.raises(UserError, match="has a rating of another machine or program"):
        rated(tmp_path, FakeCauseway())


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(UserError, match=r"is not empty \(it has thesis.tex\)"):
        rated(tmp_path, FakeCauseway())
    (tmp_path / "rating.json").write_text("[]")
    with pytest.raises(UserError, match=r"rating\.json cannot be read"):
        rated(tmp_path, FakeCauseway())


def shown(rating: Rating) -> str:
    console = Console(width=120, record=True, quiet=False, file=open(os.devnull, "w"))  # noqa: PTH123, SIM115
    print_rating(rating, console)
    return console.export_text()


def rows(text: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.strip("│ ").split("│")] for line in text.splitlines() if "│" in line
    ]


def test_the_papers_tables_with_a_column_of_ours(tmp_path: Path) -> None:
    text = shown(rated(tmp_path, FakeCauseway(in_time_up_to=3)))
    cells = rows(text)
    assert ["0.5", "2.5", "3"] in cells
    for row in (
        ["0.5", "3", "1", "1.25"],
        ["1.0", "2031", "1", "1.25"],
        ["1.5", "16346", "1", "—"],
        ["2.0", "52443", "2", "1.25"],
        ["2.5", "—", "2", "—"],
        ["3.0", "—", "196", "1.25"],
        ["4.0", "—", "—", "7.50"],
    ):
        assert row in cells
    assert ["4", "7.50", "7.50", "7.50", "7.50", "—", "0.004", "no"] in cells
    assert "L = 4 did not pass: toll notification: 1,200 late" in text
    assert "Protocol: all 180 minutes delivered in real time; seed 1; rules vldb2004; all answers" in text
    assert "pyspark 4.3.0" in text
    assert "This is not the paper's protocol" not in text
    assert "L-rating 3: every answer complete, right and in time, over 180 minutes. L = 4 failed." in text


def test_what_was_not_the_papers_protocol_is_said(tmp_path: Path) -> None:
    text = " ".join(shown(rated(tmp_path, FakeCauseway(), Protocol(180, 150, 2.0), max_xways=4)).split())
    assert (
        "minutes 0 to 150 processed at once and without deadline, 150 to 180 delivered at 2 times real"
        in text
    )
    assert "This is not the paper's protocol" in text
    assert "4 or more" in text
    assert (
        "in minutes 150 to 180 at 2 times real time. Nothing failed up to L = 4, the largest that was to be "
        "tried" in text
    )


@pytest.fixture
def causeway(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["causeway", "linear-road", "rate", *map(str, arguments)])
        code = 0
        try:
            cli.main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        printed = capsys.readouterr()
        return code, printed.out, " ".join(printed.err.split())

    monkeypatch.chdir(tmp_path)
    return run


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--max-xways", "0.7"], "--max-xways"),
        (["--max-xways", "0"], "--max-xways"),
        (["--minutes", "0"], "--minutes"),
        (["--speed", "0"], "a speed of 0"),
        (["--speed", "max"], "--speed"),
        (["--speed", "inf"], "a speed of inf"),
        (["--speed", "nan"], "a speed of nan"),
        (
            ["--minutes", "5", "--from-minute", "5"],
            "real time cannot start at minute 5; it starts in one of the minutes 0",
        ),
        (["--from-minute", "-1"], "--from-minute"),
        (["--seed", "-1"], "--seed"),
        (["--sample", "0"], "--sample"),
        (["--master", "nonsense"], "master nonsense"),
        (["--conf", "nonsense"], "--conf"),
    ],
)
def test_the_users_mistakes(
    causeway: Callable[..., tuple[int, str, str]], tmp_path: Path, arguments: list[str], told: str
) -> None:
    code, _, err = causeway(*arguments)
    assert code == 2
    assert told in err and "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_the_command(
    causeway: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake = FakeCauseway()
    monkeypatch.setattr(command_process, "run_command", lambda arguments, debug: fake(arguments))
    monkeypatch.setattr(
        "causeway.linear_road.report.run_page.write_run_page", lambda run: run / "report.html"
    )
    code, out, err = causeway("--max-xways", "1", "--minutes", "30")
    assert code == 0
    assert out.endswith("Rating: rating/rating.json\n")
    assert "Table 7. L-ratings" in out and "Table 8. Max response times" in out
    assert err.startswith("L = 0.5 … L = 0.5: passed")
    assert json.loads((tmp_path / "rating" / "rating.json").read_text())["rating"] == 1
    fake = FakeCauseway(in_time_up_to=0)
    code, out, err = causeway("--out", "none")
    assert code == 1
    assert "Table 7. L-ratings" in out
    assert "no: L-rating 0: not even L = 0.5 was answered right and in time, over 180 minutes." in err


def test_a_command_tells_how_it_ended(tmp_path: Path) -> None:
    assert run_command(["--version"]).code == 0
    ended = run_command(["linear-road", "history", str(tmp_path / "nowhere")])
    assert ended.code == 2
    assert ended.message.startswith(f"{tmp_path}/nowhere: no such folder; make a workload with")


@pytest.mark.parametrize(
    ("code", "text", "told"),
    [
        (
            70,
            "a warning\nfailed: MemoryError: too\n  much\nThis should not happen; see",
            "MemoryError: too much",
        ),
        (2, "\x1b[2K\x1b[1;31merror:\x1b[0m no such\r\nfolder\n", "no such folder"),
        (1, "Traceback\nImportError: cannot\n", "ImportError: cannot"),
        (70, "", "it ended with exit code 70"),
        (-9, "whatever", "it was killed by SIGKILL, as a system that is short of memory does"),
        (-15, "", "it was killed by SIGTERM"),
    ],
)
def test_last_words(code: int, text: str, told: str) -> None:
    assert command_process._last_words(text, code) == told


def test_a_command_ends_with_the_process_that_started_it() -> None:
    """Otherwise it would take the cores of whoever calls again."""
    program = (
        "import os, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', "
        "'from causeway.linear_road.rating import command_process; import causeway.cli.main, time;'"
        "'causeway.cli.main.main = lambda: (print(flush=True), time.sleep(600)); command_process.main()', "
        "str(os.getpid())])\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    try:
        assert parent.stdout.readline() == "\n"
    finally:
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait()
    deadline = time.monotonic() + 300
    while Path(f"/proc/{child}/cmdline").exists() and Path(f"/proc/{child}/cmdline").read_bytes():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.slow
def test_a_real_rating(tmp_path: Path) -> None:
    """Two minutes of half an expressway, ten times as fast: the commands' files are what a trial reads."""
    arguments = ["linear-road", "rate", "--minutes", "2", "--speed", "10", "--max-xways", "0.5"]
    arguments += ["--out", str(tmp_path), "--conf", "spark.driver.memory=1g"]
    program = "from causeway.cli.main import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=1200, check=False
    )
    facts = json.loads((tmp_path / "rating.json").read_text())
    (trial,) = facts["trials"]
    assert facts["finished"]
    # Whether a busy machine is in time is not the matter here, but that its answers are right.
    assert ran.returncode == (0 if trial["passed"] else 1), ran.stderr
    assert trial["passed"] or "late" in trial["why_not"]
    assert not any(
        word in (trial["why_not"] or "") for word in ("missing", "extra", "doubled", "wrong", "crash")
    )
    assert trial["worst_response"]["toll notification"] > 0
    assert {"pyspark", "java"} <= facts["versions"].keys()
    assert (tmp_path / "runs" / "L-0.5" / "report.html").exists()
    assert "Table 8. Max response times for tolls" in ran.stdout
    again = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=120, check=False
    )
    assert again.returncode == ran.returncode
    assert json.loads((tmp_path / "rating.json").read_text())["trials"] == [trial | {"kept": True}]
