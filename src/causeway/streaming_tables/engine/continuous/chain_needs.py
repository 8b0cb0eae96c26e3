"""What the rows of a chain must meet by themselves, so that most chains are ruled out without Spark.

The conditions are those of Spark's analyzed plan that compare a column of one row with constants. They are
necessary, not sufficient: Spark judges what is left by the whole statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final

import pyarrow as pa

from causeway.streaming_tables.engine.plans.conditions import Condition, Conditions, Disjunction
from causeway.streaming_tables.engine.plans.tree import PlanNode
from causeway.streaming_tables.engine.reads.relations import predicate_of
from causeway.streaming_tables.storage import CompiledPredicate, UnsupportedPredicate

__all__ = ["RowNeeds", "compiled_needs", "needs_of_aliases"]

RowNeeds = tuple[Disjunction, ...]
"""Conditions that a row must meet, all of them."""
_FARTHEST: Final = 10**12
"""Intervals that are added to NOW() are shorter than this many seconds."""


def needs_of_aliases(plan: PlanNode, aliases: Sequence[str], planning_now: int) -> tuple[RowNeeds, ...]:
    """For each alias of a chain, what its row must meet; `planning_now` stands for NOW() in the plan."""
    nodes = list(_above_views(plan))
    if sum(node.kind == "Project" for node in nodes) != 1:
        # The names of an inner SELECT are not those of the chain.
        return tuple(() for _ in aliases)
    filters = [
        condition for node in nodes if node.kind == "Filter" for condition in node.expressions("condition")
    ]
    attributes = [
        node for condition in filters for node in condition.walk() if node.kind == "AttributeReference"
    ]
    found = []
    for alias in aliases:
        columns = {
            node.expression_id: node.name
            for node in attributes
            if node.expression_id is not None and _qualifier(node) == alias and not node.name.startswith("__")
        }
        # Constants that depend on the time zone are left out below.
        reader = Conditions({number: name for number, name in columns.items() if number is not None}, "UTC")
        needs = (_fixed(reader.necessary(condition), planning_now) for condition in filters)
        found.append(tuple(one for one in needs if () not in one))
    return tuple(found)


def compiled_needs(needs: RowNeeds, schema: pa.Schema) -> list[CompiledPredicate]:
    """The same for rows of a table with these columns; what cannot be evaluated is left out."""
    names = {name.lower(): name for name in schema.names}
    compiled = []
    for disjunction in needs:
        own = tuple(
            tuple(
                Condition(names.get(one.column.lower(), one.column), one.operator, one.value) for one in group
            )
            for group in disjunction
        )
        predicate = predicate_of(own)
        try:
            if predicate is not None:
                compiled.append(CompiledPredicate(predicate, schema))
        except UnsupportedPredicate:
            continue
    return compiled


def _above_views(plan: PlanNode) -> Iterator[PlanNode]:
    yield plan
    if plan.kind != "View":
        for child in plan.children:
            yield from _above_views(child)


def _qualifier(attribute: PlanNode) -> str:
    return str(attribute.fields.get("qualifier")).strip("[]").lower()


def _fixed(needs: Disjunction, planning_now: int) -> Disjunction:
    """Without conditions whose constants are not the same at every tick."""

    def is_fixed(value: Any) -> bool:
        if isinstance(value, tuple):
            return all(is_fixed(item) for item in value)
        if isinstance(value, datetime):
            return False
        return not isinstance(value, int | float) or abs(value - planning_now) > _FARTHEST

    return tuple(tuple(one for one in conjunction if is_fixed(one.value)) for conjunction in needs)
