"""A table as a plain list of rows: what the storage must hold, said in another way."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa

from causeway.streaming_tables.storage import (
    SEQ,
    ColumnDefinition,
    Comparison,
    Predicate,
    TableDefinition,
    TimeDefinition,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

VALUES: dict[str, list[Any]] = {
    "tinyint": [-128, -1, 0, 3, 127],
    "smallint": [-300, 0, 7, 300],
    "int": [-(2**31), -5, 0, 1, 2, 3, 2**31 - 1],
    "bigint": [-(2**63), -1, 0, 5, 2**53 + 1, 2**63 - 1],
    "float": [0.0, -0.0, 1.5, -2.25, math.inf, -math.inf, math.nan],
    "double": [0.0, -0.0, 0.1, -2.25, 1e300, math.inf, -math.inf, math.nan],
    "string": ["", "a", "ab", "b", "z", "é", "ä", "\uffee", "\U0001f600", "a\x00b"],
    "boolean": [True, False],
    "date": [date(1969, 12, 31), date(1970, 1, 1), date(2024, 2, 29)],
    "timestamp": [EPOCH - timedelta(microseconds=1), EPOCH, EPOCH + timedelta(days=9, microseconds=7)],
    "decimal(10,2)": [Decimal("-99999999.99"), Decimal("-0.01"), Decimal("0.00"), Decimal("12.50")],
    "binary": [b"", b"\x00", b"\x7f", b"\x80", b"ab"],
}
COLUMNS = tuple(ColumnDefinition(f"c_{kind.partition('(')[0]}", kind) for kind in VALUES)
OPERATORS = ("=", "!=", "<", "<=", ">", ">=", "in", "is null", "is not null")


def table_definition(kind: str = "seconds", **others: Any) -> TableDefinition:
    unit = 1 if kind == "seconds" else 1_000_000
    facts = {"range": 40 * unit, "slack": 0, "compartment": 10 * unit, **others}
    return TableDefinition("t", COLUMNS, TimeDefinition("T", kind), **facts)  # type: ignore[arg-type]


def sort_key(value: Any) -> Any:
    """A value so that Python's order and equality are Spark's."""
    if isinstance(value, float):
        return (1, 0.0) if math.isnan(value) else (0, value)
    if isinstance(value, str):
        return value.encode()
    return value


def is_true(row: dict[str, Any], comparison: Comparison) -> bool:
    value, op = row[comparison.column], comparison.op
    if op == "is null":
        return value is None
    if value is None or op == "is not null":
        return op == "is not null" and value is not None
    constants = list(comparison.value) if op == "in" else [comparison.value]
    own = sort_key(value)
    others = [sort_key(constant) for constant in constants if constant is not None]
    return any(
        {
            "=": own == other,
            "in": own == other,
            "!=": own != other,
            "<": own < other,
            "<=": own <= other,
            ">": own > other,
            ">=": own >= other,
        }[op]
        for other in others
    )


def holds(row: dict[str, Any], predicate: Predicate | None) -> bool:
    if predicate is None:
        return True
    return any(all(is_true(row, comparison) for comparison in group) for group in predicate.any_of)


def random_comparison(chance: random.Random, definition: TableDefinition, newest: int | None) -> Comparison:
    if chance.random() < 0.2:
        tick = (newest or 0) - chance.randint(-2, 20) * definition.time.second
        moments = [tick, tick + 3, tick - 11 * definition.time.second]
        values = [moment if definition.time.kind == "seconds" else time_value(moment) for moment in moments]
        name = definition.time.name
    else:
        column = chance.choice(COLUMNS)
        name, values = column.name, [*VALUES[column.type], None]
    op = chance.choice(OPERATORS)
    if op == "in":
        return Comparison(name, op, [chance.choice(values) for _ in range(chance.randint(0, 4))])
    return Comparison(name, op, None if op.startswith("is") else chance.choice(values))


def random_predicate(
    chance: random.Random, definition: TableDefinition, newest: int | None
) -> Predicate | None:
    if chance.random() < 0.2:
        return None
    groups = [
        tuple(random_comparison(chance, definition, newest) for _ in range(chance.randint(0, 3)))
        for _ in range(chance.choice([0, 1, 1, 1, 1, 2, 3]))
    ]
    return Predicate(tuple(groups))


def time_value(tick: int) -> datetime:
    return EPOCH + timedelta(microseconds=tick)


def random_values(chance: random.Random) -> dict[str, Any]:
    return {
        column.name: None if chance.random() < 0.1 else chance.choice(VALUES[column.type])
        for column in COLUMNS
    }


def plain_rows(table: pa.Table, definition: TableDefinition) -> list[dict[str, Any]]:
    """Rows with the time as ticks, in the order of their arrival numbers if they have them."""
    place = table.schema.get_field_index(definition.time.name)
    if place >= 0 and definition.time.kind == "timestamp":
        ticks = table.column(place).cast(pa.timestamp("us", "UTC")).cast(pa.int64())
        table = table.set_column(place, definition.time.name, ticks)
    rows: list[dict[str, Any]] = table.to_pylist()
    return sorted(rows, key=lambda row: row[SEQ]) if SEQ in table.schema.names else rows


def comparable(rows: list[dict[str, Any]]) -> list[str]:
    """Rows as text: NaN equals itself there, and -0.0 is not 0.0."""
    return [
        repr(
            [
                (name, value.timestamp() if isinstance(value, datetime) else value)
                for name, value in sorted(row.items())
            ]
        )
        for row in rows
    ]


@dataclass
class Oracle:
    """All rows that were accepted and not deleted, and the table's time."""

    definition: TableDefinition
    rows: list[dict[str, Any]] = field(default_factory=list)
    late: list[dict[str, Any]] = field(default_factory=list)
    rejected: int = 0
    accepted: int = 0
    newest: int | None = None
    floor: int | None = None
    ended: bool = False
    batches: dict[str, int] = field(default_factory=dict)

    def append(self, rows: list[dict[str, Any]], rejected: int = 0, advance_to: int | None = None) -> None:
        for row in rows:
            tick = row["T"]
            too_late = self.newest is not None and tick < self.newest - self.definition.slack
            if too_late or (self.floor is not None and tick <= self.floor):
                self.late.append(row)
            else:
                self.rows.append({**row, SEQ: self.accepted})
                self.accepted += 1
                self.ended = False
            self.newest = tick if self.newest is None else max(self.newest, tick)
        self.rejected += rejected
        if advance_to is not None:
            self.newest = advance_to if self.newest is None else max(self.newest, advance_to)
            self.floor = advance_to if self.floor is None else max(self.floor, advance_to)

    def close_time(self) -> None:
        self.ended = True
        if self.newest is not None:
            self.floor = self.newest if self.floor is None else max(self.floor, self.newest)

    def closed(self) -> int | None:
        known = [] if self.newest is None else [self.newest - self.definition.slack - 1]
        known += [] if self.floor is None else [self.floor]
        return max(known, default=None)

    def content(
        self,
        predicate: Predicate | None = None,
        time_from: int | None = None,
        time_to: int | None = None,
        as_of: int | None = None,
    ) -> list[dict[str, Any]]:
        now = self.newest if as_of is None else as_of
        found = []
        for row in self.rows:
            shown = dict(row)
            if self.definition.time.kind == "timestamp":
                shown["T"] = time_value(row["T"])
            tick = row["T"]
            if now is not None and self.definition.range is not None:
                oldest = now - self.definition.range
                if tick < (max(oldest, 0) if self.definition.time.kind == "seconds" else oldest):
                    continue
            if as_of is not None and tick > as_of:
                continue
            if (time_from is not None and tick < time_from) or (time_to is not None and tick > time_to):
                continue
            if holds(shown, predicate):
                found.append(row)
        return found

    def last_rows(self, count: int, partition_by: list[str], as_of: int | None) -> list[dict[str, Any]]:
        left: dict[Any, int] = {}
        found = []
        for row in sorted(self.content(as_of=as_of), key=lambda row: (-row["T"], -row[SEQ])):
            key = tuple(None if row[name] is None else (sort_key(row[name]),) for name in partition_by)
            left[key] = left.get(key, count) - 1
            if left[key] >= 0:
                found.append(row)
        return sorted(found, key=lambda row: row[SEQ])


def arrow_rows(rows: list[dict[str, Any]], definition: TableDefinition) -> pa.Table:
    """Rows of the oracle as the storage takes them; with arrival numbers if they have them."""
    schema = definition.arrow_schema()
    if rows and SEQ in rows[0]:
        schema = definition.file_schema()
    arrays = []
    for item in schema:
        values = [row[item.name] for row in rows]
        if item.name == definition.time.name and definition.time.kind == "timestamp":
            arrays.append(pa.array(values, pa.int64()).cast(item.type))
        else:
            arrays.append(pa.array(values, item.type))
    return pa.Table.from_arrays(arrays, schema=schema)
