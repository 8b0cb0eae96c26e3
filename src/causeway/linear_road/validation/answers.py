"""What a system answered: lines of the flat file, or rows of Parquet, as one table; what is neither, apart.

    0,VID,Time,Emit,Spd,Toll          1,Time,Emit,VID,Seg           2,Time,Emit,QID,ResultTime,Bal
    3,Time,Emit,QID,Bal               4,Time,Emit,QID,TravelTime,Toll

Parquet has the columns `ANSWER_COLUMNS`, null (or any number) where a field does not apply to the type, and
may have `Readable`: the simulated second at which somebody else could read the row, where that was later
than `Emit`. As everywhere in Spark, files and folders whose names begin with `_` or `.` are nobody's answers.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from causeway.linear_road.model.answers import ANSWER_COLUMNS, LINE_FIELDS
from causeway.linear_road.workload.stream_frame import literal_path
from causeway.runtime.errors import UserError
from causeway.spark.errors import explain

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Answers", "read_answers"]

_MOMENTS = ("Emit", "Readable")
_INTEGERS = ("int", "bigint", "smallint", "tinyint")
_DECIMALS = ("double", "float", "decimal")

_HIDDEN = ("_", ".")
_SHOWN = 200

# In words that Java and Python read alike: one finds the lines that are no answers, the other their numbers.
# Nothing is ever given back (`+`), so that looking at a line takes one pass. The end is where nothing
# follows, since `$` is not the same in both.
_INTEGER = r"[ \t]*+-?+[0-9]{1,18}+[ \t]*+"
_DECIMAL = r"[ \t]*+-?+[0-9]{1,15}+(?:\.[0-9]{1,15}+)?+[ \t]*+"
_TYPES = "|".join(
    ",".join([rf"{number}[ \t]*+", *(_DECIMAL if name == "Emit" else _INTEGER for name in fields)])
    for number, fields in LINE_FIELDS.items()
)
_LINE = rf"^[ \t]*+(?:{_TYPES})(?![\s\S])"

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

    def malformed(self, limit: int) -> list[tuple[int | None, str]]:
        """The first rows that are no answers, each with its line in a flat file."""
        if _is_parquet(self.path):
            both = self.of_vehicles.unionByName(self.of_requests)
            rows = both.where("Type IS NULL").select("malformed").limit(limit).collect()
            return [(None, row.malformed[:_SHOWN]) for row in rows]
        found: list[tuple[int | None, str]] = []
        for number, line in enumerate(_lines(self.path), 1):
            if line.strip(" ") and not re.search(_LINE, line):
                found.append((number, line[:_SHOWN]))
                if len(found) == limit:
                    break
        return found


def read_answers(spark: SparkSession, path: Path) -> Answers:
    """Read a flat file, or a folder or file of Parquet."""
    if not path.exists():
        raise UserError(f"{path}: no such file; give the answers as a flat file or a folder of Parquet")
    if path.name.startswith(_HIDDEN):
        raise UserError(f"{path}: Spark passes over names that begin with _ or a point; rename it")
    if not _is_parquet(path):
        # Told apart by the first figure, before the work of taking lines to pieces.
        lines = spark.read.text(literal_path(path)).where("length(trim(value)) > 0")
        request = "substr(ltrim(value), 1, 1) IN ('2', '3', '4')"
        return Answers(
            path,
            spark.sql(_LINES, lines=lines.where(f"NOT {request}"), LINE=_LINE),
            spark.sql(_LINES, lines=lines.where(request), LINE=_LINE),
        )
    rows = _read_parquet(spark, path)
    question = _ROWS.replace("{columns}", ", ".join(ANSWER_COLUMNS))
    request = "coalesce(Type BETWEEN 2 AND 4, false)"
    return Answers(
        path,
        spark.sql(question, rows=rows.where(f"NOT {request}")),
        spark.sql(question, rows=rows.where(request)),
    )


def _read_parquet(spark: SparkSession, path: Path) -> DataFrame:
    """Rows with all columns, or the user's mistake."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    if path.is_dir() and not _has_parquet(path):
        raise UserError(f"{path} is a folder without Parquet files; give the answers' own file or folder")
    try:
        reader = spark.read.option("recursiveFileLookup", "true").option("pathGlobFilter", "*.parquet")
        rows = reader.parquet(literal_path(path))
    except (PySparkException, Py4JError) as unreadable:
        raise UserError(f"{path} cannot be read as Parquet: {explain(unreadable)}") from unreadable
    if "Readable" not in rows.columns:
        rows = rows.selectExpr("*", "CAST(NULL AS DOUBLE) AS Readable")
    kinds = dict(rows.dtypes)
    for name in (*ANSWER_COLUMNS, "Readable"):
        if name not in kinds:
            raise UserError(
                f"{path}: column {name} is missing; expected are {', '.join(ANSWER_COLUMNS)} "
                "and, where it is known, Readable"
            )
        fitting = _INTEGERS + _DECIMALS if name in _MOMENTS else _INTEGERS
        if kinds[name].partition("(")[0] not in fitting:
            raise UserError(f"{path}: column {name} is {kinds[name]}; expected is {' or '.join(fitting)}")
    moments = [f"CAST({name} AS DOUBLE) AS {name}" for name in _MOMENTS]
    return rows.selectExpr(*(name for name in ANSWER_COLUMNS if name not in _MOMENTS), *moments)


def _is_parquet(path: Path) -> bool:
    return path.is_dir() or path.suffix == ".parquet"


def _has_parquet(folder: Path) -> bool:
    return any(
        not any(part.startswith(_HIDDEN) for part in file.relative_to(folder).parts)
        for file in folder.rglob("*.parquet")
    )


def _lines(path: Path) -> Iterator[str]:
    """The lines as Spark counts them: ended by LF, CR or both."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", errors="replace") as text:
        for line in text:
            yield line.rstrip("\n")
