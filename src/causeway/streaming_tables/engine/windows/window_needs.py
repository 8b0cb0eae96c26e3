"""Which rows of its windows a statement needs, so that the others are not given to Spark.

Rows for many ticks go to Spark in a file, once for each tick. The optimized plan of the statement tells what
each window is filtered by. NOW() is a column of that plan, so that a condition with constants holds at every
tick. Spark applies all conditions again.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pyarrow as pa

from causeway.streaming_tables.engine.plans.conditions import Disjunction
from causeway.streaming_tables.engine.plans.scans import ALWAYS, needs_of_relations
from causeway.streaming_tables.engine.plans.tree import PlanNode
from causeway.streaming_tables.engine.reads.relations import predicate_of
from causeway.streaming_tables.engine.windows.window_state import TICK
from causeway.streaming_tables.storage import CompiledPredicate, UnsupportedPredicate

__all__ = ["needs_of_windows", "rows_that_can_meet"]


def needs_of_windows(
    analyzed: PlanNode, optimized: PlanNode, time_zone: str, relations: Mapping[int, str]
) -> dict[int, Disjunction]:
    """What the needed rows of each window meet at every tick; `relations` stand for the windows."""
    needs = needs_of_relations(analyzed, optimized, time_zone)
    return {number: _lasting(needs.get(name.lower(), ALWAYS)) for number, name in relations.items()}


def rows_that_can_meet(rows: pa.Table, conditions: Disjunction) -> pa.Table:
    """The rows without those that do not meet the conditions; all, if these cannot be evaluated here."""
    predicate = predicate_of(conditions)
    if predicate is None:
        return rows
    try:
        compiled = CompiledPredicate(predicate, rows.schema)
    except UnsupportedPredicate:
        return rows
    return rows.filter(pa.array(compiled.mask(rows)))


def _lasting(needs: Disjunction) -> Disjunction:
    """Without conditions on the tick, and those whose meaning changes with the session's time zone.

    The optimizer asks of every column that is compared with another that it is not NULL. That rules out
    few rows as a rule, and is left to Spark.
    """

    def lasts(value: Any) -> bool:
        return all(map(lasts, value)) if isinstance(value, tuple) else not isinstance(value, datetime)

    return tuple(
        tuple(
            one
            for one in conjunction
            if one.column != TICK and one.operator != "is not null" and lasts(one.value)
        )
        for conjunction in needs
    )
