"""What a system answered: lines of the flat file, or rows of Parquet, as one table; what is neither, apart.

    0,VID,Time,Emit,Spd,Toll          1,Time,Emit,VID,Seg           2,Time,Emit,QID,ResultTime,Bal
    3,Time,Emit,QID,Bal               4,Time,Emit,QID,TravelTime,Toll

Parquet has the columns `PARQUET_COLUMNS`, null (or any number) where a field does not apply to the type, and
may have `Readable`: the simulated second at which somebody else could read the row, where that was later
than `Emit`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from causeway.errors import UserError
from causeway.linear_road.stream_frame import literal_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["PARQUET_COLUMNS", "Answers", "read_answers"]

PARQUET_COLUMNS = (
    "Type",
    "Time",
    "Emit",
    "VID",
    "Spd",
    "Toll",
    "Seg",
    "QID",
    "ResultTime",
    "Bal",
    "TravelTime",
)
"""All INT but Emit, which is DOUBLE: seconds since the start of the simulation."""

_SHOWN = 200

_INTEGER = r"[ \t]*-?[0-9]{1,18}[ \t]*"
_DECIMAL = r"[ \t]*-?[0-9]{1,15}(\.[0-9]{1,15})?[ \t]*"
_FIVE, _SIX = f"{_DECIMAL},{_INTEGER},{_INTEGER}", f"{_DECIMAL},{_INTEGER},{_INTEGER},{_INTEGER}"
# In words that Java and Python read alike: one finds the lines that are none, the other their numbers.
_LINE = (
    rf"^([ \t]*0[ \t]*,{_INTEGER},{_INTEGER},{_DECIMAL},{_INTEGER},{_INTEGER}"
    rf"|[ \t]*[13][ \t]*,{_INTEGER},{_FIVE}|[ \t]*[24][ \t]*,{_INTEGER},{_SIX})$"
)

_LINES = """
WITH lines AS (
    SELECT value, IF(value RLIKE {LINE}, split(value, ','), array()) AS field
    FROM {lines}
), typed AS (SELECT *, CAST(get(field, 0) AS INT) AS Type FROM lines)
SELECT Type, IF(Type IS NULL, value, NULL) AS malformed,
       CAST(get(field, IF(Type = 0, 2, 1)) AS BIGINT) AS Time,
       CAST(get(field, IF(Type = 0, 3, 2)) AS DOUBLE) AS ready,
       CAST(IF(Type <= 1, get(field, IF(Type = 0, 1, 3)), NULL) AS BIGINT) AS VID,
       CAST(IF(Type >= 2, get(field, 3), NULL) AS BIGINT) AS QID,
       CAST(get(field, 4) AS BIGINT) AS first, CAST(get(field, 5) AS BIGINT) AS second
FROM typed
"""

_ROWS = """
WITH chosen AS (
    SELECT *, CASE Type WHEN 0 THEN Spd WHEN 1 THEN Seg WHEN 2 THEN ResultTime WHEN 3 THEN Bal
                        WHEN 4 THEN TravelTime END AS first,
           CASE Type WHEN 0 THEN Toll WHEN 2 THEN Bal WHEN 4 THEN Toll END AS second
    FROM {rows}
), checked AS (
    SELECT *, coalesce(Type BETWEEN 0 AND 4, false) AND Time IS NOT NULL AND Emit IS NOT NULL
              AND NOT isnan(Emit) AND NOT coalesce(isnan(Readable), false) AND first IS NOT NULL
              AND IF(Type IN (0, 1), VID, QID) IS NOT NULL
              AND (Type IN (1, 3) OR second IS NOT NULL) AS well_formed
    FROM chosen
)
SELECT IF(well_formed, Type, NULL) AS Type,
       IF(well_formed, NULL, to_json(struct({columns}))) AS malformed,
       CAST(Time AS BIGINT) AS Time, greatest(Emit, Readable) AS ready,
       CAST(IF(Type <= 1, VID, NULL) AS BIGINT) AS VID, CAST(IF(Type >= 2, QID, NULL) AS BIGINT) AS QID,
       CAST(first AS BIGINT) AS first, CAST(second AS BIGINT) AS second
FROM checked
"""


@dataclass(frozen=True)
class Answers:
    """Rows of Type, Time, ready, VID or QID, and the two values that were answered, `first` and `second`.

    They are Spd and Toll, Seg, ResultTime and Bal, Bal, TravelTime and Toll, by type. `ready` is the later
    of Emit and Readable. A row that is no answer has a null Type and itself as `malformed`.
    """

    path: Path
    of_vehicles: DataFrame
    """Types 0 and 1, and most of what is no answer."""
    of_requests: DataFrame
    """Types 2 to 4, and what is no answer but begins like one."""

    def malformed(self, most: int) -> list[tuple[int | None, str]]:
        """The first rows that are no answers, each with its line in a flat file."""
        if _is_parquet(self.path):
            both = self.of_vehicles.unionByName(self.of_requests)
            rows = both.where("Type IS NULL").select("malformed").limit(most).collect()
            return [(None, row.malformed[:_SHOWN]) for row in rows]
        found: list[tuple[int | None, str]] = []
        for number, line in enumerate(_lines(self.path), 1):
            if line.strip() and not re.search(_LINE, line):
                found.append((number, line[:_SHOWN]))
                if len(found) == most:
                    break
        return found


def read_answers(spark: SparkSession, path: Path) -> Answers:
    """Read a flat file, or a folder or file of Parquet."""
    if not path.exists():
        raise UserError(f"{path}: no such file; give the answers as a flat file or a folder of Parquet")
    if not _is_parquet(path):
        # Told apart by the first figure, before the work of taking lines to pieces.
        lines = spark.read.text(literal_path(path)).where("length(trim(value)) > 0")
        request = "substr(ltrim(value), 1, 1) IN ('2', '3', '4')"
        return Answers(
            path,
            spark.sql(_LINES, lines=lines.where(f"NOT {request}"), LINE=_LINE),
            spark.sql(_LINES, lines=lines.where(request), LINE=_LINE),
        )
    if path.is_dir() and not any(path.rglob("*.parquet")):
        raise UserError(f"{path} is a folder without Parquet files; give the answers' own file or folder")
    rows = spark.read.parquet(literal_path(path))
    missing = [name for name in PARQUET_COLUMNS if name not in rows.columns]
    if missing:
        raise UserError(
            f"{path}: column {missing[0]} is missing; expected are {', '.join(PARQUET_COLUMNS)} "
            "and, where it is known, Readable"
        )
    readable = "Readable" if "Readable" in rows.columns else "CAST(NULL AS DOUBLE) AS Readable"
    rows = rows.selectExpr(*PARQUET_COLUMNS, readable)
    question = _ROWS.replace("{columns}", ", ".join(PARQUET_COLUMNS))
    request = "coalesce(Type BETWEEN 2 AND 4, false)"
    return Answers(
        path,
        spark.sql(question, rows=rows.where(f"NOT {request}")),
        spark.sql(question, rows=rows.where(request)),
    )


def _is_parquet(path: Path) -> bool:
    return path.is_dir() or path.suffix == ".parquet"


def _lines(path: Path) -> Iterator[str]:
    """The lines as Spark counts them: ended by LF, CR or both."""
    with path.open(encoding="utf-8", errors="replace") as text:
        for line in text:
            yield line.rstrip("\n")
