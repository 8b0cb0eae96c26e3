"""What a streaming table is: columns, time, historical period, slack, compartments and indexes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

import pyarrow as pa

from causeway.runtime.errors import UserError
from causeway.streaming_tables.storage.column_types import arrow_type

__all__ = [
    "COMPARTMENT",
    "LONGEST",
    "REJECTED_SCHEMA",
    "SEQ",
    "ColumnDefinition",
    "IndexDefinition",
    "TableDefinition",
    "TimeDefinition",
    "default_compartment",
]

SEQ: Final = "__seq"
"""The hidden column with a row's arrival number."""
COMPARTMENT: Final = "__compartment"
"""The Delta table's partition column: the time at which a row's compartment begins."""
REJECTED_SCHEMA: Final = pa.schema(
    [("source", pa.string()), ("line", pa.int64()), ("reason", pa.string()), ("text", pa.string())]
)
"""Rows that did not parse or fit."""

LONGEST: Final = 2**62
"""The longest length of time: no two times are further apart, and with any time it is a 64-bit number."""
_SENSIBLE_SECONDS: Final = (60, 120, 300, 600, 900, 1200, 1800, 3600)
_RESERVED: Final = (SEQ, COMPARTMENT)


@dataclass(frozen=True)
class ColumnDefinition:
    """A column's name and Spark SQL type: in lower case, but for the names of a struct's fields."""

    name: str
    type: str


@dataclass(frozen=True)
class TimeDefinition:
    """The column with a row's time: BIGINT seconds or TIMESTAMP."""

    name: str = "T"
    kind: Literal["seconds", "timestamp"] = "seconds"

    @property
    def arrow_type(self) -> pa.DataType:
        """Seconds are int64, timestamps are microseconds in UTC."""
        return pa.int64() if self.kind == "seconds" else pa.timestamp("us", "UTC")

    @property
    def limits(self) -> tuple[int, int]:
        """The first and the last time that a row can have: for timestamps, those of the years 1 to 9999."""
        if self.kind == "seconds":
            return -(2**61), 2**61
        return -62_135_596_800_000_000, 253_402_300_799_999_999

    @property
    def second(self) -> int:
        """A second in the table's time unit."""
        return 1 if self.kind == "seconds" else 1_000_000


@dataclass(frozen=True)
class IndexDefinition:
    """A value index on one column."""

    name: str
    column: str


@dataclass(frozen=True)
class TableDefinition:
    """A streaming table. Range, slack and compartment are in its own time unit: seconds or microseconds."""

    name: str
    columns: tuple[ColumnDefinition, ...]
    time: TimeDefinition
    range: int | None
    slack: int
    compartment: int
    indexes: tuple[IndexDefinition, ...] = ()
    generation: int = 0
    kind: Literal["table", "view"] = "table"

    def __post_init__(self) -> None:
        names = [column.name.lower() for column in self.columns] + [self.time.name.lower()]
        for name in names:
            if names.count(name) > 1:
                raise UserError(f"table {self.name} has two columns with the name {name}")
            if name in _RESERVED:
                raise UserError(f"table {self.name} can't have a column {name}: the name is reserved")
        if self.compartment <= 0 or self.slack < 0 or (self.range is not None and self.range < 0):
            raise UserError(f"table {self.name} needs a positive compartment, and no negative range or slack")
        for column in self.columns:
            arrow_type(column.type)
        for index in self.indexes:
            if index.column not in [column.name for column in self.columns]:
                raise UserError(f"index {index.name}: table {self.name} has no column {index.column}")

    def arrow_schema(self) -> pa.Schema:
        """The columns and then the time, as a reader of `SELECT *` sees them."""
        fields = [pa.field(column.name, arrow_type(column.type)) for column in self.columns]
        return pa.schema([*fields, pa.field(self.time.name, self.time.arrow_type)])

    def file_schema(self) -> pa.Schema:
        """The schema of data files: with the arrival number."""
        return self.arrow_schema().append(pa.field(SEQ, pa.int64()))

    @property
    def indexed_columns(self) -> tuple[str, ...]:
        """Columns with a value index, each once."""
        return tuple(dict.fromkeys(index.column for index in self.indexes))

    def oldest_kept(self, newest: int | None) -> int | None:
        """The smallest time in the historical period that ends at `newest`; None if nothing expires."""
        if self.range is None or newest is None:
            return None
        oldest = newest - self.range
        return max(oldest, 0) if self.time.kind == "seconds" else oldest

    def with_indexes(self, indexes: tuple[IndexDefinition, ...]) -> TableDefinition:
        """The same table with other indexes, as its next generation."""
        return replace(self, indexes=indexes, generation=self.generation + 1)

    def to_json(self) -> dict[str, Any]:
        """A form for `definition.json`."""
        return asdict(self)

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> TableDefinition:
        """The definition that `to_json` gave."""
        return cls(
            name=facts["name"],
            columns=tuple(ColumnDefinition(**column) for column in facts["columns"]),
            time=TimeDefinition(**facts["time"]),
            range=facts["range"],
            slack=facts["slack"],
            compartment=facts["compartment"],
            indexes=tuple(IndexDefinition(**index) for index in facts["indexes"]),
            generation=facts["generation"],
            kind=facts["kind"],
        )


def default_compartment(time: TimeDefinition, range_: int | None) -> int:
    """A sixteenth of the historical period, rounded up to a sensible unit from a minute to an hour."""
    if range_ is None:
        return _SENSIBLE_SECONDS[-1] * time.second
    wanted = -(-range_ // (16 * time.second))
    fitting = [seconds for seconds in _SENSIBLE_SECONDS if seconds >= wanted]
    return (fitting[0] if fitting else _SENSIBLE_SECONDS[-1]) * time.second


def definition_file(folder: Path) -> Path:
    """Where a table's definition is."""
    return folder / "definition.json"
