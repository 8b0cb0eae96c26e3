"""How a workload is run: what the user asks for, and what an interrupted run was begun with."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, Literal

from causeway.linear_road.keeping.reports_table import REPORTS_TABLE, check_table_name
from causeway.linear_road.model.rules import RULES
from causeway.linear_road.runner.run_folder import RunFolder
from causeway.linear_road.workload.workload import Workload
from causeway.runtime.errors import UserError
from causeway.streaming.run_folder import refuse_other_settings

__all__ = ["EngineName", "RequestedSettings", "RunSettings", "new_settings", "resumed_settings"]

MAX: Final = "max"

EngineName = Literal["columnar", "tables"]


@dataclass(frozen=True)
class RunSettings:
    """The settings of a run."""

    speed: float | None = 1.0
    """Simulated seconds that pass in one second; None to take all as fast as possible."""
    from_minute: int = 0
    rules: str = "vldb2004"
    keep: str | None = None
    """The streaming table that keeps all position reports, in the run's warehouse."""
    engine: EngineName = "columnar"
    """What answers: the columnar pipeline, or statements over streaming tables."""

    @property
    def history_table(self) -> str | None:
        """The streaming table of the run's warehouse that has all position reports, if there is one."""
        return REPORTS_TABLE if self.engine == "tables" else self.keep


@dataclass(frozen=True)
class RequestedSettings:
    """What the user asks for; `None` leaves it to the defaults, or to the run that is resumed."""

    speed: float | Literal["max"] | None = None
    from_minute: int | None = None
    rules: str | None = None
    keep: str | None = None
    engine: EngineName | None = None


def new_settings(requested: RequestedSettings, workload: Workload) -> RunSettings:
    """The settings of a new run of `workload`."""
    defaults = RunSettings()
    speed = defaults.speed if requested.speed is None else requested.speed
    settings = RunSettings(
        speed=None if speed == MAX else float(speed or 0),
        from_minute=defaults.from_minute if requested.from_minute is None else requested.from_minute,
        rules=requested.rules or defaults.rules,
        keep=requested.keep,
        engine=requested.engine or defaults.engine,
    )
    if settings.keep is not None:
        if settings.engine == "tables":
            raise UserError(f"the engine of streaming tables keeps all reports, in the table {REPORTS_TABLE}")
        check_table_name(settings.keep)
    if settings.rules not in RULES:
        raise UserError(f"there are no rules {settings.rules}; there are {', '.join(RULES)}")
    if settings.speed is not None and not 0 < settings.speed < math.inf:
        raise UserError(f"a speed of {settings.speed:g} is not possible; give a number above 0, or max")
    if not 0 <= settings.from_minute < workload.minutes:
        raise UserError(
            f"real time cannot start at minute {settings.from_minute}: {workload.folder} has the minutes "
            f"0 to {workload.minutes - 1}"
        )
    return settings


def resumed_settings(requested: RequestedSettings, workload: Workload, folder: RunFolder) -> RunSettings:
    """The settings that the run in `folder` was begun with; refuses requested ones that disagree."""
    facts = folder.resumable_facts()
    try:
        if facts["workload"] != str(workload.folder.resolve()):
            raise UserError(f"{folder.path} is a run of {facts['workload']}, not of {workload.folder}")
        kept = RunSettings(
            facts["speed"],
            facts["from_minute"],
            facts["rules"],
            facts.get("keep"),
            facts.get("engine", "columnar"),
        )
    except (KeyError, TypeError) as missing:
        raise UserError(f"{folder.facts_file} is not what a run leaves: {missing!r}") from missing
    words: dict[str, Any] = {
        "speed": MAX if kept.speed is None else kept.speed,
        "from_minute": kept.from_minute,
        "rules": kept.rules,
        "keep": kept.keep,
        "engine": kept.engine,
    }
    refuse_other_settings(vars(requested), words, folder.path)
    return kept
