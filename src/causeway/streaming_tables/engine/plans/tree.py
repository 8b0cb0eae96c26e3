"""Spark's logical plans as trees in Python, read from the plan's own JSON.

One call brings a whole plan, where walking it through the bridge to Java would take a call for each node.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from causeway.spark.internals import answer_at_once
from causeway.streaming_tables.engine.plans.spark_errors import unlogged

__all__ = ["PlanNode", "analyzed_plan", "optimized_plan", "optimized_plan_if_possible", "parse_plan"]


@dataclass(frozen=True)
class PlanNode:
    """An operator or expression, by the simple name of its class in Spark."""

    kind: str
    fields: dict[str, Any]
    children: tuple[PlanNode, ...] = field(default=())

    def expressions(self, name: str) -> list[PlanNode]:
        """The expressions in a field: one, or a list of them."""
        value = self.fields.get(name)
        if not isinstance(value, list) or not value:
            return []
        if isinstance(value[0], dict):
            return [_tree(value)]
        return [_tree(item) for item in value if isinstance(item, list) and item]

    def walk(self) -> Iterator[PlanNode]:
        """The node, all below it, and all in its fields: expressions, and plans of subqueries."""
        yield self
        for child in self.children:
            yield from child.walk()
        for value in self.fields.values():
            yield from _walk_field(value)

    def subqueries(self) -> list[PlanNode]:
        """The plans inside this operator's own expressions."""
        return [
            plan
            for value in self.fields.values()
            for expression in _walk_field(value)
            for plan in expression.expressions("plan")
        ]

    @property
    def expression_id(self) -> int | None:
        """The number by which Spark knows an attribute or alias."""
        identity = self.fields.get("exprId")
        return int(identity["id"]) if isinstance(identity, dict) else None

    @property
    def name(self) -> str:
        return str(self.fields.get("name", ""))

    @property
    def data_type(self) -> str:
        """The type of an expression in Spark's JSON, a simple name for simple types."""
        value = self.fields.get("dataType")
        return value if isinstance(value, str) else ""


def parse_plan(text: str) -> PlanNode:
    """The plan whose `toJSON` is `text`."""
    return _tree(json.loads(text))


def analyzed_plan(frame: Any) -> PlanNode:
    """The plan of a DataFrame with all names resolved, before any optimization."""
    answer_at_once(frame.sparkSession)
    return parse_plan(frame._jdf.queryExecution().analyzed().toJSON())


def optimized_plan(frame: Any) -> PlanNode:
    """The plan of a DataFrame after Spark's optimizer."""
    answer_at_once(frame.sparkSession)
    return parse_plan(frame._jdf.queryExecution().optimizedPlan().toJSON())


def optimized_plan_if_possible(frame: Any) -> PlanNode | None:
    """The same; None if a part of the statement fails that needs no row, as the user is told when it runs."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    try:
        with unlogged():
            return optimized_plan(frame)
    except (PySparkException, Py4JJavaError):
        return None


def _tree(nodes: list[Any]) -> PlanNode:
    """Nodes are listed in pre-order, each with the number of its children."""
    position = 0

    def build() -> PlanNode:
        nonlocal position
        node = nodes[position]
        position += 1
        children = tuple(build() for _ in range(int(node.get("num-children", 0))))
        return PlanNode(str(node.get("class", "")).rpartition(".")[2], node, children)

    return build()


def _walk_field(value: Any) -> Iterator[PlanNode]:
    if not isinstance(value, list) or not value:
        return
    if isinstance(value[0], dict) and "class" in value[0]:
        yield from _tree(value).walk()
    elif isinstance(value[0], list):
        for item in value:
            yield from _walk_field(item)
