"""Predicates that scans evaluate: any of several conjunctions of (column, operator, constant), as §V has it.

Their meaning is Spark's: three-valued logic, NaN equals NaN and is greater than all numbers, -0.0 equals 0.0,
text is compared by its UTF-8 bytes, nothing is cast. As there is no NOT, a comparison that is unknown can be
taken as false.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from causeway.streaming_tables.storage.errors import UnsupportedPredicate
from causeway.streaming_tables.storage.past.value_index import is_indexable, ordered_keys

__all__ = ["OPERATORS", "Comparison", "CompiledComparison", "CompiledPredicate", "Predicate"]

OPERATORS: Final = ("=", "!=", "<", "<=", ">", ">=", "in", "is null", "is not null")
_NUMPY: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ARROW: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "=": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


@dataclass(frozen=True)
class Comparison:
    """A column compared with a constant of its type; `value` is a sequence for `in`, None for null tests."""

    column: str
    op: str
    value: Any = None


@dataclass(frozen=True)
class Predicate:
    """True for a row for which all comparisons of at least one conjunction are true."""

    any_of: tuple[tuple[Comparison, ...], ...]

    @classmethod
    def all_of(cls, *comparisons: Comparison) -> Predicate:
        """One conjunction."""
        return cls((tuple(comparisons),))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are compared."""
        return tuple(dict.fromkeys(one.column for group in self.any_of for one in group))


def _constant(value: Any, kind: pa.DataType) -> pa.Scalar | None:
    """A constant of the column's type; None for NULL. UnsupportedPredicate if it would have to be cast."""
    if isinstance(value, pa.Scalar):
        if not value.is_valid:
            return None
        if value.type != kind:
            raise UnsupportedPredicate(f"a constant of type {value.type} for a column of type {kind}")
        return value
    if value is None:
        return None
    if isinstance(value, np.generic):
        value = value.item()
    if not _fits(value, kind):
        raise UnsupportedPredicate(f"the constant {value!r} for a column of type {kind}")
    try:
        if pa.types.is_floating(kind):
            constant = pa.scalar(float(value), kind)
            exact = constant.as_py() == value or math.isnan(value)
        else:
            constant, exact = pa.scalar(value, kind), True
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, ValueError) as failure:
        raise UnsupportedPredicate(str(failure)) from failure
    if not exact:
        raise UnsupportedPredicate(f"the constant {value!r} is not a value of {kind}")
    return constant


def _fits(value: Any, kind: pa.DataType) -> bool:
    if pa.types.is_boolean(kind):
        return isinstance(value, bool)
    if isinstance(value, bool):
        return False
    if pa.types.is_integer(kind):
        return isinstance(value, int)
    if pa.types.is_floating(kind):
        return isinstance(value, (int, float))
    if pa.types.is_string(kind):
        return isinstance(value, str)
    if pa.types.is_binary(kind):
        return isinstance(value, (bytes, bytearray))
    if pa.types.is_date32(kind):
        return isinstance(value, date) and not isinstance(value, datetime)
    if pa.types.is_timestamp(kind):
        return isinstance(value, datetime) and (value.tzinfo is not None) == (kind.tz is not None)
    return pa.types.is_decimal(kind) and isinstance(value, (Decimal, int))


class CompiledComparison:
    """A comparison with its constants as keys of the column's type."""

    def __init__(self, comparison: Comparison, kind: pa.DataType) -> None:
        """UnsupportedPredicate if the meaning is not proven to be Spark's."""
        self.column = comparison.column
        self.op = comparison.op
        self._kind = kind
        if self.op not in OPERATORS:
            raise UnsupportedPredicate(f"the operator {self.op}")
        self.keys: Any = None
        if self.op in ("is null", "is not null"):
            return
        if not is_indexable(kind):
            raise UnsupportedPredicate(f"a comparison of a column of type {kind}")
        values = comparison.value if self.op == "in" else (comparison.value,)
        if not isinstance(values, (Sequence, np.ndarray, pa.Array)) or isinstance(values, (str, bytes)):
            raise UnsupportedPredicate("a list without values")
        self.keys = _sorted_keys(_constants(values, kind))

    @property
    def never(self) -> bool:
        """Whether it is true for no row: all its constants are NULL."""
        return self.keys is not None and not len(self.keys)

    def mask(self, values: pa.Array) -> NDArray[np.bool_]:
        """The rows for which it is true."""
        if self.op in ("is null", "is not null"):
            nulls: NDArray[np.bool_] = values.is_null().to_numpy(zero_copy_only=False)
            return nulls if self.op == "is null" else ~nulls
        if self.never:
            return np.zeros(len(values), np.bool_)
        valid = None
        if values.null_count:
            valid = values.is_valid().to_numpy(zero_copy_only=False)
            if not pa.types.is_decimal(values.type):
                values = _filled(values)
        keys = ordered_keys(values)
        found: NDArray[np.bool_]
        if isinstance(keys, pa.Array):
            found = self._text_mask(keys)
        elif self.op == "in":
            found = np.isin(keys, self.keys)
        else:
            found = _NUMPY[self.op](keys, self.keys[0])
        return found if valid is None else found & valid

    def _text_mask(self, keys: pa.Array) -> NDArray[np.bool_]:
        if self.op == "in":
            result = pc.is_in(keys, value_set=self.keys)
        else:
            result = _ARROW[self.op](keys, self.keys[0])
        return np.asarray(result.fill_null(False).to_numpy(zero_copy_only=False), np.bool_)

    def bounds(self) -> tuple[Any, Any, tuple[bool, bool]] | None:
        """Lower key, upper key and which of them belong to the range; None if it is no range."""
        if self.op in (">", ">="):
            return self.keys, None, (self.op == ">=", True)
        if self.op in ("<", "<="):
            return None, self.keys, (True, self.op == "<=")
        return None


def _constants(values: Iterable[Any], kind: pa.DataType) -> pa.Array:
    if isinstance(values, pa.Array):
        if values.type != kind:
            raise UnsupportedPredicate(f"constants of type {values.type} for a column of type {kind}")
        return values.drop_null()
    if isinstance(values, np.ndarray):
        values = values.tolist()
    scalars = [scalar for value in values if (scalar := _constant(value, kind)) is not None]
    return pa.array([scalar.as_py() for scalar in scalars], kind)


def _sorted_keys(constants: pa.Array) -> Any:
    keys = ordered_keys(constants)
    if isinstance(keys, pa.Array):
        distinct = keys.unique()
        return distinct.take(pc.sort_indices(distinct))
    return np.unique(keys)


def _filled(values: pa.Array) -> pa.Array:
    """NULLs replaced by any value, so that NumPy can take the rest."""
    kind = values.type
    if pa.types.is_string(kind):
        return values.fill_null("")
    if pa.types.is_binary(kind):
        return values.fill_null(b"")
    if pa.types.is_boolean(kind):
        return values.fill_null(False)
    if pa.types.is_date32(kind):
        return values.view(pa.int32()).fill_null(0).view(kind)
    if pa.types.is_timestamp(kind):
        return values.view(pa.int64()).fill_null(0).view(kind)
    return values.fill_null(0)


class CompiledPredicate:
    """A predicate for tables of one schema."""

    def __init__(self, predicate: Predicate, schema: pa.Schema) -> None:
        """UnsupportedPredicate if a comparison is not supported."""
        self.columns = predicate.columns
        missing = [name for name in self.columns if name not in schema.names]
        if missing:
            raise UnsupportedPredicate(f"there is no column {missing[0]}")
        groups = [
            [CompiledComparison(one, schema.field(one.column).type) for one in group]
            for group in predicate.any_of
        ]
        self.groups = [group for group in groups if not any(one.never for one in group)]

    def mask(self, rows: pa.Table) -> NDArray[np.bool_]:
        """The rows of a table for which it is true."""
        found = np.zeros(rows.num_rows, np.bool_)
        for group in self.groups:
            holds = np.ones(rows.num_rows, np.bool_)
            for one in group:
                column = rows.column(one.column)
                # Joining a single piece would copy it.
                holds &= one.mask(column.chunk(0) if column.num_chunks == 1 else column.combine_chunks())
            found |= holds
        return found

    def bounds(self, column: str) -> tuple[int | None, int | None]:
        """The values of a column of whole numbers or times that a row for which it is true can have."""
        lows, highs = [], []
        for group in self.groups:
            low, high = None, None
            for one in group:
                if one.column != column or one.keys is None or one.op == "!=":
                    continue
                first, last = int(one.keys[0]), int(one.keys[-1])
                if one.op in ("=", "in", ">", ">="):
                    low = first if low is None else max(low, first)
                if one.op in ("=", "in", "<", "<="):
                    high = last if high is None else min(high, last)
            lows.append(low)
            highs.append(high)
        low = None if not lows or None in lows else min(one for one in lows if one is not None)
        high = None if not highs or None in highs else max(one for one in highs if one is not None)
        return low, high
