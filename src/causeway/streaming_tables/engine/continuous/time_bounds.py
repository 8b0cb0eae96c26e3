"""Between which times the rows of its windows are that a statement needs, relative to NOW().

Spark's optimizer says so: it is asked what each relation is filtered by, with two different times in the
place of NOW().
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from causeway.streaming_tables.engine.catalog.moments import Moment
from causeway.streaming_tables.engine.continuous.chains import PLANNING_NOW
from causeway.streaming_tables.engine.plans.conditions import Condition, Disjunction
from causeway.streaming_tables.engine.plans.scans import ALWAYS, needs_of_relations
from causeway.streaming_tables.engine.plans.tree import PlanNode, analyzed_plan, optimized_plan_if_possible
from causeway.streaming_tables.engine.reads.relations import Relations
from causeway.streaming_tables.language import Query, WindowPiece
from causeway.streaming_tables.storage import Snapshot

__all__ = ["Bounds", "stubbed_text", "stubs_of_windows", "time_bounds", "unneeded_seconds"]

_OTHER_NOW: Final = PLANNING_NOW + 1_000_003
"""A bound that is the same for both times is relative to NOW(), and not to a minute or a constant."""

_WITHOUT_TABLE: Final = ("LocalRelation", "OneRowRelation")
"""Relations whose rows are in the plan."""


class Bounds(NamedTuple):
    """Of the times of a relation's rows, both ends included, relative to NOW(); None: no such bound."""

    low: int | None
    high: int | None


def stubs_of_windows(relations: Relations, query: Query, snapshots: Mapping[str, Snapshot]) -> dict[int, str]:
    """An empty relation for each window, by its number."""
    return {
        piece.index: relations.stub(
            f"{piece.table}_{piece.index}", snapshots[piece.table.lower()].definition.arrow_schema()
        )
        for piece in query.windows
    }


def stubbed_text(query: Query, stubs: Mapping[int, str], now: Callable[[int], str]) -> str:
    """The statement over these relations."""

    def window(piece: WindowPiece) -> str:
        return stubs[piece.index]

    return query.render(window, now)


def time_bounds(relations: Relations, query: Query, stubs: Mapping[int, str]) -> dict[int, Bounds]:
    """The bounds of each window's rows, by its number, for tables that count seconds."""
    found: list[dict[int, Bounds]] = []
    for now in (PLANNING_NOW, _OTHER_NOW):
        frame = relations.spark.sql(stubbed_text(query, stubs, Moment(now, "seconds").literal))
        optimized = optimized_plan_if_possible(frame)
        if optimized is None:
            return {piece.index: Bounds(None, None) for piece in query.windows}
        needs = needs_of_relations(analyzed_plan(frame), optimized, relations.time_zone)
        found.append(
            {
                piece.index: _bounds(needs.get(stubs[piece.index].lower(), ALWAYS), now, piece.info.time)
                for piece in query.windows
            }
        )
    one, other = found
    return {
        index: Bounds(
            one[index].low if one[index].low == other[index].low else None,
            one[index].high if one[index].high == other[index].high else None,
        )
        for index in one
    }


def unneeded_seconds(relations: Relations, query: Query, snapshots: Mapping[str, Snapshot]) -> int:
    """The answer at a tick does not depend on rows of that many seconds up to the tick's own.

    `WHERE T < NOW()` is one second. 0 for what is not known, and with a standard table, which counts as it is
    when the tick is answered.
    """
    pieces = query.windows
    if query.tables or query.prev_links or not query.uses_now or not pieces:
        return 0
    if any(piece.info.kind != "seconds" or piece.window.interval_us is None for piece in pieces):
        return 0
    stubs = stubs_of_windows(relations, query, snapshots)
    frame = relations.spark.sql(stubbed_text(query, stubs, Moment(PLANNING_NOW, "seconds").literal))
    if not _reads_only(analyzed_plan(frame), stubs.values()):
        return 0
    bounds = time_bounds(relations, query, stubs)
    highs = [bounds[piece.index].high for piece in pieces]
    return max(0, -max(0 if high is None else high for high in highs))


def _reads_only(plan: PlanNode, names: Iterable[str]) -> bool:
    """Whether a plan has no relations but these temporary views and constants."""
    known = {name.lower() for name in names}
    for node in plan.walk():
        if node.kind == "View" and str(node.fields["desc"]["identifier"]["table"]).lower() not in known:
            return False
        if "Relation" in node.kind and node.kind not in _WITHOUT_TABLE:
            return False
    return True


def _bounds(needs: Disjunction, now: int, time: str) -> Bounds:
    """What the conditions that rows meet say of their time, relative to `now`."""
    found = [_conjunction_bounds(conjunction, time) for conjunction in needs]
    lows = [low for low, _ in found if low is not None]
    highs = [high for _, high in found if high is not None]
    return Bounds(
        min(lows) - now if lows and len(lows) == len(found) else None,
        max(highs) - now if highs and len(highs) == len(found) else None,
    )


def _conjunction_bounds(conjunction: tuple[Condition, ...], time: str) -> tuple[int | None, int | None]:
    lows: list[int] = []
    highs: list[int] = []
    for one in conjunction:
        if one.column.lower() != time.lower():
            continue
        if one.operator in ("=", ">=", ">"):
            lows.append(one.value + (one.operator == ">"))
        if one.operator in ("=", "<=", "<"):
            highs.append(one.value - (one.operator == "<"))
    return max(lows, default=None), min(highs, default=None)
