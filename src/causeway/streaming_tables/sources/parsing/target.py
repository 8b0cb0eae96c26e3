"""What a source's rows become: the table's columns, and how the source's columns are found for them."""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import pyarrow as pa

from causeway.runtime.errors import UserError

__all__ = [
    "REJECT_FIELDS",
    "ColumnsError",
    "LinearRoadTuples",
    "Match",
    "Reading",
    "TargetColumns",
    "TimeUnit",
    "is_linear_road",
    "match_columns",
    "time_candidates",
]

TimeUnit = Literal["s", "ms", "us"]
LinearRoadTuples = Literal["reports", "requests"]

REJECT_FIELDS: Final = (
    pa.field("__source", pa.string()),
    pa.field("__line", pa.int64()),
    pa.field("__reason", pa.string()),
    pa.field("__text", pa.string()),
)
"""Where a row comes from and why it is rejected; all four are null in a good row that is not traced."""

_TIME_NAMES: Final = ("T", "Time")
_TYPE: Final = "type"
_LINEAR_ROAD_COLUMNS: Final = frozenset(
    {_TYPE, "time", "vid", "spd", "xway", "lane", "dir", "seg", "pos", "qid"}
)


class ColumnsError(UserError):
    """A source's columns do not match those of the table."""


@dataclass(frozen=True)
class TargetColumns:
    """The table's columns in order, then its time column."""

    schema: pa.Schema
    time_kind: Literal["seconds", "timestamp"]
    time_limits: tuple[int, int] | None = None
    """The first and the last time that a row can have, in seconds or microseconds; None: any."""
    traced: bool = False
    """Whether good rows have their source and line, too."""

    def to_json(self) -> dict[str, Any]:
        """Plain facts, from which `from_json` makes the same again."""
        return {
            "schema": base64.b64encode(self.schema.serialize().to_pybytes()).decode(),
            "time_kind": self.time_kind,
            "time_limits": None if self.time_limits is None else list(self.time_limits),
            "traced": self.traced,
        }

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> TargetColumns:
        """What `to_json` was called on."""
        schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(facts["schema"])))
        limits = facts.get("time_limits")
        return cls(schema, facts["time_kind"], None if limits is None else tuple(limits), facts["traced"])


@dataclass(frozen=True)
class Reading:
    """How rows are made of a source's files. Planner and tasks get it as JSON."""

    target: TargetColumns
    timestamp: str | None = None
    """The source's time column, as the user named it."""
    time_names: tuple[str, ...] = ()
    """Names of the time column in this kind of source, tried before the usual ones."""
    header: bool = True
    """Whether CSV files begin with the names of their columns."""
    columns: tuple[str, ...] | None = None
    """The columns of text without names in it; None: the table's, in their order."""
    delimiter: str = ","
    time_unit: TimeUnit | None = None
    """What integers count where a time is expected; None: seconds, and no integers for a TIMESTAMP."""
    tuples: LinearRoadTuples | None = None
    """Which tuples of a Linear Road stream are rows; None: position reports, and any other stream too."""

    @property
    def schema(self) -> pa.Schema:
        """The rows that come out: the table's columns, its time and what is known of a rejected row."""
        fields = [pa.field(field.name, field.type) for field in self.target.schema]
        return pa.schema([*fields, *REJECT_FIELDS])

    @property
    def named_columns(self) -> tuple[str, ...]:
        """The columns of a CSV file without a header."""
        if self.columns is not None:
            return self.columns
        return (*self.target.schema.names[:-1], self.timestamp or self.target.schema.names[-1])

    def to_json(self) -> dict[str, Any]:
        """Plain facts, from which `from_json` makes the same again."""
        return {
            "target": self.target.to_json(),
            "timestamp": self.timestamp,
            "time_names": list(self.time_names),
            "header": self.header,
            "columns": None if self.columns is None else list(self.columns),
            "delimiter": self.delimiter,
            "time_unit": self.time_unit,
            "tuples": self.tuples,
        }

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> Reading:
        """What `to_json` was called on."""
        return cls(
            target=TargetColumns.from_json(facts["target"]),
            timestamp=facts["timestamp"],
            time_names=tuple(facts["time_names"]),
            header=facts["header"],
            columns=None if facts["columns"] is None else tuple(facts["columns"]),
            delimiter=facts["delimiter"],
            time_unit=facts["time_unit"],
            tuples=facts.get("tuples"),
        )


@dataclass(frozen=True)
class Match:
    """Which columns of a source are read."""

    indexes: tuple[int, ...]
    """For each column of the table, its time last, the number of the source's column."""
    kind: int | None = None
    """The number of Linear Road's column Type, in a stream of its tuples: only some of them are rows."""


def match_columns(names: Sequence[str], reading: Reading, where: str) -> Match:
    """Find the table's columns among `names`, in any case.

    Raises `ColumnsError` with the columns that are missing; `where` names the file.
    """
    found: dict[str, list[int]] = {}
    for number, name in enumerate(names):
        found.setdefault(name.strip().casefold(), []).append(number)
    missing: list[str] = []
    indexes: list[int] = []
    for name in reading.target.schema.names[:-1]:
        index: int | None = _index_of(name, names, found, where)
        if index is None:
            missing.append(name)
        else:
            indexes.append(index)
    there = f"it has {', '.join(names)}" if names else "it has no columns"
    time: int | None = None
    for name in time_candidates(reading):
        time = _index_of(name, names, found, where)
        if time is not None:
            indexes.append(time)
            break
    if missing:
        word = "column" if len(missing) == 1 else "columns"
        raise ColumnsError(f"{where} lacks the {word} {', '.join(missing)} of the table; {there}")
    if time is None:
        if reading.timestamp is not None:
            raise ColumnsError(f"{where} has no time column {reading.timestamp}; {there}")
        raise ColumnsError(
            f"{where} has no time column: expected {' or '.join(time_candidates(reading))}, "
            f"or name it with OPTIONS (timestamp = '…'); {there}"
        )
    if reading.tuples is not None and not is_linear_road(found):
        raise ColumnsError(f"{where} has no tuples of Linear Road, of which {reading.tuples} could be chosen")
    return Match(tuple(indexes), found[_TYPE][0] if is_linear_road(found) else None)


def is_linear_road(names: Collection[str]) -> bool:
    """Whether columns, in lower case, are those of Linear Road's input tuples."""
    return _LINEAR_ROAD_COLUMNS.issubset(names)


def time_candidates(reading: Reading) -> list[str]:
    """The names under which the time column is looked for, in this order."""
    if reading.timestamp is not None:
        return [reading.timestamp]
    *columns, time = reading.target.schema.names
    taken = {name.casefold() for name in columns}
    usual = [name for name in (time, *_TIME_NAMES) if name.casefold() not in taken]
    fresh: dict[str, str] = {}
    for name in (*reading.time_names, *usual):
        fresh.setdefault(name.casefold(), name)
    return list(fresh.values())


def _index_of(name: str, names: Sequence[str], found: Mapping[str, list[int]], where: str) -> int | None:
    indexes = found.get(name.casefold(), [])
    if len(indexes) > 1:
        exact = [index for index in indexes if names[index] == name]
        if len(exact) != 1:
            spelled = ", ".join(names[index] for index in indexes)
            raise ColumnsError(f"{where} has more than one column {name}: {spelled}")
        indexes = exact
    return indexes[0] if indexes else None
