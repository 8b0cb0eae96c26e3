"""Which columns of its relations a statement refers to, by Spark's analyzed plan of it.

Rows for many ticks go to Spark in a file, so that a column that nobody asks for costs as much as the others.
A column is referred to if the plan has it in an expression (the analyzer has replaced every `*` by columns),
or if its name stands in the statement: `SELECT * EXCEPT (a)` has no `a` in its plan, but needs it.
"""

from __future__ import annotations

from typing import Final

from causeway.streaming_tables.engine.plans.scans import relation_columns
from causeway.streaming_tables.engine.plans.tree import PlanNode
from causeway.streaming_tables.language.tokens import identifier_value, tokenize

__all__ = ["used_columns"]

_NAMES_ITS_COLUMNS: Final = {"Project", "Aggregate"}
"""Operators that give nothing of a relation but what is in their expressions."""
_PASSES_ON: Final = {"SubqueryAlias", "Filter", "Join", "Sort", "GlobalLimit", "LocalLimit"}
"""Operators that give all columns of their children, and use those in their expressions."""


def used_columns(plan: PlanNode, text: str) -> dict[str, set[str]]:
    """By relation (a temporary view, in lower case), the columns that the statement `text` refers to."""
    relations = relation_columns(plan)
    every: dict[str, set[str]] = {}
    for relation, column in relations.values():
        every.setdefault(relation, set()).add(column)
    named = {identifier_value(token).lower() for token in tokenize(text) if token.is_name}
    used = {
        relation: {column for column in columns if column.lower() in named}
        for relation, columns in every.items()
    }

    def descend(node: PlanNode, columns_are_named: bool) -> None:
        if node.kind == "View":
            if not columns_are_named:
                relation = str(node.fields["desc"]["identifier"]["table"]).lower()
                used[relation] = set(every[relation])
            return
        # Of a relation in a subquery these are all columns, as the walk goes down to the relation itself.
        for expression in PlanNode(node.kind, node.fields).walk():
            if expression.kind == "AttributeReference" and expression.expression_id in relations:
                relation, column = relations[expression.expression_id]
                used[relation].add(column)
        for child in node.children:
            descend(child, node.kind in _NAMES_ITS_COLUMNS or (columns_are_named and node.kind in _PASSES_ON))

    descend(plan, False)
    return used
