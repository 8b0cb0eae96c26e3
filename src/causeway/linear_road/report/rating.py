"""A rating in words and tables: the paper's Tables 7 and 8 with a column for ours, and the protocol."""

from __future__ import annotations

from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from causeway.linear_road.driver.deliver import PROMISED_LATENESS_MS
from causeway.linear_road.model.answers import ANSWER_NAMES, DEADLINES
from causeway.linear_road.rating.rate import Rating
from causeway.linear_road.rating.trial import Protocol, Trial

__all__ = [
    "failure_words",
    "print_rating",
    "protocol_words",
    "rating_table",
    "rating_words",
    "response_table",
    "trial_table",
]

# Arasu et al., Linear Road: A Stream Data Management Benchmark, VLDB 2004, section 4.3.
_SYSTEM_X_RATING: Final = 0.5
_AURORA_RATING: Final = 2.5
_TABLE_8: Final[dict[float, tuple[int | None, int]]] = {
    0.5: (3, 1),
    1.0: (2031, 1),
    1.5: (16346, 1),
    2.0: (52443, 2),
    2.5: (None, 2),
    3.0: (None, 196),
}
"""Worst response of a toll notification in seconds, by L: System X and Aurora."""

_PAPER: Final = (
    "System X and Aurora: the paper's section 4.3, all 180 minutes in real time on one 3 GHz Pentium with "
    "2 GB, without travel times; clocks of whole seconds, so that a response may be off by one second."
)
_NONE: Final = "—"
_SHORT: Final = ("toll", "alert", "balance", "daily", "travel")
"""The types of answers, in a column's width."""


def print_rating(rating: Rating, to: Console) -> None:
    """Print the tables, the protocol and, last, the rating."""
    tables = {
        "Table 7. L-ratings for Linear Road": rating_table(rating),
        "Table 8. Max response times for tolls (s)": response_table(rating),
        "Our trials: max response times, and lateness of the input (s)": trial_table(rating),
    }
    for title, table in tables.items():
        # Not as the table's own title, which would be broken to the width of a narrow table.
        to.print(Text(title, "italic"))
        to.print(table)
    for line in (*failure_words(rating), *protocol_words(rating)):
        to.print(Text(line))
    to.print(Text(rating_words(rating), "bold"))


def rating_table(rating: Rating) -> Table:
    """Table 7."""
    table = Table()
    for name in ("System X", "Aurora", "Causeway"):
        table.add_column(name, justify="right")
    ours = f"{rating.xways:g}" + (" or more" if rating.is_limited else "")
    table.add_row(f"{_SYSTEM_X_RATING}", f"{_AURORA_RATING}", Text(ours, "bold"))
    return table


def response_table(rating: Rating) -> Table:
    """Table 8: a row for each L that somebody ran."""
    table = Table()
    for name in ("XWays", "System X", "Aurora", "Causeway"):
        table.add_column(name, justify="right")
    trials = {trial.xways: trial for trial in rating.trials}
    for xways in sorted({*_TABLE_8, *trials}):
        theirs = [_NONE if seconds is None else f"{seconds}" for seconds in _TABLE_8.get(xways, (None, None))]
        ours = _toll_response(trials[xways]) if xways in trials else Text(_NONE)
        table.add_row(f"{xways:.1f}", *theirs, ours)
    return table


def _toll_response(trial: Trial) -> Text:
    worst = trial.worst_response[ANSWER_NAMES[0]]
    if trial.crashed:
        return Text("crashed", "red")
    return Text(_NONE if worst is None else f"{worst:,.2f}", "" if trial.passed else "red")


def trial_table(rating: Rating) -> Table:
    """Every trial, by L: the worst response of each type of answer, and the verdict."""
    table = Table()
    table.add_column("XWays", justify="right")
    for number, name in enumerate(_SHORT):
        table.add_column(f"{name}\n(≤ {DEADLINES[number]})", justify="right")
    table.add_column(f"input\n(≤ {PROMISED_LATENESS_MS / 1000:g})", justify="right")
    table.add_column("verdict")
    for trial in sorted(rating.trials, key=lambda trial: trial.xways):
        lateness = trial.worst_lateness_ms
        table.add_row(
            f"{trial.xways:g}",
            *(_NONE if worst is None else f"{worst:,.2f}" for worst in trial.worst_response.values()),
            _NONE if lateness is None else f"{lateness / 1000:,.3f}",
            Text("passed", "green") if trial.passed else Text("no", "red"),
        )
    return table


def failure_words(rating: Rating) -> list[str]:
    """Why each L that did not pass did not."""
    return [
        f"L = {trial.xways:g} did not pass: {trial.why_not}."
        for trial in sorted(rating.trials, key=lambda trial: trial.xways)
        if not trial.passed
    ]


def rating_words(rating: Rating) -> str:
    """The rating in a sentence."""
    span = _span(rating.protocol)
    if not rating.xways:
        return f"L-rating 0: not even L = 0.5 was answered right and in time, {span}."
    sampled = any(trial.judged is not None for trial in rating.trials)
    judged = "every answer in the sample" if sampled else "every answer"
    words = f"L-rating {rating.xways:g}: {judged} complete, right and in time, {span}."
    if rating.is_limited:
        return f"{words} Nothing failed up to L = {rating.max_xways:g}, the largest that was to be tried."
    failed = min(trial.xways for trial in rating.trials if not trial.passed)
    return f"{words} L = {failed:g} failed."


def _span(protocol: Protocol) -> str:
    if protocol.from_minute:
        return f"in minutes {protocol.from_minute} to {protocol.minutes}{_pace(protocol)}"
    return f"over {protocol.minutes} minutes{_pace(protocol)}"


def _pace(protocol: Protocol) -> str:
    return "" if protocol.speed == 1 else f" at {protocol.speed:g} times real time"


def protocol_words(rating: Rating) -> list[str]:
    """The protocol and machine of the trials, and the paper's own, one line each."""
    protocol, machine = rating.protocol, rating.machine
    taken = (
        f"minutes 0 to {protocol.from_minute} processed at once and without deadline, "
        f"{protocol.from_minute} to {protocol.minutes} delivered"
        if protocol.from_minute
        else f"all {protocol.minutes} minutes delivered"
    )
    pace = "in real time" if protocol.speed == 1 else f"at {protocol.speed:g} times real time"
    lines = [
        f"Protocol: {taken} {pace}; seed {protocol.seed}; rules {protocol.rules}; {_judged(rating)}.",
        f"{_where(protocol)}: {machine['processor']}, {machine['cores']} cores, "
        f"{machine['memory_gib']:g} GiB; {machine['system']}.",
        f"Spark: {_spark(rating.versions, protocol)}.",
        _PAPER,
    ]
    if not protocol.is_the_papers:
        lines.append(
            "This is not the paper's protocol, which has all 180 minutes in real time: "
            "say so where you quote the rating."
        )
    return lines


def _where(protocol: Protocol) -> str:
    return "Machine" if protocol.master.startswith("local") else "Machine of the driver and of Spark's driver"


def _judged(rating: Rating) -> str:
    sampled = [trial for trial in rating.trials if trial.judged is not None]
    if not sampled:
        return "all answers of all expressways judged"
    least = min(trial.xways for trial in sampled)
    return (
        f"from L = {least:g} on only the vehicles of {rating.protocol.sample} expressways judged, "
        "all answers below that"
    )


def _spark(versions: dict[str, Any], protocol: Protocol) -> str:
    numbers = ", ".join(f"{name} {version}" for name, version in versions.items())
    settings = "".join(f", {key}={value}" for key, value in protocol.settings.items())
    return f"master {protocol.master}{settings}; {numbers}"
