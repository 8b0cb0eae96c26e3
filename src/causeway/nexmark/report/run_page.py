"""A NEXMark run as one page that needs no network: the metrics of every query, and Figure 4 for each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

from causeway.nexmark.queries.files import query_number, query_text
from causeway.nexmark.report.plots import latency_overview, query_plot, throughput_overview
from causeway.nexmark.report.table import (
    LATENCIES,
    check_words,
    figure_words,
    known_columns,
    reject_words,
    result_table,
)
from causeway.report.page import (
    PLOT_CONFIG,
    as_script_data,
    mapping,
    page_html,
    settings_html,
    short,
    tile,
    write_page,
)
from causeway.runtime.errors import UserError

__all__ = ["result_table", "write_nexmark_page"]

Facts = Mapping[str, Any]

_STYLE: Final = """
.wide { overflow-x: auto; } .wide table { font-size: 14px; } .wide th, .wide td { padding: 4px 7px; }
.wide td:first-child { font-weight: 600; } .wide td.left, .wide th.left { text-align: left; }
td small { color: #64748b; font-weight: 400; font-size: 13px; }
th small { display: block; color: #64748b; font-weight: 400; }
.choice { display: flex; flex-wrap: wrap; gap: 6px; margin: 10px 0 4px; }
.choice button { font: inherit; font-size: 14px; border: 1px solid #cbd5e1; border-radius: 999px;
                 padding: 2px 13px; background: #fff; color: #0f172a; cursor: pointer; }
.choice button:hover { background: #f1f5f9; }
.choice button[aria-pressed=true] { background: #0f172a; border-color: #0f172a; color: #fff; }
#told { margin: 10px 0 0; min-height: 48px; } #told b { font-size: 16px; }
#told .metric { color: #b45309; font-weight: 600; }
tr.choosable { cursor: pointer; } tr.choosable:hover td { background: #f8fafc; }
"""

_NOTED_LATENESS: Final = 100
"""Milliseconds, as long as a slice is."""

_SCRIPT: Final = """
(() => {
  const queries = JSON.parse(document.getElementById("queries").textContent);
  const plot = document.getElementById("plot"), told = document.getElementById("told");
  const buttons = [...document.querySelectorAll(".choice button")];
  function choose(name) {
    const query = queries[name];
    if (!query) return;
    buttons.forEach(button => button.setAttribute("aria-pressed", button.dataset.query === name));
    told.innerHTML = query.words;
    Plotly.newPlot(plot, query.figure.data, query.figure.layout, CONFIG);
  }
  buttons.forEach(button => button.addEventListener("click", () => choose(button.dataset.query)));
  document.querySelectorAll("tr[data-query]").forEach(row => row.addEventListener("click", () => {
    choose(row.dataset.query);
    document.getElementById("one").scrollIntoView({behavior: "smooth"});
  }));
  const asked = decodeURIComponent(location.hash.slice(1));
  choose(queries[asked] ? asked : buttons[0].dataset.query);
})();
"""


def write_nexmark_page(run: Path) -> Path:
    """Write `report.html` into a run's folder, from its `result.json`; returns where it is.

    What a run has not measured, or not yet, is left out. A folder without a result is a `UserError`.
    """
    path = run / "result.json"
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(result, dict):
            raise ValueError("no object")
    except FileNotFoundError:
        raise UserError(f"{run} has no result.json: it is no folder of `causeway nexmark run`") from None
    except ValueError as unreadable:
        raise UserError(f"{path} is not what `causeway nexmark run` writes: {unreadable}") from None
    return write_page(run / "report.html", _page(result, run.absolute().name))


def _page(result: Facts, name: str) -> str:
    queries = [mapping(facts) for facts in result.get("queries") or [] if mapping(facts).get("query")]
    sections = [
        ("All queries", _table_section(result, queries)),
        ("Tuple Latency", _figure(latency_overview(queries))),
        ("Input Stream Rate", _figure(throughput_overview(queries))),
        ("Query by query", _query_section(result, queries)),
        ("Answers that differ", _differences_section(queries)),
        ("Settings", _settings_section(result)),
    ]
    body = "".join(
        f"<h2{' id=one' if heading == 'One query' else ''}>{heading}</h2>{html}"
        for heading, html in sections
        if html
    )
    return page_html(f"NEXMark: {name}", _headline(result, queries) + body, _STYLE)


def _headline(result: Facts, queries: Sequence[Facts]) -> str:
    machine, versions = mapping(result.get("machine")), mapping(result.get("versions"))
    facts = [
        f"{result.get('model', 'unknown')} model",
        f"rules: {result.get('rules', 'unknown')}",
        str(machine.get("processor", "unknown processor")),
        f"{machine.get('cores', '?')} cores, {machine.get('memory_gib', '?')} GiB",
        f"Spark {versions.get('pyspark', '?')} on {result.get('master', '?')}",
    ]
    tiles = [_check_tile(queries), _source_tile(result, queries), _rate_tile(queries)]
    tiles += [_latency_tile(queries), _matching_tile(queries)]
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in _notes(result, queries))
    return (
        f'<h1>NEXMark on Spark</h1><p class="facts">{escape(" · ".join(facts))}</p>'
        f'<div class="tiles">{"".join(tiles)}</div>{notes}'
    )


def _check_tile(queries: Sequence[Facts]) -> str:
    checked = [facts for facts in queries if mapping(facts.get("check"))]
    failed = [str(facts["query"]) for facts in checked if not facts["check"].get("passed")]
    if failed:
        return tile(f"{len(failed)} differ", f"from the batch statement: {', '.join(failed)}", "out")
    if not checked:
        return tile("not checked", "whether the answers are right is open", "open")
    if len(checked) < len(queries):
        return tile(f"{len(checked)} passed", f"of {len(queries)}; the others were not checked", "open")
    many = f"all {len(queries)} queries answer" if len(queries) > 1 else "the query answers"
    return tile("passed", f"{many} as the batch statement does", "holds")


def _source_tile(result: Facts, queries: Sequence[Facts]) -> str:
    source = mapping(result.get("source"))
    many = f"{len(queries)} quer{'y' if len(queries) == 1 else 'ies'}"
    if source.get("kind") == "generator":
        seconds = source.get("duration")
        lasting = f" for {seconds:g} s each" if isinstance(seconds, (int, float)) else ""
        return tile(many, f"from the firehose, {figure_words(source.get('rate'))} events/s{lasting}")
    events = max((int(facts.get("events") or 0) for facts in queries), default=0)
    return tile(many, f"over a folder, up to {short(events)} events, as fast as possible")


def _rate_tile(queries: Sequence[Facts]) -> str:
    rates = [float(facts["events_per_second"]) for facts in queries if facts.get("events_per_second")]
    if not rates:
        return tile("—", "events a second are not known yet")
    steady = any("latency" in facts for facts in queries)
    if steady or len(rates) == 1:
        return tile(f"{max(rates):,.0f}/s", "events, until the last one was answered")
    return tile(f"{min(rates):,.0f}/s", f"events of the slowest query; {max(rates):,.0f}/s of the fastest")


def _latency_tile(queries: Sequence[Facts]) -> str:
    timed = {str(facts["query"]): mapping(facts.get("latency")).get("p99") for facts in queries}
    known = {name: float(p99) for name, p99 in timed.items() if p99 is not None}
    if not known:
        return tile("—", "no latencies: the input was there before the queries began")
    best, worst = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
    told = f"p99 latency of {worst}, the slowest"
    if best != worst:
        told += f"; {known[best]:.2f} s of {best}"
    return tile(f"{known[worst]:.2f} s", told)


def _matching_tile(queries: Sequence[Facts]) -> str:
    found = [facts for facts in queries if mapping(facts.get("output_matching"))]
    if not found:
        events = sum(int(facts.get("events") or 0) for facts in queries)
        return tile(short(events), "events answered, all queries together")
    first = found[0]["output_matching"]
    told = f"{first['unit']} behind an ideal system, {found[0]['query']} on average: Output Matching"
    return tile(figure_words(first["metric"]), told)


def _notes(result: Facts, queries: Sequence[Facts]) -> Iterable[str]:
    if result.get("state") not in (None, "finished"):
        yield f"The run is not finished ({result['state']}): this is as far as it came."
    resumed = [str(facts["query"]) for facts in queries if facts.get("resumed")]
    if resumed:
        yield f"Taken up again after a break: {', '.join(resumed)}. The break counts as latency."
    lateness = {
        str(facts["query"]): float(mapping(facts.get("firehose")).get("worst_lateness_ms") or 0)
        for facts in queries
    }
    late = [f"{name} by up to {worst:,.0f} ms" for name, worst in lateness.items() if worst > _NOTED_LATENESS]
    if late:
        yield f"The firehose itself was late: {', '.join(late)}. Latencies count from when events were due."


def _table_section(result: Facts, queries: Sequence[Facts]) -> str:
    if not queries:
        return '<p class="remark">No query has been finished yet.</p>'
    columns = known_columns(queries)
    rejects = any(mapping(facts.get("rejects")) for facts in queries)
    head = "<th>query</th>" + "".join(
        f"<th{' class=left' if heading == 'Output Matching' else ''}>{escape(heading)}"
        f"{'<small>s</small>' if heading in LATENCIES else ''}</th>"
        for heading in columns
    )
    head += "<th>check</th>" + "<th>rejects</th>" * rejects
    rows = []
    for facts in queries:
        cells = [f"<td>{_named(result, facts)}</td>"]
        for heading, words in columns.items():
            told = words(facts)
            style = "none" if told == "—" else "left" if heading == "Output Matching" else ""
            cells.append(f'<td class="{style}">{escape(told)}</td>')
        verdict, word = check_words(facts)
        cells.append(f'<td class="{verdict}">{escape(word)}</td>')
        if rejects:
            told = reject_words(facts)
            cells.append(f'<td class="{"none" if told in ("0", "—") else "out"}">{escape(told)}</td>')
        rows.append(f'<tr class="choosable" data-query="{escape(str(facts["query"]))}">{"".join(cells)}</tr>')
    return f'{_table_remark(queries)}<div class="wide"><table><tr>{head}</tr>{"".join(rows)}</table></div>'


def _table_remark(queries: Sequence[Facts]) -> str:
    told = ["CPU is that of driver and workers together."]
    if any("p50" in mapping(facts.get("latency")) for facts in queries):
        told.append("Tuple Latency is from when an event was due to when its batch's answers were readable.")
    if any(mapping(facts.get("output_matching")) for facts in queries):
        told.append("Output Matching is the area between an ideal system's output and ours, divided by time.")
    warm_up = max(float(mapping(facts.get("firehose")).get("warm_up_seconds") or 0) for facts in queries)
    if warm_up:
        told.append(f"Neither counts the first {warm_up:g} s, the warm-up.")
    return f'<p class="remark">{escape(" ".join(told))}</p>'


def _named(result: Facts, facts: Facts) -> str:
    name = str(facts["query"])
    title = _title(str(result.get("model")), name)
    return f"{escape(name)} <small>{escape(title)}</small>"


def _title(model: str, name: str) -> str:
    """What a query is called, as its batch statement has it."""
    try:
        text = query_text(model, query_number(model, name), "batch") or ""
    except UserError:
        return ""
    title = text.partition("\n")[0].removeprefix("-- ").partition(":")[0]
    return title.partition(", ")[2] or title


def _query_section(result: Facts, queries: Sequence[Facts]) -> str:
    figures = {str(facts["query"]): (facts, query_plot(facts)) for facts in queries}
    known = {
        name: {
            "words": _query_words(result, facts),
            "figure": json.loads(figure.to_json()),
        }
        for name, (facts, figure) in figures.items()
        if figure is not None
    }
    if not known:
        return ""
    buttons = "".join(f'<button data-query="{escape(name)}">{escape(name)}</button>' for name in known)
    script = _SCRIPT.replace("CONFIG", json.dumps(dict(PLOT_CONFIG)))
    return (
        f'<div class="choice">{buttons}</div><p id="told"></p><div id="plot"></div>'
        f'<script type="application/json" id="queries">{as_script_data(known)}</script>'
        f"<script>{script}</script>"
    )


def _query_words(result: Facts, facts: Facts) -> str:
    told = f"<b>{_named(result, facts).replace('<small>', '').replace('</small>', '')}</b>"
    matching = mapping(facts.get("output_matching"))
    if matching:
        keys = matching.get("keys")
        over = f" ({keys:,} keys)" if isinstance(keys, int) and keys > 1 else ""
        told += (
            f'<br><span class="metric">Output Matching {figure_words(matching["metric"])} '
            f"{escape(str(matching['unit']))}</span>. {escape(str(matching.get('compared', '')))}{over}. "
            '<span class="remark">Where steps are many, the uppermost plot begins with an excerpt; '
            "a double click shows the whole.</span>"
        )
    return told


def _differences_section(queries: Sequence[Facts]) -> str:
    items = [
        f"<li><b>{escape(str(facts['query']))}</b><span>{escape(str(difference))}</span></li>"
        for facts in queries
        for difference in mapping(facts.get("check")).get("differences") or []
    ]
    return f'<p>The first of each query:</p><ul class="differences">{"".join(items)}</ul>' if items else ""


def _settings_section(result: Facts) -> str:
    plain = {name: value for name, value in result.items() if not isinstance(value, (dict, list))}
    return settings_html(
        {
            "Run": plain,
            "Asked for": mapping(result.get("settings")),
            "Source": mapping(result.get("source")),
            "Machine": mapping(result.get("machine")),
            "Versions": mapping(result.get("versions")),
        }
    )


def _figure(figure: Any) -> str:
    if figure is None:
        return ""
    html: str = figure.to_html(full_html=False, include_plotlyjs=False, config=dict(PLOT_CONFIG))
    return html
