"""The judgement on an answers file: every answer that is due once, right and in time, and no other."""

from __future__ import annotations

import json
import random
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from causeway.errors import UserError
from causeway.linear_road.validation.answers import Answers, read_answers
from causeway.linear_road.validation.comparison import compare_requests, compare_vehicles, match_replies
from causeway.linear_road.validation.expected import quote_tolls, read_stream
from causeway.linear_road.validation.histories import require_history, segment_history_files, tolls_of_days
from causeway.linear_road.validation.result import (
    DEADLINES,
    TYPES,
    Difference,
    TypeResult,
    Validation,
    response_times,
)
from causeway.linear_road.validation.travel_time import travel_times
from causeway.linear_road.validation.words import difference_words, malformed_words
from causeway.linear_road.workload import Workload, write_json
from causeway.progress import progress_bar

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

__all__ = ["validate", "write_validation"]

_SHOWN = 3
"""Differences of each type and kind that are told."""
_SHOWN_LINES = 20

_JOURNEYS = """
SELECT QID, Time, XWay, Sinit, Send, DOW, TOD FROM {replies}
WHERE Type = 4 AND due = 1 AND Sinit BETWEEN 0 AND 99 AND Send BETWEEN 0 AND 99
      AND DOW BETWEEN 1 AND 7 AND TOD BETWEEN 1 AND 1440
"""

# Right answers become a few rows, by the milliseconds they took (tenths of a second beyond 100 s); only
# failures keep what words need. With `speed`, a deadline of n real seconds is n * speed simulated ones.
_TALLY = """
WITH judged AS (
    SELECT *,
           CASE WHEN answers < due THEN 'missing' WHEN due = 0 THEN 'extra'
                WHEN answers > due THEN 'doubled' WHEN accurate THEN 'right' ELSE 'wrong' END AS verdict,
           CASE WHEN answers = 0 OR due = 0 OR {timeless} OR Time < {real_time_from} THEN NULL
                WHEN ready > Time + {speed} * CASE Type {deadlines} END THEN 'late'
                WHEN ready < Time THEN 'early' ELSE 'in time' END AS timing,
           (ready - Time) / {speed} AS response
    FROM {compared}
)
SELECT Type, verdict, timing,
       IF(timing IS NULL, NULL, CAST(IF(abs(response) < 100, round(1000 * response),
                                        100 * round(10 * response)) AS BIGINT)) AS milliseconds,
       IF(verdict <> 'right' OR timing IN ('late', 'early'), Time, NULL) AS Time,
       IF(verdict <> 'right' OR timing IN ('late', 'early'), to_json(struct({facts})), NULL) AS facts,
       count(*) AS cases, sum(due) AS due, sum(answers) AS answers
FROM judged GROUP BY ALL
"""

_FIRST = """
SELECT Type, kind, Time, facts FROM (
    SELECT *, row_number() OVER (PARTITION BY Type, kind ORDER BY Time, facts) AS rank
    FROM {tally} LATERAL VIEW explode(filter(array(verdict, timing),
                                             k -> k NOT IN ('right', 'in time'))) AS kind
) WHERE rank <= {shown} AND Type IS NOT NULL ORDER BY Time, Type, kind, rank
"""


@dataclass(frozen=True)
class _Scope:
    """Whose answers are judged: of all vehicles, or those that report from some expressways."""

    xways: tuple[int, ...] | None
    stream: DataFrame
    """Tuples that bear on them: their own, and all reports from wherever they drive."""
    vehicles: DataFrame | None


def validate(
    spark: SparkSession,
    workload: Workload,
    answers: Path,
    *,
    xways: Sequence[int] | None = None,
    sample: int | None = None,
    speed: float | None = 1.0,
    from_minute: int = 0,
) -> Validation:
    """Judge `answers`, a flat file or a folder of Parquet (see `validation.answers`).

    With `xways`, or a `sample` of so many expressways (the same ones for the same workload), only vehicles
    that report from there are judged, but these with all their answers, wherever they drive: their accounts
    have tolls of every expressway. Answers to nobody's request fail in any case.

    `speed` is how many simulated seconds passed in one of real time, `None` if response times say nothing;
    tuples before `from_minute` were not delivered in real time, and their answers have no deadline.
    """
    if speed is not None and not speed > 0:
        raise UserError(f"the speed of a run is above 0; got {speed}")
    started = time.monotonic()
    with progress_bar("validating", 5, "steps") as bar:
        given = read_answers(spark, answers)
        scope = _scope(spark, workload, xways, sample)
        bar.update(1)
        quotes = quote_tolls(
            spark, scope.stream, reports=workload.counts.get("reports", 0), vehicles=scope.vehicles
        )
        bar.update(2)
        told = given.of_vehicles
        if scope.vehicles is not None:
            told = told.join(scope.vehicles, "VID", "left_semi").unionByName(told.where("Type IS NULL"))
        stream = read_stream(spark, workload)
        replies = match_replies(spark, stream, given.of_requests, scope.vehicles).localCheckpoint()
        bar.update(3)
        requests, unjudged = _compare_requests(spark, workload, replies, quotes.table)
        bar.update(4)
        compared = compare_vehicles(spark, quotes.table, told, quotes.tasks)
        compared = compared.unionByName(requests, allowMissingColumns=True)
        tally = _tally(spark, compared, speed, from_minute).localCheckpoint()
        results, malformed = _results(tally)
        bar.update(5)
        return Validation(
            workload=workload.folder,
            answers=answers,
            xways=scope.xways,
            speed=speed,
            from_minute=from_minute,
            reports=quotes.reports,
            types=results,
            malformed=malformed,
            differences=_differences(spark, given, malformed, tally),
            notes=_notes(quotes.unknown, quotes.twice, unjudged, speed, from_minute),
            seconds=round(time.monotonic() - started, 1),
        )


def write_validation(validation: Validation, path: Path) -> None:
    """Write all of it as JSON, whole or not at all."""
    write_json(path, validation.facts())


def _scope(
    spark: SparkSession, workload: Workload, xways: Sequence[int] | None, sample: int | None
) -> _Scope:
    stream = read_stream(spark, workload)
    if xways is None and sample is None:
        return _Scope(None, stream, None)
    if xways is not None and sample is not None:
        raise UserError("give either the expressways to judge or the size of a sample, not both")
    reports = stream.where("Type = 0")
    there = sorted(row.XWay for row in reports.select("XWay").distinct().collect())
    if sample is not None:
        if not 1 <= sample <= len(there):
            raise UserError(f"{workload.folder} has {len(there)} expressways; a sample is 1 to that many")
        chosen = sorted(random.Random(workload.seed or 0).sample(there, sample))
    else:
        chosen = sorted(set(xways or ()))
        absent = [xway for xway in chosen if xway not in there]
        if absent or not chosen:
            raise UserError(
                f"{workload.folder} has no reports from expressway "
                f"{absent[0] if absent else '(none given)'}; "
                f"it has {', '.join(map(str, there[:20]))}{', …' if len(there) > 20 else ''}"
            )
    vehicles = reports.where(reports.XWay.isin(chosen)).select("VID").distinct().localCheckpoint()
    theirs = reports.join(vehicles, "VID", "left_semi").select("XWay").distinct()
    roads = [row.XWay for row in theirs.collect()]
    return _Scope(tuple(chosen), reports.where(reports.XWay.isin(roads)), vehicles)


def _compare_requests(
    spark: SparkSession, workload: Workload, replies: DataFrame, quotes: DataFrame
) -> tuple[DataFrame, int]:
    """The requests compared, and how many travel times could not be, for want of history."""
    asked = {row.Type: row["count"] for row in replies.where("due > 0").groupBy("Type").count().collect()}
    if asked.get(3) or asked.get(4):
        require_history(workload)
    daily = replies.where("Type = 3 AND due > 0")
    if asked.get(3):
        tolls = tolls_of_days(spark, workload, daily, asked[3])
    else:
        tolls = spark.createDataFrame([], "VID INT, Day INT, XWay INT, Tolls BIGINT")
    journeys = spark.sql(_JOURNEYS, replies=replies)
    xways = [row.XWay for row in journeys.select("XWay").distinct().collect()]
    with segment_history_files(spark, workload, xways) as files:
        walked = travel_times(journeys, files).localCheckpoint()
    known = walked.where("known").count()
    return compare_requests(spark, replies, quotes, tolls, walked), asked.get(4, 0) - known


_FACTS = (
    *("VID", "QID", "Time", "due", "answers", "first", "second", "expected_first", "expected_second"),
    *("segment", "notified", "Lav", "cars", "ahead", "Toll", "XWay", "Sinit", "Send", "DOW", "TOD", "Day"),
    "response",
)


def _tally(spark: SparkSession, compared: DataFrame, speed: float | None, from_minute: int) -> DataFrame:
    deadlines = " ".join(f"WHEN {number} THEN {seconds}" for number, seconds in DEADLINES.items())
    question = _TALLY.replace("{deadlines}", deadlines).replace("{facts}", ", ".join(_FACTS))
    return spark.sql(
        question,
        compared=compared,
        timeless=speed is None,
        speed=float(speed or 1),
        real_time_from=60 * from_minute,
    )


def _results(tally: DataFrame) -> tuple[tuple[TypeResult, ...], int]:
    """What became of each type, and how many rows are no answers."""
    from pyspark.sql import functions

    sums = [functions.sum(column).alias(column) for column in ("cases", "due", "answers")]
    rows = tally.groupBy("Type", "verdict", "timing", "milliseconds").agg(*sums).collect()
    by_type: dict[int | None, list[Row]] = defaultdict(list)
    for row in rows:
        by_type[row.Type].append(row)
    return tuple(_result(number, by_type[number]) for number in TYPES), sum(
        row.answers for row in by_type[None]
    )


def _result(number: int, rows: Sequence[Row]) -> TypeResult:
    def count(column: str, verdict: str) -> int:
        return sum(row[column] for row in rows if row.verdict == verdict)

    took: Counter[int] = Counter()
    for row in rows:
        if row.timing is not None:
            took[row.milliseconds] += row.cases
    return TypeResult(
        type=number,
        expected=sum(row.due for row in rows),
        answered=sum(row.answers for row in rows),
        missing=count("due", "missing") - count("answers", "missing"),
        extra=count("answers", "extra"),
        doubled=count("answers", "doubled") - count("due", "doubled"),
        wrong=count("due", "wrong"),
        late=sum(row.cases for row in rows if row.timing == "late"),
        early=sum(row.cases for row in rows if row.timing == "early"),
        response=response_times(took),
    )


def _differences(
    spark: SparkSession, given: Answers, malformed: int, tally: DataFrame
) -> tuple[Difference, ...]:
    lines = given.malformed(_SHOWN_LINES) if malformed else []
    told = [Difference(None, "malformed", None, malformed_words(line, text)) for line, text in lines]
    for row in spark.sql(_FIRST, tally=tally, shown=_SHOWN).collect():
        words = difference_words(row.Type, row.kind, json.loads(row.facts))
        told.append(Difference(row.Type, row.kind, row.Time, words))
    return tuple(told)


def _notes(unknown: int, twice: int, unjudged: int, speed: float | None, from_minute: int) -> tuple[str, ...]:
    notes = []
    if speed is None:
        notes.append("Response times were not judged: the run made no claim to real time.")
    elif from_minute:
        notes.append(
            f"Answers to tuples before second {60 * from_minute:,} (minute {from_minute}) have no deadline: "
            "they were delivered at once."
        )
    if unjudged:
        notes.append(
            f"{unjudged:,} travel times were accepted whatever they say: the history has no speeds for them."
        )
    if unknown:
        notes.append(
            f"{unknown:,} position reports took no part: a field is none that the roads have. "
            "`causeway linear-road inspect` tells more."
        )
    if twice:
        notes.append(
            f"{twice:,} position reports are their vehicle's second one in a second; the rules do not say "
            "what follows, so that answers to these vehicles may be judged wrongly."
        )
    return tuple(notes)
