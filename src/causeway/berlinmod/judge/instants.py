"""NN answers checked at many instants: at each of them they must be those of the static query.

Instants are drawn evenly from the periods, and taken just before and after the ends of intervals.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from importlib import import_module
from random import Random
from typing import Any, Final

import pyarrow as pa

from causeway.berlinmod.judge.city import City
from causeway.berlinmod.judge.compare import Checked
from causeway.berlinmod.scans.source import Source

__all__ = ["check_at_instants"]

_DRAWN: Final = 12
"""Instants drawn for each period."""
_INTERVALS: Final = 40
"""Intervals of the answer, around whose ends it is looked."""
_NEAR: Final = 3.0
"""Milliseconds around an end within which nothing is said: ends are rounded."""
_SHOWN: Final = 5

Answers = dict[tuple[Any, ...], list[tuple[float, float]]]


def check_at_instants(source: Source, query: str, table: pa.Table) -> Checked:
    """Compare an answer with the brute force of the module that has the query's name."""
    module = import_module(f"{__package__}.static.{query}")
    city = City.load(source.dataset, source.aggregate)
    rows = table.to_pylist()
    answers: dict[Any, Answers] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        reference = tuple(_fixed(row[name]) for name in module.REFERENCE)
        who = tuple(_fixed(row[name]) for name in module.WHO)
        span = (row["Instant"], row["Instant"]) if "Instant" in row else (row["begin"], row["end"])
        answers[_period(row), reference][who].append(span)
    same = 0
    missing: list[Any] = []
    extra: list[Any] = []
    for period, t in _instants(city, rows):
        for reference, ranked in module.static(city, t).items():
            mine = answers.get((period, reference), {})
            found = {who for who, spans in mine.items() if any(b <= t <= e for b, e in spans)}
            open_: set[Any] = set() if "Instant" in table.column_names else _near_an_end(mine, t)
            missing += [(reference, who, t) for who in ranked.certain - found - open_]
            extra += [(reference, who, t) for who in found - ranked.possible - open_]
            same += len(found & ranked.possible)
    words = [f"missing at {t:.0f}: {who} for {reference}" for reference, who, t in missing[:_SHOWN]]
    words += [f"not expected at {t:.0f}: {who} for {reference}" for reference, who, t in extra[:_SHOWN]]
    return Checked(same, len(missing), len(extra), tuple(words))


def _fixed(value: Any) -> Any:
    return tuple(value.values()) if isinstance(value, dict) else value


def _period(row: dict[str, Any]) -> Any:
    if "Instant" in row:
        return row["Instant"]
    return (row["Period"]["begin"], row["Period"]["end"]) if "Period" in row else None


def _near_an_end(answers: Answers, t: float) -> set[Any]:
    return {
        who
        for who, spans in answers.items()
        if any(abs(t - b) <= _NEAR or abs(t - e) <= _NEAR for b, e in spans)
    }


def _instants(city: City, rows: list[dict[str, Any]]) -> Iterable[tuple[Any, float]]:
    """Periods, and instants in them; `None` stands for all the time."""
    first = min(times[0] for times, _, _ in city.histories.values())
    last = max(times[-1] for times, _, _ in city.histories.values())
    if rows and "Instant" in rows[0]:
        return [(row["Instant"], row["Instant"]) for row in city.rows("QueryInstants1")]
    chance = Random(1)
    periods: list[Any] = [None]
    if not rows or "Period" in rows[0]:
        periods = [(row["Period"]["begin"], row["Period"]["end"]) for row in city.rows("QueryPeriods1")]
    found: list[tuple[Any, float]] = []
    for period in periods:
        begin, end = (first, last) if period is None else (max(period[0], first), min(period[1], last))
        if begin < end:
            found += [(period, chance.uniform(begin, end)) for _ in range(_DRAWN)]
    for row in chance.sample(rows, min(_INTERVALS, len(rows))):
        period = _period(row)
        for t in (
            row["begin"] - 2 * _NEAR,
            row["begin"] + 2 * _NEAR,
            row["end"] - 2 * _NEAR,
            row["end"] + 2 * _NEAR,
        ):
            if (first <= t < last) and (period is None or period[0] <= t <= period[1]):
                found.append((period, t))
    return found
