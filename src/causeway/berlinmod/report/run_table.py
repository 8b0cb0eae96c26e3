"""A run's figures as a table on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from causeway.berlinmod.runner.published import PUBLISHED_TOTALS

__all__ = ["range_total", "run_table", "scale_words", "verdict"]


def run_table(facts: Mapping[str, Any]) -> Table:
    """A line for each query and representation, and one for all of R where all of it was run."""
    dataset = facts["dataset"]
    title = f"BerlinMOD at {scale_words(dataset)}: {dataset['vehicles']:,} vehicles"
    table = Table(title=f"{title}, {dataset['units']:,} units", title_justify="left")
    for name in ("query", "", "check"):
        table.add_column(name)
    names = ("answers", "seconds", "first", "CPU s", "rows read", "MB read", "Table 12", "best published")
    for name in names:
        table.add_column(name, justify="right")
    for one in facts["queries"]:
        table.add_row(
            one["query"],
            one["representation"],
            verdict(one),
            f"{one['answers']:,}",
            f"{one['seconds']:.2f}",
            f"{one['first_seconds']:.2f}",
            f"{one['cpu_seconds']:.2f}",
            f"{one['rows_read']:,}",
            f"{one['bytes_read'] / 1e6:,.1f}",
            _seconds(one["table_12"]),
            _seconds(one["best_published"]),
        )
    for representation in ("oba", "tba"):
        total = range_total(facts["queries"], representation)
        if total is not None:
            best = PUBLISHED_TOTALS.get(dataset["scale"], {})
            paper = best.get(f"SECONDO 2009, {representation.upper()}")
            table.add_row(
                "all of R",
                representation,
                "",
                "",
                f"{total:.1f}",
                *[""] * 4,
                _seconds(paper),
                _seconds(min(best.values(), default=None)),
                style="bold",
            )
    return table


def scale_words(dataset: Mapping[str, Any]) -> str:
    """The scale of a data set; one that was imported, or has its own number of vehicles, has none."""
    return "no scale of the paper's" if dataset["scale"] is None else f"scale {dataset['scale']:g}"


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:,.1f}"


def verdict(one: Mapping[str, Any]) -> str:
    """What the checks of a query say, in a word."""
    checks = [check for check in (one.get("check"), one.get("agreement")) if check]
    if not checks:
        return ""
    return "passed" if all(check["passed"] for check in checks) else "FAILED"


def range_total(queries: Sequence[Mapping[str, Any]], representation: str) -> float | None:
    """Seconds of all 17 queries of R, or `None` if not all of them were run."""
    mine = {
        one["query"]: float(one["seconds"])
        for one in queries
        if one["representation"] == representation and int(one["query"][1:]) <= 17
    }
    return sum(mine.values()) if len(mine) == 17 else None
