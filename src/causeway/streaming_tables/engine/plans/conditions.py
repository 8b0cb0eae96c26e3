"""What a plan asks of a table: conditions on its columns, read from Spark's expressions.

Only conditions whose meaning is the same in the storage manager and in Spark are taken: a column compared
with constants of its own type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from itertools import product
from typing import Any, Final
from zoneinfo import ZoneInfo

from causeway.streaming_tables.engine.plans.tree import PlanNode

__all__ = ["Condition", "Conditions", "Disjunction", "LongLists", "constant"]

_LIMIT: Final = 64
"""The most conjunctions that a condition may be multiplied out to."""
_MIRRORED: Final = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_OPERATORS: Final = {
    "EqualTo": "=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
}
_OPPOSITE: Final = {"=": "!=", "!=": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_INTEGERS: Final = {"byte": 8, "short": 16, "integer": 32, "long": 64}


@dataclass(frozen=True)
class Condition:
    """`column operator value`; the value is a tuple for `in`, and None for `is null` and `is not null`."""

    column: str
    operator: str
    value: Any = None


Disjunction = tuple[tuple[Condition, ...], ...]
"""Conjunctions of which at least one must hold. One empty conjunction always holds."""


class _NotTakenError(Exception):
    """An expression that the storage manager does not evaluate."""


@dataclass(frozen=True)
class LongLists:
    """The constants of a statement's `IN` lists, all of one type."""

    kind: str
    values: tuple[Any, ...]
    is_one: bool
    """Whether they are those of one list. Otherwise a list has some of them."""


@dataclass(frozen=True)
class Conditions:
    """Reads conditions on one table's columns: the expression numbers of its attributes, and their names."""

    columns: Mapping[int, str]
    time_zone: str
    long_lists: LongLists | None = None
    """For optimized plans, whose JSON leaves out the constants of long lists."""

    def exact(self, expression: PlanNode) -> Disjunction | None:
        """The expression as conditions, or None if a part of it cannot be taken."""
        try:
            return self._read(expression, negated=False)
        except _NotTakenError:
            return None

    def necessary(self, expression: PlanNode) -> Disjunction:
        """Conditions that hold wherever the expression does; parts that cannot be taken are left out."""
        if expression.kind == "And":
            left, right = (self.necessary(child) for child in expression.children)
            try:
                return _both(left, right)
            except _NotTakenError:
                return left
        if expression.kind == "Or":
            left, right = (self.necessary(child) for child in expression.children)
            return ((),) if () in left or () in right else _either(left, right)
        return self.exact(expression) or ((),)

    def _read(self, expression: PlanNode, *, negated: bool) -> Disjunction:
        kind, children = expression.kind, expression.children
        if kind == "Not":
            return self._read(children[0], negated=not negated)
        if kind in ("And", "Or"):
            left, right = (self._read(child, negated=negated) for child in children)
            return _both(left, right) if (kind == "And") != negated else _either(left, right)
        if kind == "Between":
            return self._between(expression, negated)
        if kind in ("IsNull", "IsNotNull"):
            missing = (kind == "IsNull") != negated
            return ((Condition(self._column(children[0])[0], "is null" if missing else "is not null"),),)
        if kind in ("In", "InSet"):
            return self._in(expression, negated)
        if kind in _OPERATORS:
            return self._comparison(_OPERATORS[kind], children[0], children[1], negated)
        if kind == "AttributeReference" and expression.data_type == "boolean":
            return ((Condition(self._column(expression)[0], "=", not negated),),)
        raise _NotTakenError

    def _comparison(self, operator: str, left: PlanNode, right: PlanNode, negated: bool) -> Disjunction:
        if left.kind != "AttributeReference":
            left, right, operator = right, left, _MIRRORED[operator]
        column, kind = self._column(left)
        value = self._constant(right, kind)
        return ((Condition(column, _OPPOSITE[operator] if negated else operator, value),),)

    def _between(self, expression: PlanNode, negated: bool) -> Disjunction:
        (column_node,), (lower,), (upper,) = (
            expression.expressions(name) for name in ("input", "lower", "upper")
        )
        column, kind = self._column(column_node)
        bounds = (
            Condition(column, "<" if negated else ">=", self._constant(lower, kind, widen=True)),
            Condition(column, ">" if negated else "<=", self._constant(upper, kind, widen=True)),
        )
        return tuple((bound,) for bound in bounds) if negated else (bounds,)

    def _in(self, expression: PlanNode, negated: bool) -> Disjunction:
        column, kind = self._column(expression.children[0])
        if expression.kind == "InSet":
            known = self.long_lists
            if known is None or known.kind != kind or (negated and not known.is_one):
                raise _NotTakenError
            values = known.values
        else:
            values = tuple(self._constant(item, kind) for item in expression.children[1:])
        if negated:
            return (tuple(Condition(column, "!=", value) for value in values),)
        return ((Condition(column, "in", values),),)

    def _column(self, node: PlanNode) -> tuple[str, str]:
        number = node.expression_id
        if node.kind != "AttributeReference" or number is None or number not in self.columns:
            raise _NotTakenError
        if not node.data_type:
            raise _NotTakenError
        return self.columns[number], node.data_type

    def _constant(self, node: PlanNode, kind: str, *, widen: bool = False) -> Any:
        value = constant(node, kind, self.time_zone, widen=widen)
        if value is None:
            raise _NotTakenError
        return value


def constant(node: PlanNode, kind: str, time_zone: str, *, widen: bool = False) -> Any:
    """The value of a constant of type `kind`, or None if it is none, is NULL, or not exactly of that type.

    Spark's analyzer wraps a constant into a cast to the column's type; casts between whole numbers, and from
    them to fractions that can hold them, are followed. `widen` does the same without the cast.
    """
    if node.kind == "Cast" and node.data_type == kind and node.children[0].kind == "Literal":
        return constant(node.children[0], kind, time_zone, widen=True)
    text = node.fields.get("value")
    if node.kind != "Literal" or not isinstance(text, str):
        return None
    found = node.data_type
    if found != kind:
        if not widen or found not in _INTEGERS:
            return None
        if kind in _INTEGERS:
            bits = _INTEGERS[kind]
            return int(text) if -(1 << (bits - 1)) <= int(text) < 1 << (bits - 1) else None
        return float(text) if kind == "double" and abs(int(text)) <= 1 << 53 else None
    reader = _READERS.get("decimal" if kind.startswith("decimal") else kind)
    try:
        return None if reader is None else reader(text, time_zone)
    except (ValueError, InvalidOperation):
        return None


def _timestamp(text: str, time_zone: str) -> datetime:
    found = datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(time_zone))
    if found.utcoffset() != found.replace(fold=1).utcoffset():
        raise ValueError("an hour that the clocks show twice")
    return found


_READERS: Final[dict[str, Callable[[str, str], Any]]] = {
    **{name: (lambda text, _: int(text)) for name in _INTEGERS},
    "double": lambda text, _: float(text.replace("Infinity", "inf")),
    "string": lambda text, _: text,
    "boolean": lambda text, _: {"true": True, "false": False}[text],
    "date": lambda text, _: date.fromisoformat(text),
    "timestamp": _timestamp,
    "decimal": lambda text, _: Decimal(text),
}


def _both(left: Disjunction, right: Disjunction) -> Disjunction:
    if len(left) * len(right) > _LIMIT:
        raise _NotTakenError
    return tuple(one + other for one, other in product(left, right))


def _either(left: Disjunction, right: Disjunction) -> Disjunction:
    if len(left) + len(right) > _LIMIT:
        raise _NotTakenError
    return left + right
