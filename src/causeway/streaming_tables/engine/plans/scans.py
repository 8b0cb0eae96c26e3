"""Which rows and columns of streaming tables a statement needs, by Spark's own plan of it.

A statement is planned over empty relations with the tables' columns first. If its plan is nothing but a scan
of one table, the storage manager answers it. Otherwise the optimized plan tells what each relation is
filtered by, so that only files and rows that can match are given to Spark, which applies every filter again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from causeway.streaming_tables.engine.plans.conditions import Conditions, Disjunction, LongLists, constant
from causeway.streaming_tables.engine.plans.tree import PlanNode

__all__ = ["ALWAYS", "Scan", "needs_of_relations", "plain_scan", "relation_columns"]

ALWAYS: Final[Disjunction] = ((),)
"""Conditions that every row meets."""
_LIMIT: Final = 64


@dataclass(frozen=True)
class Scan:
    """A statement that only reads one table: columns with the names that they get, conditions, limit."""

    relation: str
    columns: tuple[tuple[str, str], ...]
    conditions: Disjunction
    limit: int | None


def relation_columns(plan: PlanNode) -> dict[int, tuple[str, str]]:
    """By attribute number: the relation and the column that it is, for every temporary view in the plan."""
    found: dict[int, tuple[str, str]] = {}
    for node in plan.walk():
        if node.kind != "View":
            continue
        leaf = node
        while len(leaf.children) == 1:
            leaf = leaf.children[0]
        name = node.fields["desc"]["identifier"]["table"]
        for attribute in leaf.expressions("output"):
            if attribute.expression_id is not None:
                found[attribute.expression_id] = (name.lower(), attribute.name)
    return found


def plain_scan(plan: PlanNode, time_zone: str) -> Scan | None:
    """The scan that an analyzed plan is, or None if there is anything else in it."""
    relations = relation_columns(plan)
    limit: int | None = None
    node = plan
    while node.kind in ("GlobalLimit", "LocalLimit"):
        (count,) = node.expressions("limitExpr")
        found = constant(count, "integer", time_zone)
        if found is None:
            return None
        limit = found if limit is None else min(limit, found)
        node = node.children[0]
    if node.kind != "Project":
        return None
    names: list[tuple[str, str]] = []
    used = set()
    for item in node.expressions("projectList"):
        attribute = item.children[0] if item.kind == "Alias" else item
        known = relations.get(-1 if attribute.expression_id is None else attribute.expression_id)
        if attribute.kind != "AttributeReference" or known is None:
            return None
        used.add(known[0])
        names.append((known[1], item.name))
    node = node.children[0]
    conditions = ALWAYS
    columns = {number: column for number, (_, column) in relations.items()}
    if node.kind == "Filter":
        (condition,) = node.expressions("condition")
        taken = Conditions(columns, time_zone).exact(condition)
        if taken is None:
            return None
        conditions = taken
        node = node.children[0]
    while node.kind == "SubqueryAlias":
        node = node.children[0]
    if node.kind != "View" or len({relation for relation, _ in relations.values()}) != 1 or not names:
        return None
    relation = node.fields["desc"]["identifier"]["table"].lower()
    return Scan(relation, tuple(names), conditions, limit) if used == {relation} else None


def needs_of_relations(analyzed: PlanNode, optimized: PlanNode, time_zone: str) -> dict[str, Disjunction]:
    """Conditions that the needed rows of each relation meet. Of a relation that is missing all are needed.

    Spark's optimizer may copy a relation under new attribute numbers. Such a copy is not recognized, so that
    nothing is known of any relation then.
    """
    relations = relation_columns(analyzed)
    columns = {number: column for number, (_, column) in relations.items()}
    conditions = Conditions(columns, time_zone, _long_lists(analyzed, time_zone))
    found: dict[str, Disjunction] = {}

    def descend(node: PlanNode, needed: Disjunction) -> None:
        for subquery in node.subqueries():
            descend(subquery, ALWAYS)
        relation = _relation_of(node, relations)
        if relation is not None:
            found[relation] = _union(found[relation], needed) if relation in found else needed
        elif node.kind == "Filter":
            (condition,) = node.expressions("condition")
            descend(node.children[0], conditions.necessary(condition))
        else:
            for child in node.children:
                descend(child, ALWAYS)

    for node in optimized.walk():
        if node.kind == "LogicalRDD" and _relation_of(node, relations) is None:
            return {}
    descend(optimized, ALWAYS)
    return found


def _relation_of(node: PlanNode, relations: Mapping[int, tuple[str, str]]) -> str | None:
    if node.children or node.kind == "AttributeReference":
        return None
    for attribute in node.expressions("output"):
        known = relations.get(-1 if attribute.expression_id is None else attribute.expression_id)
        if known is not None:
            return known[0]
    return None


def _long_lists(plan: PlanNode, time_zone: str) -> LongLists | None:
    """The constants of all `IN` lists of a statement; None if they cannot be known.

    Spark's optimizer copies a list from a column to those that the statement makes equal to it, so that a
    list in the optimized plan may be any of the statement's.
    """
    kinds: set[str] = set()
    values: dict[Any, None] = {}
    lists = [node for node in plan.walk() if node.kind == "In"]
    for node in lists:
        column, *items = node.children
        constants = [constant(item, column.data_type, time_zone) for item in items]
        if column.kind != "AttributeReference" or any(value is None for value in constants):
            return None
        kinds.add(column.data_type)
        values.update(dict.fromkeys(constants))
    return LongLists(kinds.pop(), tuple(values), len(lists) == 1) if len(kinds) == 1 else None


def _union(one: Disjunction, other: Disjunction) -> Disjunction:
    if () in one or () in other or len(one) + len(other) > _LIMIT:
        return ALWAYS
    return one + other
