"""A Linear Road run as one page that needs no network: how fast, how right, and what the city looked like."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any, Final

import numpy as np

from causeway.linear_road.driver.deliver import PROMISED_LATENESS_MS
from causeway.linear_road.model.answers import ANSWER_NAMES, DEADLINES
from causeway.linear_road.report.city import City, read_city
from causeway.linear_road.report.city_map import CITY_STYLE, city_map
from causeway.linear_road.report.history_section import history_section, resources_section
from causeway.linear_road.report.run_measurements import RunMeasurements, measure_run
from causeway.linear_road.report.run_plots import load_plot, response_plot
from causeway.report.page import (
    headline_html,
    mapping,
    page_html,
    section_html,
    settings_html,
    short,
    table_html,
    tile,
    time_text,
    write_page,
)
from causeway.report.plots import figure_html

__all__ = ["write_run_page"]

_GROUPS: Final = {
    "hardware": "Machine",
    "versions": "Versions",
    "settings": "Spark settings",
    "counts": "Counts",
    "delivery": "Delivery of the input",
}
_COUNTED: Final = ("missing", "extra", "doubled", "wrong")
_PLOTS_STYLE: Final = """
.panels { display: grid; grid-template-columns: repeat(2, 1fr); column-gap: 12px; }
.panels > div { min-width: 0; } .panels > div:first-of-type { grid-column: 1 / -1; }
@media (max-width: 800px) { .panels { grid-template-columns: 1fr; } }
"""


def write_run_page(run: Path) -> Path:
    """Write `report.html` into a run's folder, from what is there; returns where it is.

    The page of a run that is going on, was stopped or failed shows how far it has come. Raises a `UserError`
    for a folder without `run.json`.
    """
    measured = measure_run(run)
    city = read_city(run, measured.notes)
    return write_page(run / "report.html", _page(measured, city))


def _page(run: RunMeasurements, city: City | None) -> str:
    sections = [
        ("Response times", _response_section(run)),
        ("Load", _load_section(run)),
        ("History", history_section(run)),
        ("Processor and memory", resources_section(run)),
        ("The city", _city_section(run, city)),
        ("Validation", _validation_section(run)),
        ("Settings", _settings_section(run.facts)),
    ]
    body = "".join(section_html(heading, html) for heading, html in sections if html is not None)
    title = f"Linear Road, L = {_expressways(run)}: {run.folder.absolute().name}"
    return page_html(title, _headline(run) + body, CITY_STYLE + _PLOTS_STYLE)


def _headline(run: RunMeasurements) -> str:
    machine = mapping(run.facts.get("hardware"))
    versions = mapping(run.facts.get("versions"))
    facts = [
        f"{run.facts.get('rules', 'unknown')} rules",
        str(machine.get("processor", "unknown processor")),
        f"{machine.get('cores', '?')} cores, {machine.get('memory_gib', '?')} GiB",
        f"Spark {versions.get('pyspark', '?')} on {run.facts.get('master', '?')}",
    ]
    if (began := time_text(run.facts.get("started_at"))) is not None:
        facts.append(began)
    tiles = [_verdict_tile(run), _size_tile(run), _response_tile(run), _rate_tile(run), _answers_tile(run)]
    # Two readers may have left the same note.
    notes = dict.fromkeys([*_warnings(run), *run.notes])
    return headline_html("Linear Road on Spark", facts, tiles, notes)


def _verdict_tile(run: RunMeasurements) -> str:
    state = run.facts.get("state")
    if state != "finished":
        second = int(run.batches.last_second.max()) + 1 if len(run.batches) else 0
        progress = f"after {second / 60:,.0f} of {run.minutes:,} simulated minutes"
        word = {"failed": "failed", "running": "unfinished", "stopped": "stopped"}.get(str(state), "unknown")
        return tile(word, progress, "out" if state == "failed" else "open")
    judged = run.validation
    if judged is None:
        late = sum(responses.late for responses in run.responses.values())
        if late:
            return tile("late", f"{late:,} answers past their deadline; not validated", "out")
        return tile("not validated", "it is not known whether the answers are right", "open")
    if judged.get("passed"):
        on_time = "complete, right and on time" if run.speed is not None else "complete and right"
        return tile("passed", f"every answer {on_time}{_judged_part(judged)}", "holds")
    types = [mapping(entry) for entry in judged.get("types") or []]
    failures = {kind: sum(int(entry.get(kind) or 0) for entry in types) for kind in _COUNTED}
    failures["late"] = sum(int(entry.get("late") or 0) + int(entry.get("early") or 0) for entry in types)
    failures["malformed"] = int(judged.get("malformed") or 0)
    counts = ", ".join(f"{count:,} {kind}" for kind, count in failures.items() if count)
    return tile("failed", f"{counts or 'see the validation'}{_judged_part(judged)}", "out")


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
            "—", "no response times: input as fast as possible" if run.speed is None else "no answers yet"
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
    verb = "delivered" if run.speed is not None else "processed"
    return tile(f"{rate:,.0f}/s", f"tuples {verb} on average; {peak:,.0f}/s at most")


def _answers_tile(run: RunMeasurements) -> str:
    answers = sum(run.answers.values())
    tuples = mapping(run.facts.get("counts")).get("tuples")
    to = f" to {short(tuples)} tuples" if isinstance(tuples, int) else ""
    return tile(short(answers), f"answers{to}, of five types")


def _warnings(run: RunMeasurements) -> Iterable[str]:
    delivery = mapping(run.facts.get("delivery"))
    if run.speed is not None and delivery.get("kept_promise") is False:
        yield (
            f"The input was delivered late, by up to {delivery.get('worst_lateness_ms', 0):,.0f} ms; "
            f"{PROMISED_LATENESS_MS:.0f} ms are allowed. Response times count from when it was due."
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
    remark = (
        "Real seconds from the time in the tuple until its answer had been emitted and was readable. "
        "Each point covers a short span of simulated time."
    )
    if run.from_minute:
        remark += f" Answers to tuples before minute {run.from_minute:,} have no deadline and are left out."
    # Toll notifications are most of the answers and get the full width.
    plots = [
        figure_html(response_plot(run, number, wide=number == 0), f"responses-{number}")
        for number in ANSWER_NAMES
    ]
    return f'<p class="remark">{remark}</p><div class="panels">{"".join(plots)}</div>'


def _load_section(run: RunMeasurements) -> str:
    if not len(run.batches.since(60 * run.from_minute)):
        return '<p class="remark">No batch has been finished yet.</p>'
    if run.speed is None:
        return figure_html(load_plot(run), "load")
    return (
        '<p class="remark">The time available to a batch is the real time that its tuples cover: '
        "where batches take longer, the run falls behind.</p>" + figure_html(load_plot(run), "load")
    )


def _city_section(run: RunMeasurements, city: City | None) -> str:
    if city is None:
        return '<p class="remark">No minute of traffic has been closed yet.</p>'
    remark = (
        "Each segment in each minute: the quoted toll, the average speed, or the number of cars. "
        "A red line is an accident, from the minute in which it was detected until it was cleared."
    )
    if run.from_minute:
        remark += f" Delivery in real time began at the dotted line (minute {run.from_minute:,})."
    return f'<p class="remark">{remark}</p>{city_map(city, run.from_minute)}'


def _validation_section(run: RunMeasurements) -> str:
    if run.validation is None:
        workload = str(run.facts.get("workload", "WORKLOAD"))
        command = shlex.join(["causeway", "linear-road", "validate", workload, str(run.folder)])
        return (
            '<p class="remark">The answers have not been validated yet. To validate them: '
            f"<code>{escape(command)}</code></p>{_timing_table(run)}"
        )
    judged = run.validation
    headings = ["answer", "expected", *_COUNTED, "late", "allowed"]
    headings += ["min", "mean", "p50", "p95", "p99", "max", "verdict"]
    rows = [
        _judged_row(mapping(entry), judged.get("speed") is not None) for entry in judged.get("types") or []
    ]
    parts = [table_html(headings, rows)]
    if judged.get("malformed"):
        parts.append(f'<p class="out">Lines that are not answers: {judged["malformed"]:,}</p>')
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
    times = [response.get(name) for name in ("least", "mean", "p50", "p95", "p99", "worst")]
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
    """What is known without a validation: the number of answers and their response times."""
    rows = []
    for number, name in ANSWER_NAMES.items():
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
    plain |= {name: time_text(facts[name]) for name in ("made_at", "started_at") if name in facts}
    groups = {"Run": plain} | {_GROUPS[name]: dict(_flat(mapping(facts.get(name)))) for name in _GROUPS}
    return settings_html(groups)


def _flat(group: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    for name, value in group.items():
        if isinstance(value, dict):
            yield from ((f"{name}, type {inner}", fact) for inner, fact in value.items())
        else:
            yield name, value


def _expressways(run: RunMeasurements) -> str:
    value = run.facts.get("expressways")
    return f"{value:g}" if isinstance(value, (int, float)) else "?"
