"""A Linear Road run as one page that needs no network: how fast, how right, and what the city looked like."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from causeway.linear_road.driver.deliver import PROMISED_LATENESS_MS
from causeway.linear_road.report.city import City, read_city
from causeway.linear_road.report.city_map import CITY_STYLE, city_map
from causeway.linear_road.report.run_measurements import RunMeasurements, measure_run
from causeway.linear_road.report.run_plots import load_plot, response_plot
from causeway.linear_road.validation.result import DEADLINES, TYPES
from causeway.report.page import (
    PLOT_CONFIG,
    mapping,
    moment,
    page_html,
    settings_html,
    short,
    table_html,
    tile,
    write_page,
)

__all__ = ["write_run_page"]

_GROUPS: Final = {
    "hardware": "Machine",
    "versions": "Versions",
    "settings": "Spark settings",
    "counts": "Counts",
    "delivery": "Delivery of the input",
}
_COUNTED: Final = ("missing", "extra", "doubled", "wrong")


def write_run_page(run: Path) -> Path:
    """Write `report.html` into a run's folder, from what is there; returns where it is.

    A run that goes on, was stopped or failed gives a page of as far as it came. A folder without `run.json`
    is none of a run, and a `UserError`.
    """
    measured = measure_run(run)
    city = read_city(run, measured.notes)
    return write_page(run / "report.html", _page(measured, city))


def _page(run: RunMeasurements, city: City | None) -> str:
    sections = [
        ("Response times", _response_section(run)),
        ("Load", _load_section(run)),
        ("The city", _city_section(run, city)),
        ("Validation", _validation_section(run)),
        ("Settings", _settings_section(run.facts)),
    ]
    body = "".join(f"<h2>{heading}</h2>{html}" for heading, html in sections)
    title = f"Linear Road, L = {_expressways(run)}: {run.folder.absolute().name}"
    return page_html(title, _headline(run) + body, CITY_STYLE)


def _headline(run: RunMeasurements) -> str:
    machine = mapping(run.facts.get("hardware"))
    versions = mapping(run.facts.get("versions"))
    facts = [
        f"{run.facts.get('rules', 'unknown')} rules",
        str(machine.get("processor", "unknown processor")),
        f"{machine.get('cores', '?')} cores, {machine.get('memory_gib', '?')} GiB",
        f"Spark {versions.get('pyspark', '?')} on {run.facts.get('master', '?')}",
    ]
    if (began := moment(run.facts.get("started_at"))) is not None:
        facts.append(began)
    tiles = [_verdict_tile(run), _size_tile(run), _response_tile(run), _rate_tile(run), _answers_tile(run)]
    # Of a file that is looked into twice, once is enough.
    notes = dict.fromkeys([*_warnings(run), *run.notes])
    return (
        f'<h1>Linear Road on Spark</h1><p class="facts">{escape(" · ".join(facts))}</p>'
        f'<div class="tiles">{"".join(tiles)}</div>'
        + "".join(f'<p class="note">{escape(note)}</p>' for note in notes)
    )


def _verdict_tile(run: RunMeasurements) -> str:
    state = run.facts.get("state")
    if state != "finished":
        second = int(run.batches.last_second.max()) + 1 if len(run.batches) else 0
        told = f"after {second / 60:,.0f} of {run.minutes:,} simulated minutes"
        word = {"failed": "broken off", "running": "unfinished", "stopped": "stopped"}.get(
            str(state), "unknown"
        )
        return tile(word, told, "out" if state == "failed" else "open")
    judged = run.validation
    if judged is None:
        late = sum(responses.late for responses in run.responses.values())
        if late:
            return tile("late", f"{late:,} answers past their deadline; not validated", "out")
        return tile("not validated", "whether the answers are right is open", "open")
    if judged.get("passed"):
        on_time = "complete, right and on time" if run.speed is not None else "complete and right"
        return tile("passed", f"every answer {on_time}{_judged_part(judged)}", "holds")
    types = [mapping(entry) for entry in judged.get("types") or []]
    failures = {kind: sum(int(entry.get(kind) or 0) for entry in types) for kind in _COUNTED}
    failures["late"] = sum(int(entry.get("late") or 0) + int(entry.get("early") or 0) for entry in types)
    failures["malformed"] = int(judged.get("malformed") or 0)
    told = ", ".join(f"{count:,} {kind}" for kind, count in failures.items() if count)
    return tile("failed", f"{told or 'see the validation'}{_judged_part(judged)}", "out")


def _judged_part(judged: Mapping[str, Any]) -> str:
    xways = judged.get("xways")
    return f" (of vehicles on {len(xways)} expressway{'s' * (len(xways) > 1)})" if xways else ""


def _size_tile(run: RunMeasurements) -> str:
    span = (
        f"minutes {run.from_minute:,} to {run.minutes:,}" if run.from_minute else f"{run.minutes:,} minutes"
    )
    pace = "as fast as possible" if run.speed is None else f"speed {run.speed:g}"
    return tile(f"L = {_expressways(run)}", f"{span}, {pace}")


def _response_tile(run: RunMeasurements) -> str:
    worst = [run.responses[number].worst for number in (0, 1) if number in run.responses]
    if not worst:
        return tile(
            "—", "no response times: no claim to real time" if run.speed is None else "no answers yet"
        )
    allowed = DEADLINES[0]
    return tile(
        f"{max(worst):,.2f} s",
        f"worst response of a toll or alert; {allowed} s allowed",
        "holds" if max(worst) <= allowed else "out",
    )


def _rate_tile(run: RunMeasurements) -> str:
    batches = run.batches.since(60 * run.from_minute)
    rate = run.mean_rate(batches) if len(batches) else np.nan
    if not np.isfinite(rate):
        return tile("—", "tuples per second are not known yet")
    peak = np.nanmax(run.rates(batches))
    told = "delivered" if run.speed is not None else "taken"
    return tile(f"{rate:,.0f}/s", f"tuples {told}, on average; {peak:,.0f}/s at most")


def _answers_tile(run: RunMeasurements) -> str:
    answers = sum(run.answers.values())
    tuples = mapping(run.facts.get("counts")).get("tuples")
    to = f" to {short(tuples)} tuples" if isinstance(tuples, int) else ""
    return tile(short(answers), f"answers{to}, of five types")


def _warnings(run: RunMeasurements) -> Iterable[str]:
    delivery = mapping(run.facts.get("delivery"))
    if run.speed is not None and delivery.get("kept_promise") is False:
        yield (
            f"The input came late, by up to {delivery.get('worst_lateness_ms', 0):,.0f} ms; "
            f"{PROMISED_LATENESS_MS:.0f} ms are promised. Response times count from when it was due."
        )
    attempts = run.facts.get("attempts")
    if isinstance(attempts, int) and attempts > 1:
        yield f"The run was resumed: it took {attempts} attempts."


def _response_section(run: RunMeasurements) -> str:
    if run.speed is None:
        return (
            '<p class="remark">The input was taken as fast as possible: answers have no response times.</p>'
        )
    if not run.responses:
        return '<p class="remark">There is no answer with a deadline yet.</p>'
    remark = "From the second of the tuple to when the answer was handed over and readable, in real seconds."
    if run.from_minute:
        remark += f" Answers to tuples before minute {run.from_minute:,} have no deadline and are left out."
    return f'<p class="remark">{remark}</p>{_figure(response_plot(run))}'


def _load_section(run: RunMeasurements) -> str:
    if not len(run.batches.since(60 * run.from_minute)):
        return '<p class="remark">No batch has been finished yet.</p>'
    return _figure(load_plot(run))


def _city_section(run: RunMeasurements, city: City | None) -> str:
    if city is None:
        return '<p class="remark">No minute of traffic has been closed yet.</p>'
    remark = (
        "Every segment, minute by minute: the toll that was quoted, the average speed, the cars. "
        "A red line is an accident while it stood."
    )
    if run.from_minute:
        remark += f" Real time began at the dotted line (minute {run.from_minute:,})."
    return f'<p class="remark">{remark}</p>{city_map(city, run.from_minute)}'


def _figure(figure: go.Figure) -> str:
    html: str = figure.to_html(full_html=False, include_plotlyjs=False, config=dict(PLOT_CONFIG))
    return html


def _validation_section(run: RunMeasurements) -> str:
    if run.validation is None:
        workload = str(run.facts.get("workload", "WORKLOAD"))
        command = shlex.join(["causeway", "linear-road", "validate", workload, str(run.folder)])
        return (
            '<p class="remark">Nobody has judged these answers yet: '
            f"<code>{escape(command)}</code> does.</p>{_timing_table(run)}"
        )
    judged = run.validation
    headings = ["answer", "expected", *_COUNTED, "late", "allowed"]
    headings += ["min", "mean", "p50", "p95", "p99", "max", "verdict"]
    rows = [
        _judged_row(mapping(entry), judged.get("speed") is not None) for entry in judged.get("types") or []
    ]
    parts = [table_html(headings, rows)]
    if judged.get("malformed"):
        parts.append(f'<p class="out">Lines that are no answers at all: {judged["malformed"]:,}</p>')
    differences = [mapping(entry) for entry in judged.get("differences") or []]
    if differences:
        items = "".join(
            f"<li><b>{escape(str(entry.get('kind')))}</b><span>{escape(str(entry.get('words')))}</span></li>"
            for entry in differences
        )
        parts.append(f'<p>The first differences:</p><ul class="differences">{items}</ul>')
    parts += [f'<p class="remark">{escape(str(note))}</p>' for note in judged.get("notes") or []]
    return "".join(parts)


def _judged_row(entry: Mapping[str, Any], timed: bool) -> str:
    late = int(entry.get("late") or 0) + int(entry.get("early") or 0)
    failures = [*(int(entry.get(kind) or 0) for kind in _COUNTED), late]
    response = mapping(entry.get("response"))
    times = [response.get(name) for name in ("least", "mean", "p50", "p95", "p99", "most")]
    verdict = ("holds", "passed") if entry.get("passed") else ("out", "failed")
    return "".join(
        [
            f"<td>{escape(str(entry.get('name')))}</td><td>{int(entry.get('expected') or 0):,}</td>",
            *(f'<td class="{"out" if count else "none"}">{count:,}</td>' for count in failures),
            f"<td>{int(entry.get('deadline') or 0)} s</td>" if timed else '<td class="none">—</td>',
            *(_seconds_cell(time) for time in times),
            f'<td class="{verdict[0]}">{verdict[1]}</td>',
        ]
    )


def _timing_table(run: RunMeasurements) -> str:
    """What can be told without a judge: how many answers, and how long they took."""
    rows = []
    for number, name in TYPES.items():
        responses = run.responses.get(number)
        timed = [responses.p50, responses.p99, responses.worst] if responses else [None] * 3
        late = responses.late if responses else None
        rows.append(
            f"<td>{name}</td><td>{run.answers[number]:,}</td>"
            + (f'<td class="{"out" if late else "none"}">{late:,}</td>' if late is not None else "<td>—</td>")
            + f"<td>{DEADLINES[number]} s</td>"
            + "".join(_seconds_cell(time) for time in timed)
        )
    return table_html(["answer", "answers", "late", "allowed", "p50", "p99", "max"], rows)


def _seconds_cell(value: object) -> str:
    return f"<td>{value:,.3f}</td>" if isinstance(value, (int, float)) else '<td class="none">—</td>'


def _settings_section(facts: Mapping[str, Any]) -> str:
    plain = {name: value for name, value in facts.items() if not isinstance(value, (dict, list))}
    plain["started_at"] = moment(facts.get("started_at"))
    groups = {"Run": plain} | {_GROUPS[name]: dict(_flat(mapping(facts.get(name)))) for name in _GROUPS}
    return settings_html(groups)


def _flat(group: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    for name, value in group.items():
        if isinstance(value, dict):
            yield from ((f"{name}, type {inner}", told) for inner, told in value.items())
        else:
            yield name, value


def _expressways(run: RunMeasurements) -> str:
    value = run.facts.get("expressways")
    return f"{value:g}" if isinstance(value, (int, float)) else "?"
