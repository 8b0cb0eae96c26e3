"""`causeway linear-road rate`: the largest L that a machine sustains, every trial a run that was judged.

DIR/rating.json                            the rating, every trial, and how they were held
DIR/workloads/L-4-minutes-180-seed-1/      made as needed, and kept
DIR/runs/L-4/                              a trial's run, with its judgement and its page
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import floor
from pathlib import Path
from typing import Any, Final

from causeway import __version__
from causeway.linear_road.rating.command_process import run_command
from causeway.linear_road.rating.trial import Command, Protocol, Trial, hold_trial
from causeway.runtime.errors import UserError
from causeway.runtime.lock import FolderLock
from causeway.runtime.machine import hardware
from causeway.runtime.output_folder import prepare_folder, write_json

__all__ = ["RATING_FILE", "Protocol", "Rating", "largest_passing", "rate"]

RATING_FILE: Final = "rating.json"
_SMALLEST: Final = 0.5
_HALVES_BELOW: Final = 3
"""The paper's Table 8 goes to 3 in steps of 0.5."""
_RESOLUTION: Final = 0.05
"""Of a large L: what is closer than that, the next rating of the same machine may find otherwise."""

_PROTOCOL: Final = {
    "minutes": "minutes",
    "from_minute": "start minute",
    "speed": "speed",
    "seed": "seed",
    "sample": "sample",
    "master": "master",
    "settings": "Spark settings",
    "rules": "rules",
}
"""What all trials of a rating have in common, and what it is called."""


@dataclass(frozen=True)
class Rating:
    """The answer, and all that it stands on."""

    xways: float
    """The largest L that passed; 0 if none did."""
    max_xways: float | None
    """Where the search was told to end."""
    protocol: Protocol
    trials: tuple[Trial, ...]
    """In the order in which they were held."""
    machine: dict[str, Any]
    versions: dict[str, str]

    @property
    def is_limited(self) -> bool:
        """Whether nothing failed, so that the machine may do more than was tried."""
        return bool(self.trials) and all(trial.passed for trial in self.trials)

    def facts(self, folder: Path, *, finished: bool = True) -> dict[str, Any]:
        """All of it for JSON; the rating of one that is not finished is the largest L so far."""
        return {
            "finished": finished,
            "rating": self.xways,
            "max_xways": self.max_xways,
            "limited_by_max_xways": self.is_limited,
            "protocol": self.protocol.facts() | {"is_the_papers": self.protocol.is_the_papers},
            "machine": self.machine,
            "versions": self.versions,
            "trials": [asdict(trial) | {"run": str(trial.run.relative_to(folder))} for trial in self.trials],
        }


def largest_passing(passes: Callable[[float], bool], max_xways: float | None = None) -> float:
    """Find the largest L for which `passes` says yes, 0 if there is none; no L is asked twice.

    L is doubled from 0.5 on until one fails, then the gap is halved: in steps of 0.5 up to 3, of whole
    expressways beyond, and down to 5 % where that is more than one.
    """
    passed, failed = 0.0, None
    largest = None if max_xways is None else _on_grid(max_xways)
    while failed is None and passed != largest:
        candidate = max(_SMALLEST, 2 * passed)
        if largest is not None:
            candidate = min(candidate, largest)
        if passes(candidate):
            passed = candidate
        else:
            failed = candidate
    while failed is not None and passed and failed - passed > _resolution(passed):
        candidate = _on_grid((passed + failed) / 2)
        if candidate <= passed:
            candidate = passed + _step(passed)
        if passes(candidate):
            passed = candidate
        else:
            failed = candidate
    return passed


def _step(xways: float) -> float:
    return _SMALLEST if xways < _HALVES_BELOW else 1.0


def _resolution(xways: float) -> float:
    return max(_step(xways), float(floor(_RESOLUTION * xways)))


def _on_grid(xways: float) -> float:
    """The largest L, at most `xways`, that a trial is held for."""
    return floor(2 * xways) / 2 if xways < _HALVES_BELOW else float(floor(xways))


def rate(
    out: Path,
    protocol: Protocol,
    *,
    max_xways: float | None = None,
    workloads: Path | None = None,
    command: Command = run_command,
    write_page: Callable[[Path], object] = lambda _: None,
    report_line: Callable[[str], None] = lambda _: None,
) -> Rating:
    """Rate this machine (or the cluster at `protocol.master`) and write all of it to `out`.

    Can be called again after it was broken off: what was judged stays judged. `write_page` gets the folder
    of a run that crashed (others have their page from `validate`), `report_line` a line whenever a trial
    begins and ends.
    """
    protocol.check()
    if max_xways is not None and not max_xways >= _SMALLEST:
        raise UserError(f"the largest L to try is {max_xways:g}; the smallest possible is {_SMALLEST}")
    out = out.absolute()
    machine = hardware()
    _refuse_other_rating(out, protocol, machine)
    if not (out / RATING_FILE).exists():
        prepare_folder(out, replaces=("workloads", "runs"))
    at = workloads.absolute() if workloads else out / "workloads"
    trials: list[Trial] = []

    def rating(xways: float) -> Rating:
        return Rating(xways, max_xways, protocol, tuple(trials), machine, _versions(trials))

    def save(xways: float, finished: bool) -> None:
        write_json(out / RATING_FILE, rating(xways).facts(out, finished=finished))

    def passes(xways: float) -> bool:
        report_line(f"L = {xways:g} …")
        trial = hold_trial(xways, protocol, at, out / "runs" / f"L-{xways:g}", command)
        if trial.crashed and (trial.run / "run.json").exists():
            write_page(trial.run)
        trials.append(trial)
        report_line(_verdict(trial))
        save(_largest(trials), finished=False)
        return trial.passed

    with FolderLock(out, "causeway linear-road rate"):
        save(0.0, finished=False)
        answer = largest_passing(passes, max_xways)
        save(answer, finished=True)
    return rating(answer)


def _largest(trials: list[Trial]) -> float:
    return max((trial.xways for trial in trials if trial.passed), default=0.0)


def _verdict(trial: Trial) -> str:
    kept = " (as judged before)" if trial.kept else ""
    if trial.why_not is not None:
        return f"L = {trial.xways:g}: no{kept}: {trial.why_not}"
    worst = [seconds for seconds in trial.worst_response.values() if seconds is not None]
    within = f", every answer within {max(worst):.2f} s" if worst else ""
    return f"L = {trial.xways:g}: passed{kept}{within}"


def _versions(trials: list[Trial]) -> dict[str, str]:
    """As the last run noted them: only Spark knows its own."""
    for trial in reversed(trials):
        path = trial.run / "run.json"
        noted = json.loads(path.read_text()).get("versions") if path.exists() else None
        if noted:
            return {str(name): str(version) for name, version in noted.items()}
    return {"causeway": __version__}


def _refuse_other_rating(out: Path, protocol: Protocol, machine: dict[str, Any]) -> None:
    """Trials of different protocols, machines or programs are no one rating."""
    path = out / RATING_FILE
    try:
        earlier = json.loads(path.read_text())
        noted, maker, version = earlier["protocol"], earlier["machine"], earlier["versions"]["causeway"]
        there = {name: noted[name] for name in _PROTOCOL}
        before = {name: maker[name] for name in ("processor", "cores")}
    except FileNotFoundError:
        return
    except NotADirectoryError:
        raise UserError(f"{path.parent} is a file; give a folder") from None
    except (ValueError, OSError, KeyError, TypeError) as unreadable:
        raise UserError(f"{path} cannot be read: {unreadable!r}; give another folder") from unreadable
    requested = protocol.facts()
    for name, words in _PROTOCOL.items():
        if there[name] != requested[name]:
            raise UserError(
                f"{out} has a rating with {words} {_words(there[name])}, not {_words(requested[name])}; "
                "give another folder (you can use the same workloads again)"
            )
    now = {name: machine[name] for name in before}
    if before != now or version != __version__:
        raise UserError(
            f"{out} has a rating of another machine or program ({before['processor']}, {before['cores']} "
            f"cores, causeway {version}); give another folder (you can use the same workloads again)"
        )


def _words(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(f"{key}={setting}" for key, setting in value.items()) or "(none)"
    return "(none)" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
