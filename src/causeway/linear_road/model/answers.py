"""The answers of Linear Road (section 3.2): their types, their fields, and how long each may take.

These are facts about the format, for whoever writes, judges or reports answers. What an answer should *say*
is decided elsewhere, and separately by the pipeline and by the validator.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pyarrow as pa

__all__ = ["ANSWER_COLUMNS", "ANSWER_NAMES", "ANSWER_SCHEMA", "DEADLINES", "LINE_FIELDS"]

ANSWER_NAMES: Final[Mapping[int, str]] = {
    0: "toll notification",
    1: "accident alert",
    2: "account balance",
    3: "daily expenditure",
    4: "travel time",
}
"""What an answer of each type is called."""

DEADLINES: Final[Mapping[int, int]] = {0: 5, 1: 5, 2: 5, 3: 10, 4: 30}
"""Seconds of real time that an answer of each type may take."""

LINE_FIELDS: Final[Mapping[int, tuple[str, ...]]] = {
    0: ("VID", "Time", "Emit", "Spd", "Toll"),
    1: ("Time", "Emit", "VID", "Seg"),
    2: ("Time", "Emit", "QID", "ResultTime", "Bal"),
    3: ("Time", "Emit", "QID", "Bal"),
    4: ("Time", "Emit", "QID", "TravelTime", "Toll"),
}
"""The fields of each type in the flat file, after the type itself; all integers but `Emit`."""

ANSWER_SCHEMA: Final = pa.schema(
    [
        pa.field("Type", pa.int8(), nullable=False),
        pa.field("Time", pa.int32(), nullable=False),
        pa.field("Emit", pa.float64(), nullable=False),
        *(
            pa.field(name, pa.int32())
            for name in ("VID", "Spd", "Toll", "Seg", "QID", "ResultTime", "Bal", "TravelTime")
        ),
    ]
)
"""One row for an answer of any type; null where a field does not belong to the type."""

ANSWER_COLUMNS: Final = tuple(ANSWER_SCHEMA.names)
