"""The page that all benchmarks share: one HTML file that needs no network, its look, tiles and tables."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any, Final

from plotly.offline import get_plotlyjs

from causeway.report.plots import FIT_SCRIPT
from causeway.runtime.errors import UserError

__all__ = [
    "STYLE",
    "as_script_data",
    "headline_html",
    "mapping",
    "page_html",
    "section_html",
    "settings_html",
    "short",
    "table_html",
    "tile",
    "time_text",
    "value_text",
    "write_page",
]

STYLE: Final = """
body { margin: 0 auto; max-width: 1180px; padding: 28px 32px 48px; color: #0f172a; background: #fff;
       font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
h1 { font-size: 24px; margin: 0 0 2px; }
h2 { font-size: 18px; margin: 40px 0 2px; padding-top: 14px; border-top: 1px solid #e2e8f0; }
.facts, .remark { color: #64748b; margin: 0 0 4px; }
.tiles { display: grid; grid-template-columns: repeat(5, 1fr); gap: 12px; margin: 18px 0 8px; }
.tile { background: #f8fafc; border: 1px solid #e2e8f0; border-radius: 10px; padding: 10px 14px 12px; }
.tile b { display: block; font-size: 25px; line-height: 1.25; font-variant-numeric: tabular-nums; }
.tile span { color: #64748b; font-size: 13px; line-height: 1.35; display: block; }
.tile.holds { background: #f0fdf4; border-color: #bbf7d0; } .tile.holds b { color: #15803d; }
.tile.out { background: #fef2f2; border-color: #fecaca; } .tile.out b { color: #dc2626; }
.tile.open { background: #fffbeb; border-color: #fde68a; } .tile.open b { color: #b45309; }
.note { background: #fffbeb; border-left: 3px solid #d97706; padding: 5px 12px; margin: 6px 0;
        overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; margin-top: 8px; font-variant-numeric: tabular-nums; }
th { text-align: right; padding: 6px 8px 4px; border-bottom: 1px solid #cbd5e1; font-weight: 600;
     white-space: nowrap; }
td { padding: 4px 8px; border-bottom: 1px solid #eef2f7; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
.wide { overflow-x: auto; }
td.holds, p.holds { color: #15803d; } td.out, p.out { color: #dc2626; font-weight: 600; }
td.none { color: #94a3b8; }
ul.differences { list-style: none; padding: 0; margin: 8px 0; }
.differences li { display: flex; padding: 5px 0; border-bottom: 1px solid #eef2f7; overflow-wrap: anywhere; }
.differences b { flex: 0 0 96px; color: #dc2626; }
.settings { columns: 2; column-gap: 36px; margin-top: 6px; }
.settings section { break-inside: avoid; padding: 8px 0 10px; }
.settings h3 { font-size: 15px; margin: 0; }
.settings table { margin-top: 2px; }
.settings td { white-space: normal; overflow-wrap: anywhere; vertical-align: top; text-align: left; }
.settings td:first-child { color: #64748b; width: 42%; }
code { background: #f1f5f9; border-radius: 4px; padding: 1px 5px; font-size: 13.5px; }
@media (max-width: 900px) { .tiles { grid-template-columns: repeat(2, 1fr); } .settings { columns: 1; } }
@media (max-width: 600px) {
  body { padding: 18px 14px 32px; }
  .tile { padding: 8px 10px 9px; } .tile b { font-size: 20px; }
  .modebar-container { display: none; }
}
"""

_UNITS: Final = {"gib": "GiB", "ms": "ms", "seconds": "s", "mb": "MB"}


def page_html(title: str, body: str, style: str = "") -> str:
    """The whole page; plotly is in it."""
    return (
        "<!DOCTYPE html>\n"
        f'<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE}{style}</style>"
        '<script>window.PlotlyConfig = {MathJaxConfig: "local"};</script>'
        f"<script>{get_plotlyjs()}</script><script>{FIT_SCRIPT}</script></head><body>{body}</body></html>\n"
    )


def headline_html(title: str, facts: Iterable[str], tiles: Iterable[str], notes: Iterable[str]) -> str:
    """The top of a page: what was run on what, the figures that matter most, and warnings."""
    return (
        f'<h1>{escape(title)}</h1><p class="facts">{escape(" · ".join(facts))}</p>'
        f'<div class="tiles">{"".join(tiles)}</div>'
        + "".join(f'<p class="note">{escape(note)}</p>' for note in notes)
    )


def section_html(heading: str, html: str, name: str = "") -> str:
    """A heading and what stands under it; `name` is its id, for scripts and addresses."""
    return f"<h2{f' id={name}' if name else ''}>{escape(heading)}</h2>{html}"


def write_page(page: Path, html: str) -> Path:
    """Write the whole page or nothing."""
    unfinished = page.with_name(f".{page.name}-{os.getpid()}")
    try:
        unfinished.write_text(html, encoding="utf-8")
        unfinished.replace(page)
    except OSError as refused:
        raise UserError(f"{page} cannot be written: {refused.strerror or refused}") from refused
    finally:
        unfinished.unlink(missing_ok=True)
    return page


def tile(figure: str, words: str, style: str = "") -> str:
    """A figure in large type and what it means; `style` is holds, out or open."""
    return f'<div class="tile {style}"><b>{escape(figure)}</b><span>{escape(words)}</span></div>'


def table_html(headings: Iterable[str], rows: Iterable[str]) -> str:
    """A table of rows that are HTML cells; it scrolls where the screen is narrower."""
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>'


def settings_html(groups: Mapping[str, Mapping[str, Any]]) -> str:
    """Facts under headings; a heading without facts is left out."""
    sections = []
    for heading, group in groups.items():
        rows = [
            f"<td>{escape(_label(name))}</td><td>{escape(value_text(value))}</td>"
            for name, value in group.items()
        ]
        if rows:
            table = f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"
            sections.append(f"<section><h3>{escape(heading)}</h3>{table}</section>")
    return f'<div class="settings">{"".join(sections)}</div>'


def _label(name: str) -> str:
    """A fact's name in words, its unit in brackets. Names with a dot are Spark's and stay as they are."""
    if "." in name:
        return name
    words, _, unit = name.rpartition("_")
    if words and unit in _UNITS:
        name = f"{words} ({_UNITS[unit]})"
    return name.replace("_", " ")


def value_text(value: object) -> str:
    """A fact's value in words."""
    if value is None:
        return "—"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.6g}" if isinstance(value, float) else str(value)


def mapping(value: object) -> Mapping[str, Any]:
    """The facts under a name; empty where an interrupted run has not written them."""
    return value if isinstance(value, dict) else {}


def time_text(epoch: object) -> str | None:
    """Seconds since 1970 as a date and time in UTC."""
    if not isinstance(epoch, (int, float)):
        return None
    return datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def short(count: int) -> str:
    """A large number, rounded."""
    if count < 100_000:
        return f"{count:,}"
    return f"{count / 1e3:,.0f} thousand" if count < 999_500 else f"{count / 1e6:,.1f} million"


def as_script_data(value: object) -> str:
    """JSON that may stand inside a script element."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
