"""A NEXMark run as one page that needs no network: the metrics of every query, and Figure 4 for each."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

import plotly.graph_objects as go

from causeway.nexmark.queries.files import query_title
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
    as_script_data,
    headline_html,
    mapping,
    page_html,
    section_html,
    settings_html,
    short,
    tile,
    write_page,
)
from causeway.report.plots import figure_html
from causeway.runtime.errors import UserError

__all__ = ["result_table", "write_nexmark_page"]

Facts = Mapping[str, Any]

_STYLE: Final = """
.wide table { font-size: 14px; } .wide th, .wide td { padding: 4px 7px; }
.wide td:first-child { font-weight: 600; } .wide td.left, .wide th.left { text-align: left; }
td small { color: #64748b; font-weight: 400; font-size: 13px; }
th small { display: block; color: #64748b; font-weight: 400; }
.choice { display: flex; flex-wrap: wrap; gap: 6px; margin: 10px 0 4px; }
.choice button { font: inherit; font-size: 14px; border: 1px solid #cbd5e1; border-radius: 999px;
                 padding: 2px 13px; background: #fff; color: #0f172a; cursor: pointer; }
.choice button:hover { background: #f1f5f9; }
.choice button[aria-pressed=true] { background: #0f172a; border-color: #0f172a; color: #fff; }
#query-words { margin: 10px 0 0; min-height: 48px; } #query-words b { font-size: 16px; }
#query-words .metric { color: #b45309; font-weight: 600; }
tr.choosable { cursor: pointer; } tr.choosable:hover td { background: #f8fafc; }
"""

_NOTED_LATENESS: Final = 100
"""Milliseconds, as long as a slice is."""

_SCRIPT: Final = """
(() => {
  const queries = JSON.parse(document.getElementById("queries").textContent);
  const plot = document.getElementById("plot"), words = document.getElementById("query-words");
  const buttons = [...document.querySelectorAll(".choice button")];
  function choose(name) {
    const query = queries[name];
    if (!query) return;
    buttons.forEach(button => button.setAttribute("aria-pressed", button.dataset.query === name));
    words.innerHTML = query.words;
    drawPlot(plot, query.figure.data, query.figure.layout);
  }
  buttons.forEach(button => button.addEventListener("click", () => choose(button.dataset.query)));
  document.querySelectorAll("tr[data-query]").forEach(row => row.addEventListener("click", () => {
    choose(row.dataset.query);
    document.getElementById("query").scrollIntoView({behavior: "smooth"});
  }));
  const requested = decodeURIComponent(location.hash.slice(1));
  choose(queries[requested] ? requested : buttons[0].dataset.query);
})();
"""


def write_nexmark_page(run: Path) -> Path:
    """Write `report.html` into a run's folder, from its `result.json`; returns where it is.

    Measurements that the run does not have (yet) are left out. Raises a `UserError` for a folder without a
    result.
    """
    path = run / "result.json"
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(result, dict):
            raise ValueError("no object")
    except FileNotFoundError:
        raise UserError(f"{run} has no result.json: it is not a folder of `causeway nexmark run`") from None
    except ValueError as unreadable:
        raise UserError(f"{path} is not what `causeway nexmark run` writes: {unreadable}") from None
    return write_page(run / "report.html", _page(result, run.absolute().name))


def _page(result: Facts, name: str) -> str:
    queries = [mapping(facts) for facts in result.get("queries") or [] if mapping(facts).get("query")]
    plots = {str(facts["query"]): plot for facts in queries if (plot := query_plot(facts)) is not None}
    sections = [
        ("All queries", _table_section(result, queries, set(plots)), ""),
        ("Tuple Latency", figure_html(latency_overview(queries), "latencies"), ""),
        ("Input Stream Rate", figure_html(throughput_overview(queries), "rates"), ""),
        ("Query by query", _query_section(result, queries, plots), "query"),
        ("Answers that differ", _differences_section(queries), ""),
        ("Settings", _settings_section(result), ""),
    ]
    body = "".join(section_html(heading, html, name) for heading, html, name in sections if html)
    return page_html(f"NEXMark: {name}", _headline(result, queries) + body, _STYLE)


def _headline(result: Facts, queries: Sequence[Facts]) -> str:
    machine, versions = mapping(result.get("machine")), mapping(result.get("versions"))
    facts = [
        f"{result.get('model', 'unknown')} model",
        f"rules: {result.get('rules', 'unknown')}",
        f"engine: {result.get('engine', 'columnar')}",
        str(machine.get("processor", "unknown processor")),
        f"{machine.get('cores', '?')} cores, {machine.get('memory_gib', '?')} GiB",
        f"Spark {versions.get('pyspark', '?')} on {result.get('master', '?')}",
    ]
    tiles = [_check_tile(queries), _source_tile(result, queries), _rate_tile(queries)]
    tiles += [_latency_tile(queries), _matching_tile(queries)]
    return headline_html("NEXMark on Spark", facts, tiles, _notes(result, queries))


def _check_tile(queries: Sequence[Facts]) -> str:
    checked = [facts for facts in queries if mapping(facts.get("check"))]
    failed = [str(facts["query"]) for facts in checked if not facts["check"].get("passed")]
    if failed:
        verb = "differs" if len(failed) == 1 else "differ"
        return tile(f"{len(failed)} {verb}", f"from the batch statement: {', '.join(failed)}", "out")
    if not checked:
        return tile("not checked", "it is not known whether the answers are right", "open")
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
        return tile("—", "events per second are not known yet")
    steady = any("latency" in facts for facts in queries)
    if steady or len(rates) == 1:
        return tile(f"{max(rates):,.0f}/s", "events, measured until the last one was answered")
    return tile(f"{min(rates):,.0f}/s", f"events of the slowest query; {max(rates):,.0f}/s of the fastest")


def _latency_tile(queries: Sequence[Facts]) -> str:
    timed = {str(facts["query"]): mapping(facts.get("latency")).get("p99") for facts in queries}
    known = {name: float(p99) for name, p99 in timed.items() if p99 is not None}
    if not known:
        return tile("—", "no latencies: the input was there before the queries began")
    best, worst = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
    words = f"p99 latency of {worst}, the slowest"
    if best != worst:
        words += f"; {known[best]:.2f} s of {best}, the fastest"
    return tile(f"{known[worst]:.2f} s", words)


def _matching_tile(queries: Sequence[Facts]) -> str:
    found = [facts for facts in queries if mapping(facts.get("output_matching"))]
    if not found:
        events = sum(int(facts.get("events") or 0) for facts in queries)
        return tile(short(events), "events answered, all queries together")
    first = found[0]["output_matching"]
    words = f"{first['unit']}: Output Matching of {found[0]['query']}, its mean distance to an ideal system"
    return tile(figure_words(first["metric"]), words)


def _notes(result: Facts, queries: Sequence[Facts]) -> Iterable[str]:
    if result.get("state") not in (None, "finished"):
        yield f"The run is not finished ({result['state']}): the page shows how far it has come."
    resumed = [str(facts["query"]) for facts in queries if facts.get("resumed")]
    if resumed:
        yield f"Resumed after an interruption: {', '.join(resumed)}. The interruption counts as latency."
    lateness = {
        str(facts["query"]): float(mapping(facts.get("firehose")).get("worst_lateness_ms") or 0)
        for facts in queries
    }
    late = [f"{name} by up to {worst:,.0f} ms" for name, worst in lateness.items() if worst > _NOTED_LATENESS]
    if late:
        yield f"The firehose itself was late: {', '.join(late)}. Latencies count from when events were due."


def _table_section(result: Facts, queries: Sequence[Facts], plotted: Collection[str]) -> str:
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
            text = words(facts)
            style = "none" if text == "—" else "left" if heading == "Output Matching" else ""
            cells.append(f'<td class="{style}">{escape(text)}</td>')
        verdict, word = check_words(facts)
        cells.append(f'<td class="{verdict}">{escape(word)}</td>')
        if rejects:
            text = reject_words(facts)
            cells.append(f'<td class="{"none" if text in ("0", "—") else "out"}">{escape(text)}</td>')
        name = str(facts["query"])
        choosable = f' class="choosable" data-query="{escape(name)}"' if name in plotted else ""
        rows.append(f"<tr{choosable}>{''.join(cells)}</tr>")
    return f'{_table_remark(queries)}<div class="wide"><table><tr>{head}</tr>{"".join(rows)}</table></div>'


def _table_remark(queries: Sequence[Facts]) -> str:
    remarks = ["CPU time is that of Spark's driver and its Python workers together."]
    if any("p50" in mapping(facts.get("latency")) for facts in queries):
        remarks.append(
            "Tuple Latency is the time from when an event was due until its batch's answers were readable."
        )
    if any(mapping(facts.get("output_matching")) for facts in queries):
        remarks.append(
            "Output Matching is the area between an ideal system's output and ours, divided by the time."
        )
    warm_up = max(float(mapping(facts.get("firehose")).get("warm_up_seconds") or 0) for facts in queries)
    if warm_up:
        remarks.append(f"Both leave out the warm-up, the first {warm_up:g} s.")
    return f'<p class="remark">{escape(" ".join(remarks))}</p>'


def _named(result: Facts, facts: Facts) -> str:
    name = str(facts["query"])
    title = query_title(str(result.get("model")), name)
    return f"{escape(name)} <small>{escape(title)}</small>"


def _query_section(result: Facts, queries: Sequence[Facts], plots: Mapping[str, go.Figure]) -> str:
    known = {
        name: {"words": _query_words(result, facts), "figure": json.loads(plots[name].to_json())}
        for facts in queries
        if (name := str(facts["query"])) in plots
    }
    if not known:
        return ""
    buttons = "".join(f'<button data-query="{escape(name)}">{escape(name)}</button>' for name in known)
    return (
        f'<div class="choice">{buttons}</div><p id="query-words"></p><div id="plot"></div>'
        f'<script type="application/json" id="queries">{as_script_data(known)}</script>'
        f"<script>{_SCRIPT}</script>"
    )


def _query_words(result: Facts, facts: Facts) -> str:
    words = f"<b>{_named(result, facts).replace('<small>', '').replace('</small>', '')}</b>"
    matching = mapping(facts.get("output_matching"))
    if matching:
        keys = matching.get("keys")
        over = f" ({keys:,} keys)" if isinstance(keys, int) and keys > 1 else ""
        words += (
            f'<br><span class="metric">Output Matching {figure_words(matching["metric"])} '
            f"{escape(str(matching['unit']))}</span>. {escape(str(matching.get('compared', '')))}{over}. "
            '<span class="remark">Where there are many steps, the first plot shows an excerpt; '
            "double-click it to see all.</span>"
        )
    return words


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
            "Requested settings": mapping(result.get("settings")),
            "Source": mapping(result.get("source")),
            "Machine": mapping(result.get("machine")),
            "Versions": mapping(result.get("versions")),
        }
    )
