"""A trial of a rating: one L, its workload made, run in real time and judged; passed, or why not.

Each step is a command in a process of its own (see `command_process`), and what it found is in its files.
What is there from an earlier call, complete, is not made again.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import ceil
from pathlib import Path
from typing import Any

from causeway.linear_road.driver.deliver import PROMISED_LATENESS_MS
from causeway.linear_road.model.answers import ANSWER_NAMES
from causeway.linear_road.rating.command_process import Ended
from causeway.linear_road.runner.run_folder import RunFolder
from causeway.linear_road.workload.workload import Workload
from causeway.runtime.errors import UserError
from causeway.runtime.output_folder import is_replaceable, read_json

__all__ = ["Command", "Protocol", "Trial", "hold_trial"]

Command = Callable[[Sequence[str]], Ended]
"""Runs a command of `causeway`, as a user would type it."""

_JAVA_IS_GONE = ("ConnectionRefusedError", "Py4JNetworkError", "ConnectionResetError")
_FAILURES = ("missing", "extra", "doubled", "wrong", "late", "early")


@dataclass(frozen=True)
class Protocol:
    """How every trial of a rating is held. The paper's own has 180 minutes, all in real time."""

    minutes: int = 180
    from_minute: int = 0
    """Where real time starts; what was before is taken at once, and has no deadline."""
    speed: float = 1.0
    seed: int = 1
    """Of the traffic and of its history."""
    sample: int | None = None
    """Expressways whose vehicles are judged, where there are more; all of them if `None`."""
    master: str = "local[*]"
    settings: Mapping[str, str] = field(default_factory=dict)
    """Spark's own."""
    rules: str = "vldb2004"

    def check(self) -> None:
        """Refuse what cannot be run, before anything is made."""
        if not self.speed > 0 or self.speed == float("inf"):
            raise UserError(f"a speed of {self.speed:g}: a rating is about real time; give a number above 0")
        if not 0 <= self.from_minute < self.minutes:
            raise UserError(
                f"real time cannot start at minute {self.from_minute}; it starts in one of the minutes "
                f"0 to {self.minutes - 1}"
            )

    @property
    def is_the_papers(self) -> bool:
        """Whether a rating by it can be held against published ones as it stands."""
        return self.minutes >= 180 and self.from_minute == 0 and self.speed == 1

    def facts(self) -> dict[str, Any]:
        """All of it for JSON."""
        return asdict(self) | {"settings": dict(self.settings)}


@dataclass(frozen=True)
class Trial:
    """What became of one L."""

    xways: float
    passed: bool
    why_not: str | None
    worst_response: dict[str, float | None]
    """Seconds of real time, by the name of the answer; `None` where none had a deadline."""
    judged: tuple[int, ...] | None
    """The expressways whose vehicles were judged; `None` for all."""
    delivered_on_time: bool | None
    """Whether the input came when it was due, so that the run was a fair one; `None` after a crash."""
    worst_lateness_ms: float | None
    """Of the input."""
    seconds: float | None
    """How long the run took, warm-up and all."""
    run: Path
    kept: bool = False
    """Whether it was run by an earlier call."""

    @property
    def crashed(self) -> bool:
        """Whether the run did not come to its end, so that there was nothing to judge."""
        return self.delivered_on_time is None


def hold_trial(xways: float, protocol: Protocol, workloads: Path, run: Path, command: Command) -> Trial:
    """Make the workload of L = `xways` under `workloads`, run it into the folder `run`, and judge it.

    A run that crashes is an answer, no. That a workload cannot be made or judged says nothing about L, and
    is a `UserError`, as are the user's mistakes; what was finished by then is not made again next time.
    """
    spark = ["--master", protocol.master]
    spark += [part for key, value in protocol.settings.items() for part in ("--conf", f"{key}={value}")]

    def step(name: str, *arguments: object) -> Ended:
        ended = command(["linear-road", name, *map(str, arguments), *spark])
        if ended.code == 130:
            raise KeyboardInterrupt
        return ended

    def must(name: str, *arguments: object) -> None:
        ended = step(name, *arguments)
        if ended.code not in ((0, 1) if name == "validate" else (0,)):
            raise UserError(f"L = {xways:g}: `{name}` did not succeed, call again to go on: {ended.message}")

    folder = workloads / f"L-{xways:g}-minutes-{protocol.minutes}-seed-{protocol.seed}"
    if _judgement(run) is not None:
        return _judged_trial(xways, protocol, run, kept=True)
    _make_workload(xways, protocol, folder, must)
    if not _is_finished(run):
        _remove_unfinished_run(run)
        timing = ("--speed", protocol.speed, "--from-minute", protocol.from_minute)
        ended = step("run", folder, "--out", run, *timing, "--rules", protocol.rules)
        if ended.code == 2:
            raise UserError(f"L = {xways:g}: {ended.message}")
        if ended.code != 0:
            return _crashed_trial(xways, run, ended)
    sampled = protocol.sample is not None and protocol.sample < ceil(xways)
    must("validate", folder, run, *(("--sample", protocol.sample) if sampled else ()))
    if _judgement(run) is None:
        raise UserError(f"L = {xways:g}: `validate` left no judgement in {run}")
    return _judged_trial(xways, protocol, run, kept=False)


def _remove_unfinished_run(run: Path) -> None:
    if not is_replaceable(run) and not (run / "run.json").is_file():
        raise UserError(f"{run} is in the way: it is not a run. Move or remove it.")
    shutil.rmtree(run, ignore_errors=True)


def _make_workload(xways: float, protocol: Protocol, folder: Path, must: Callable[..., None]) -> None:
    if not (folder / "workload.json").exists():
        size = ("--xways", f"{xways:g}", "--minutes", protocol.minutes, "--seed", protocol.seed)
        folder.parent.mkdir(parents=True, exist_ok=True)
        must("generate", "--out", folder, *size)
    there = Workload.load(folder)
    if (there.expressways, there.minutes, there.seed) != (xways, protocol.minutes, protocol.seed):
        raise UserError(
            f"{folder} has L = {there.expressways:g}, {there.minutes} minutes, seed {there.seed}, which is "
            "not what its name says; remove it"
        )
    history = read_json(there.history / "history.json")
    if history is None or history.get("seed") != protocol.seed:
        must("history", folder, "--seed", protocol.seed)


def _is_finished(run: Path) -> bool:
    facts = read_json(run / "run.json")
    return facts is not None and facts.get("state") == "finished"


def _judgement(run: Path) -> dict[str, Any] | None:
    return read_json(run / "validation.json") if _is_finished(run) else None


def _judged_trial(xways: float, protocol: Protocol, run: Path, *, kept: bool) -> Trial:
    facts, judged = RunFolder(run).facts(), _judgement(run) or {}
    requested = protocol.facts() | {"expressways": xways}
    for name in ("expressways", "minutes", "seed", "speed", "from_minute", "rules", "master"):
        if facts.get(name) != requested[name]:
            raise UserError(
                f"{run} is a run with {name.replace('_', ' ')} {facts.get(name)}, not {requested[name]}; "
                "give another folder, or remove it"
            )
    delivery = facts["delivery"]
    on_time = bool(delivery.get("kept_promise"))
    reasons = [] if judged["passed"] else _failures(judged)
    if not on_time:
        reasons.insert(
            0,
            f"the input itself came late, by up to {delivery.get('worst_lateness_ms', 0):,.0f} ms "
            f"({PROMISED_LATENESS_MS:.0f} ms are promised)",
        )
    return Trial(
        xways=xways,
        passed=not reasons,
        why_not="; ".join(reasons) or None,
        worst_response={
            result["name"]: (result["response"] or {}).get("worst") for result in judged["types"]
        },
        judged=None if judged["xways"] is None else tuple(judged["xways"]),
        delivered_on_time=on_time,
        worst_lateness_ms=delivery.get("worst_lateness_ms"),
        seconds=facts["seconds"],
        run=run,
        kept=kept,
    )


def _failures(judged: Mapping[str, Any]) -> list[str]:
    """What a judgement found, a part for each type of answer that has failures."""
    parts = []
    for result in judged["types"]:
        counts = [f"{result[kind]:,} {kind}" for kind in _FAILURES if result[kind]]
        if result["late"]:
            counts.append(
                f"up to {result['response']['worst']:,.1f} s where {result['deadline']} s are allowed"
            )
        if counts:
            parts.append(f"{result['name']}: {', '.join(counts)}")
    if judged["malformed"]:
        parts.append(f"{judged['malformed']:,} lines are no answers")
    return parts or ["the validation failed"]


def _crashed_trial(xways: float, run: Path, ended: Ended) -> Trial:
    facts = read_json(run / "run.json")
    java_is_gone = any(name in ended.message for name in _JAVA_IS_GONE)
    return Trial(
        xways=xways,
        passed=False,
        why_not=f"the run crashed: {ended.message}"
        + (" (Java is gone; was memory short?)" if java_is_gone else ""),
        worst_response=dict.fromkeys(ANSWER_NAMES.values()),
        judged=None,
        delivered_on_time=None,
        worst_lateness_ms=None,
        seconds=facts.get("seconds") if facts else None,
        run=run,
    )
