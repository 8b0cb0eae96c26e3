"""A validation for people: each difference as a sentence, all of it as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.box import SIMPLE
from rich.console import Group
from rich.table import Table
from rich.text import Text

from causeway.linear_road.model.answers import ANSWER_NAMES, DEADLINES, LINE_FIELDS
from causeway.linear_road.validation.result import Validation

__all__ = ["difference_words", "malformed_words", "validation_table"]

Facts = Mapping[str, Any]

_EXPECTED_LINES = " or ".join(f"{number},{','.join(fields)}" for number, fields in LINE_FIELDS.items())


def malformed_words(line: int | None, text: str) -> str:
    """Name the place of a row that is no answer, and what one looks like."""
    if line is None:
        return f"a row lacks a field of its type: {text}"
    return f"line {line:,} is no answer: {text!r}; expected is {_EXPECTED_LINES}"


def difference_words(answer_type: int, kind: str, facts: Facts) -> str:
    """Say what was expected, why, and what the answer says; `facts` are the judge's, by type."""
    cause = _CAUSE[answer_type](facts, kind == "extra")
    name = ANSWER_NAMES[answer_type]
    if kind == "missing":
        return f"{cause}: no {name} was given; expected is {_expected(answer_type, facts)}"
    if kind == "extra":
        extra = f"{facts['answers']} {name}s were" if facts["answers"] > 1 else f"a {name} was"
        return f"{cause}, but {extra} given ({_answered(answer_type, facts)})"
    if kind == "doubled":
        return f"{cause}: {facts['answers']} {name}s were given where {facts['due']} is due"
    if kind == "late":
        return f"{cause}: the {name} took {facts['response']:,.3f} s; {DEADLINES[answer_type]} s are allowed"
    if kind == "early":
        return f"{cause}: the {name} says that it was given {-facts['response']:,.3f} s before that"
    return f"{cause}: {_wrong(answer_type, facts)}"


def _where(facts: Facts) -> str:
    segment = facts["segment"]
    way = "west" if segment >> 7 & 1 else "east"
    return f"segment {segment & 127} {way} of expressway {segment >> 8}"


def _entering(facts: Facts, uncalled: bool) -> str:
    who = f"vehicle {facts['VID']} at second {facts['Time']}"
    if facts.get("segment") is None:
        return f"{who} did not enter a segment"
    if not facts["notified"]:
        return f"{who} entered {_where(facts)} in the exit lane"
    if uncalled:
        return (
            f"{who} entered {_where(facts)}, with no accident up to four segments ahead in the minute before"
        )
    return f"{who} entered {_where(facts)}"


def _asking(what: str, details: str) -> Any:
    def cause(facts: Facts, uncalled: bool) -> str:
        if uncalled:
            return f"nobody asked for {what} as request {facts['QID']} at second {facts['Time']}"
        request = details.format(**facts)
        return (
            f"vehicle {facts['VID']} at second {facts['Time']} asked (request {facts['QID']}) for {request}"
        )

    return cause


_CAUSE = {
    0: _entering,
    1: _entering,
    2: _asking("an account balance", "its account balance"),
    3: _asking("a daily expenditure", "its tolls of day {Day} on expressway {XWay}"),
    4: _asking(
        "a travel time",
        "the time from segment {Sinit} to {Send} of expressway {XWay} on weekday {DOW} from minute {TOD} on",
    ),
}


def _accident_segments(facts: Facts) -> list[int]:
    segment, way = facts["segment"] & 127, -1 if facts["segment"] >> 7 & 1 else 1
    return [segment + way * away for away in range(5) if facts["ahead"] >> away & 1]


def _expected(answer_type: int, facts: Facts) -> str:
    if answer_type == 0:
        return f"toll {facts['Toll']:,} and speed {facts['Lav']} ({_reasons(facts)})"
    if answer_type == 1:
        return f"an accident in segment {_one_of(_accident_segments(facts))}"
    if answer_type == 2:
        return f"{facts['expected_second']:,} at second {facts['Time']}"
    if answer_type == 3:
        return f"{facts['expected_first']:,}"
    if facts.get("expected_first") is None:
        return "any: the history has no speeds for it"
    return f"{facts['expected_first']:,} s and toll {facts['expected_second']:,}"


def _reasons(facts: Facts) -> str:
    accident = f", accident in segment {_one_of(_accident_segments(facts))}" if facts["ahead"] else ""
    return f"Lav {facts['Lav']}, {facts['cars']} cars{accident}"


def _one_of(segments: list[int]) -> str:
    return " or ".join(map(str, segments))


def _answered(answer_type: int, facts: Facts) -> str:
    first, second = facts.get("first"), facts.get("second")
    return {
        0: f"speed {first}, toll {second}",
        1: f"segment {first}",
        2: f"{second} at second {first}",
        3: f"{first}",
        4: f"{first} s, toll {second}",
    }[answer_type]


def _wrong(answer_type: int, facts: Facts) -> str:
    first, second = facts["first"], facts.get("second")
    if answer_type == 0:
        parts = []
        if second != facts["Toll"]:
            parts.append(f"toll should be {facts['Toll']:,} ({_reasons(facts)}), the answer says {second:,}")
        if first != facts["Lav"]:
            parts.append(f"speed should be {facts['Lav']}, the answer says {first}")
        return "; ".join(parts)
    if answer_type == 1:
        where = _one_of(_accident_segments(facts))
        return f"the accident is in segment {where}, the answer says segment {first}"
    if answer_type == 2:
        time, balance = facts["Time"], facts["expected_second"]
        if not time - 60 <= first <= time:
            return f"the balance may be of seconds {time - 60} to {time}, the answer's is of {first}"
        return f"the balance at second {first} should be {balance:,}, the answer says {second:,}"
    if answer_type == 3:
        return f"it should be {facts['expected_first']:,}, the answer says {first:,}"
    parts = []
    if abs(first - facts["expected_first"]) > 1:
        parts.append(f"it should take {facts['expected_first']:,} s (or 1 s off), the answer says {first:,}")
    if second != facts["expected_second"]:
        parts.append(f"toll should be {facts['expected_second']:,}, the answer says {second:,}")
    return "; ".join(parts)


def validation_table(validation: Validation) -> Group:
    """A row for each type: what was expected and what failed; below it how long answers took, in seconds."""
    verdict = Text("passed", "bold green") if validation.passed else Text("failed", "bold red")
    judged = "all expressways"
    if validation.xways is not None:
        judged = f"vehicles of expressway{'s' * (len(validation.xways) > 1)} " + ", ".join(
            map(str, validation.xways)
        )
    title = Text.assemble(f"Validation of {validation.answers.name}, {judged}: ", verdict)
    counted = _table(title, "expected", "missing", "extra", "doubled", "wrong", "late", "verdict")
    timed = _table(Text("Response times, in seconds"), "allowed", "min", "mean", "p50", "p95", "p99", "max")
    for result in validation.types:
        failures = (result.missing, result.extra, result.doubled, result.wrong, result.late + result.early)
        counted.add_row(
            result.name,
            f"{result.expected:,}",
            *(Text(f"{count:,}", "bold red" if count else "") for count in failures),
            Text("passed", "green") if result.passed else Text("failed", "bold red"),
        )
        took = result.response
        if took is not None:
            seconds = (took.least, took.mean, took.p50, took.p95, took.p99, took.worst)
            timed.add_row(result.name, f"{result.deadline}", *(f"{value:,.3f}" for value in seconds))
    if validation.malformed:
        counted.add_section()
        counted.add_row("no answers", Text(f"{validation.malformed:,} lines", "bold red"))
    return Group(counted, timed) if timed.rows else Group(counted)


def _table(title: Text, *headings: str) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("answer", no_wrap=True)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table
