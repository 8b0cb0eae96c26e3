"""The input tuple of Linear Road (section 3.1.2): one flat record of fifteen integers for four types."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import pyarrow as pa

from causeway.streaming.linear_road_fields import INPUT_COLUMNS

__all__ = ["ABSENT", "INPUT_COLUMNS", "INPUT_DDL", "INPUT_SCHEMA", "TupleType"]

ABSENT: Final = -1
"""Stands in every field that does not apply to a tuple's type."""


class TupleType(IntEnum):
    """What a tuple is; answers use the same numbers (and 1 for accident alerts)."""

    POSITION_REPORT = 0
    ACCOUNT_BALANCE = 2
    DAILY_EXPENDITURE = 3
    TRAVEL_TIME = 4


INPUT_SCHEMA: Final = pa.schema([pa.field(name, pa.int32(), nullable=False) for name in INPUT_COLUMNS])

INPUT_DDL: Final = ", ".join(f"{name} INT" for name in INPUT_COLUMNS)
"""The same schema in Spark's words, for a stream that cannot look at its files beforehand."""
