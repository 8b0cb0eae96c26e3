"""Random conditions on columns: their text in Spark SQL, and their truth in plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

__all__ = ["COLUMNS", "Expression", "condition", "literal", "random_row"]

COLUMNS = {
    "i": "INT",
    "l": "BIGINT",
    "h": "SMALLINT",
    "d": "DOUBLE",
    "f": "FLOAT",
    "s": "STRING",
    "b": "BOOLEAN",
    "dt": "DATE",
    "dc": "DECIMAL(10,2)",
    "ts": "TIMESTAMP",
}

_VALUES: dict[str, list[Any]] = {
    "i": [None, -3, -1, 0, 1, 2, 3, 2**31 - 1, -(2**31)],
    "l": [None, -1, 0, 1, 7, 2**53 + 1, 2**63 - 1, -(2**63)],
    "h": [None, -5, 0, 5, 32767],
    "d": [None, float("nan"), -0.0, 0.0, 1.5, -1.5, 1e300, float("inf"), float("-inf"), 5e-324],
    "f": [None, float("nan"), -0.0, 0.0, 1.5, -2.25, float("inf")],
    "s": [None, "", "a", "A", "b", "ab", "ä", "z", "é", "e\u0301", "\uffff", "😀", "it's", "\\"],
    "b": [None, True, False],
    "dt": [None, date(1969, 12, 31), date(1970, 1, 1), date(2026, 11, 16), date(2024, 2, 29)],
    "dc": [None, Decimal("0.00"), Decimal("-1.50"), Decimal("1.50"), Decimal("99999999.99")],
    "ts": [
        None,
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(2026, 10, 25, 0, 30, tzinfo=UTC),
        datetime(2026, 10, 25, 1, 30, tzinfo=UTC),
        datetime(2026, 3, 29, 1, 0, 0, 1, tzinfo=UTC),
        datetime(2026, 1, 1, 12, 30, 15, 500_000, tzinfo=UTC),
    ],
}

Truth = bool | None


@dataclass(frozen=True)
class Expression:
    """A condition in Spark SQL and what it is for a row: true, false or unknown."""

    sql: str
    of: Callable[[dict[str, Any]], Truth]


def random_row(random: Random) -> dict[str, Any]:
    return {name: random.choice(values) for name, values in _VALUES.items()}


def literal(name: str, value: Any) -> str:
    """A value in Spark SQL, of the column's own type."""
    if value is None:
        return "NULL"
    if name in ("d", "f"):
        word = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        kind = COLUMNS[name]
        if math.isnan(value) or math.isinf(value):
            return f"{kind}('{word}')"
        return f"{value!r}D" if name == "d" else f"CAST({value!r} AS FLOAT)"
    if name == "s":
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"
    if name == "b":
        return str(value).lower()
    if name == "dt":
        return f"DATE'{value}'"
    if name == "ts":
        return f"TIMESTAMP'{value.strftime('%Y-%m-%d %H:%M:%S.%f')}+00:00'"
    if name == "dc":
        return f"{value}BD"
    if name == "l":
        return f"{value}L" if value > -(2**63) else "(-9223372036854775807L - 1L)"
    return f"{value}S" if name == "h" else str(value)


def _key(name: str, value: Any) -> Any:
    """A key that compares as Spark does: NaN is the largest and equals itself, strings by their bytes."""
    if name in ("d", "f"):
        return (1, 0.0) if math.isnan(value) else (0, value + 0.0)
    return value.encode() if name == "s" else value


def _compare(name: str, operator: str, constant: Any) -> Callable[[dict[str, Any]], Truth]:
    def of(row: dict[str, Any]) -> Truth:
        value = row[name]
        if value is None or constant is None:
            return None
        left, right = _key(name, value), _key(name, constant)
        return bool(
            {
                "=": left == right,
                "<>": left != right,
                "<": left < right,
                "<=": left <= right,
                ">": left > right,
                ">=": left >= right,
            }[operator]
        )

    return of


def _not(truth: Truth) -> Truth:
    return None if truth is None else not truth


def _and(one: Truth, other: Truth) -> Truth:
    return False if one is False or other is False else None if one is None or other is None else True


def _or(one: Truth, other: Truth) -> Truth:
    return _not(_and(_not(one), _not(other)))


def condition(random: Random, depth: int = 2) -> Expression:
    """A condition with AND, OR and NOT down to `depth`."""
    kind = random.randrange(4) if depth else 3
    if kind == 0:
        inner = condition(random, depth - 1)
        return Expression(f"NOT ({inner.sql})", lambda row: _not(inner.of(row)))
    if kind in (1, 2):
        left, right = condition(random, depth - 1), condition(random, depth - 1)
        word, truth = ("AND", _and) if kind == 1 else ("OR", _or)
        return Expression(
            f"({left.sql}) {word} ({right.sql})", lambda row: truth(left.of(row), right.of(row))
        )
    return _simple(random)


def _simple(random: Random) -> Expression:
    name = random.choice(list(_VALUES))
    known = [value for value in _VALUES[name] if value is not None]
    kind = random.randrange(7)
    if kind == 0:
        negated = random.random() < 0.5
        words = f"{name} IS {'NOT ' if negated else ''}NULL"
        return Expression(words, lambda row: (row[name] is None) != negated)
    if kind == 1 and name != "b":
        low, high = random.choice(known), random.choice(known)
        negated = random.random() < 0.3
        lower, upper = _compare(name, ">=", low), _compare(name, "<=", high)
        words = f"{name} {'NOT ' if negated else ''}BETWEEN {literal(name, low)} AND {literal(name, high)}"

        def between(row: dict[str, Any]) -> Truth:
            truth = _and(lower(row), upper(row))
            return _not(truth) if negated else truth

        return Expression(words, between)
    if kind == 2:
        values = [random.choice(_VALUES[name]) for _ in range(random.randint(1, 4))]
        if random.random() < 0.4:
            # More than ten constants: Spark's optimizer has another operator for these.
            values += _many(name, random)
        negated = random.random() < 0.3
        words = f"{name} {'NOT ' if negated else ''}IN ({', '.join(literal(name, one) for one in values)})"

        def among(row: dict[str, Any]) -> Truth:
            truth: Truth = False
            for one in values:
                truth = _or(truth, _compare(name, "=", one)(row))
            return _not(truth) if negated else truth

        return Expression(words, among)
    if kind == 3 and name == "b":
        return Expression("b", lambda row: row["b"])
    operator = random.choice(["=", "<>", "<", "<=", ">", ">="])
    if name == "b":
        operator = random.choice(["=", "<>"])
    value = random.choice(_VALUES[name] if random.random() < 0.1 else known)
    if random.random() < 0.3 and value is not None:
        mirrored = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(operator, operator)
        return Expression(f"{literal(name, value)} {mirrored} {name}", _compare(name, operator, value))
    return Expression(f"{name} {operator} {literal(name, value)}", _compare(name, operator, value))


def _many(name: str, random: Random) -> list[Any]:
    if name in ("i", "l", "h"):
        return [random.randint(-3, 30) for _ in range(12)]
    if name == "s":
        return [chr(random.randint(97, 122)) for _ in range(12)]
    if name == "dt":
        return [date(1969, 12, 31) + timedelta(days=random.randint(0, 30)) for _ in range(12)]
    if name == "d":
        return [random.randint(-3, 3) / 2 for _ in range(12)]
    return []
