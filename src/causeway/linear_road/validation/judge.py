"""The judgement on an answers file: every answer that is due once, right and in time, and no other."""

from __future__ import annotations

import json
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from causeway.linear_road.model.answers import ANSWER_NAMES, DEADLINES
from causeway.linear_road.validation.answers import Answers, read_answers
from causeway.linear_road.validation.answers_location import READINGS, Conditions
from causeway.linear_road.validation.comparison import (
    compare_requests,
    compare_vehicles,
    entered_segments,
    match_replies,
)
from causeway.linear_road.validation.expected import quote_tolls
from causeway.linear_road.validation.histories import require_history, segment_history_files, tolls_of_days
from causeway.linear_road.validation.result import (
    Difference,
    TypeResult,
    Validation,
    response_times,
)
from causeway.linear_road.validation.travel_time import travel_times
from causeway.linear_road.validation.words import difference_words, malformed_words
from causeway.linear_road.workload.stream_frame import read_stream
from causeway.linear_road.workload.workload import Workload
from causeway.runtime.errors import UserError
from causeway.runtime.output_folder import write_json
from causeway.runtime.progress import progress_bar

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

__all__ = ["validate", "write_validation"]

_SHOWN = 3
"""Differences of each type and kind that are told."""
_SHOWN_LINES = 20

# Right answers become a few rows, by the milliseconds they took (tenths of a second beyond 100 s); only
# failures keep what words need. With `speed`, a deadline of n real seconds is n * speed simulated ones.
_TALLY = """
WITH judged AS (
    SELECT *,
           CASE WHEN answers < due THEN 'missing' WHEN due = 0 THEN 'extra'
                WHEN answers > due THEN 'doubled' WHEN accurate THEN 'right' ELSE 'wrong' END AS verdict,
           CASE WHEN answers = 0 OR due = 0 OR {timeless} OR Time < {real_time_from} THEN NULL
                WHEN ready > Time + CAST({speed} AS DOUBLE) * CASE Type {deadlines} END THEN 'late'
                WHEN ready < Time THEN 'early' ELSE 'in time' END AS timing,
           greatest(least((ready - Time) / CAST({speed} AS DOUBLE), 1e9D), -1e9D) AS response
    FROM {compared}
)
SELECT Type, verdict, timing,
       IF(timing IS NULL, NULL, CAST(IF(abs(response) < 100, round(1000 * response),
                                        100 * round(10 * response)) AS BIGINT)) AS milliseconds,
       IF(verdict <> 'right' OR timing IN ('late', 'early'), Time, NULL) AS Time,
       IF(verdict <> 'right' OR timing IN ('late', 'early'), to_json(struct({facts})), NULL) AS facts,
       count(*) AS cases, sum(due) AS due, sum(answers) AS answers,
       count_if(Type = 4 AND due > 0 AND expected_first IS NULL) AS unknown
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
    conditions: Conditions | None = None,
) -> Validation:
    """Judge `answers`, a flat file or a folder of Parquet (see `validation.answers`).

    With `xways`, or a `sample` of so many expressways (the same ones for the same workload), only vehicles
    that report from there are judged, but these with all their answers, wherever they drive: their accounts
    have tolls of every expressway. Answers to nobody's request fail in any case.

    Without `conditions`, all answers were given in real time. Where their speed is `None`, response times are
    not judged; tuples before their start minute were delivered at once, and their answers have no deadline.
    Rules that the judge has no reading of are a `UserError`.
    """
    conditions = conditions or Conditions()
    speed, from_minute = conditions.speed, conditions.from_minute
    if conditions.rules not in READINGS:
        raise UserError(
            f"{answers} follows the rules {conditions.rules}, which cannot be judged; "
            f"rules that can be: {', '.join(READINGS)}"
        )
    started = time.monotonic()
    # Tables that are used again are kept as rows, not as cached plans: Spark does not find a plan again that
    # has Python in it, and would read the stream once more for every use.
    with progress_bar("validating", 4, "steps") as bar, _beside() as beside:
        system = read_answers(spark, answers)
        scope = _scope(spark, workload, xways, sample)
        stream = read_stream(spark, workload)
        # What the reports call for and what the requests do know nothing of each other: while Spark plans the
        # one, or has a single task of it left, it works on the other.
        quoting = beside.submit(quote_tolls, spark, scope.stream, reports=workload.counts.get("reports", 0))
        replies = match_replies(spark, stream, system.of_requests, scope.vehicles).localCheckpoint()
        walked, tolls = _histories(spark, workload, replies)
        bar.update(1)
        quotes = quoting.result()
        bar.update(2)
        requests = compare_requests(spark, replies, quotes.charges, tolls, walked)
        answered, quoted = system.of_vehicles, quotes.quotes
        if scope.vehicles is not None:
            theirs = answered.where("Type IS NOT NULL").join(scope.vehicles, "VID", "left_semi")
            answered = theirs.unionByName(answered.where("Type IS NULL"))
            quoted = quoted.join(scope.vehicles, "VID", "left_semi")
        compared = compare_vehicles(spark, quoted, answered, quotes.tasks)
        compared = compared.unionByName(requests, allowMissingColumns=True)
        tally = _tally(spark, compared, speed, from_minute).localCheckpoint()
        results, malformed, unjudged = _results(tally)
        bar.update(3)
        failed = malformed or not all(result.passed for result in results)
        counts = quotes.counts.groupBy().sum().collect()[0]
        reports, unknown, twice = (count or 0 for count in counts)
        validation = Validation(
            workload=workload.folder,
            answers=answers,
            xways=scope.xways,
            speed=speed,
            from_minute=from_minute,
            reports=reports,
            types=results,
            malformed=malformed,
            differences=_differences(spark, system, malformed, tally, quotes.quotes) if failed else (),
            notes=_notes(unknown, twice, unjudged, speed, from_minute),
            seconds=round(time.monotonic() - started, 1),
        )
        bar.update(4)
        return validation


def write_validation(validation: Validation, path: Path) -> None:
    """Write all of it as JSON, whole or not at all."""
    try:
        write_json(path, validation.facts())
    except OSError as refused:
        raise UserError(f"{path} cannot be written: {refused.strerror}") from refused


@contextmanager
def _beside() -> Iterator[ThreadPoolExecutor]:
    """A thread for what is done meanwhile; nobody waits for it where the rest has failed."""
    thread = ThreadPoolExecutor(1)
    try:
        yield thread
    finally:
        thread.shutdown(wait=False)


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


def _histories(spark: SparkSession, workload: Workload, replies: DataFrame) -> tuple[DataFrame, DataFrame]:
    """The replies to travel time requests with what they should be, and the tolls of days asked for."""
    requests = replies.where("due > 0 AND Type IN (3, 4)").groupBy("Type", "XWay").count().collect()
    if requests:
        require_history(workload)
    days = {row.XWay: row["count"] for row in requests if row.Type == 3}
    daily = replies.where("Type = 3 AND due > 0")
    tolls = tolls_of_days(spark, workload, daily, days)
    journeys = replies.where("Type = 4 AND due > 0")
    with segment_history_files(spark, workload, [row.XWay for row in requests if row.Type == 4]) as files:
        walked = travel_times(journeys, files).localCheckpoint()
    return walked, tolls


_FACTS = (
    *("VID", "QID", "Time", "due", "answers", "first", "second", "expected_first", "expected_second"),
    *("XWay", "Sinit", "Send", "DOW", "TOD", "Day", "response"),
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


def _results(tally: DataFrame) -> tuple[tuple[TypeResult, ...], int, int]:
    """What became of each type, how many rows are no answers, and how many journeys nobody knows."""
    from pyspark.sql import functions

    sums = [functions.sum(column).alias(column) for column in ("cases", "due", "answers", "unknown")]
    rows = tally.groupBy("Type", "verdict", "timing", "milliseconds").agg(*sums).collect()
    by_type: dict[int | None, list[Row]] = defaultdict(list)
    for row in rows:
        by_type[row.Type].append(row)
    return (
        tuple(_result(number, by_type[number]) for number in ANSWER_NAMES),
        sum(row.answers for row in by_type[None]),
        sum(row.unknown for row in rows),
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
    spark: SparkSession, system: Answers, malformed: int, tally: DataFrame, quotes: DataFrame
) -> tuple[Difference, ...]:
    lines = system.malformed(_SHOWN_LINES) if malformed else []
    differences = [Difference(None, "malformed", None, malformed_words(line, text)) for line, text in lines]
    rows = spark.sql(_FIRST, tally=tally, shown=_SHOWN).collect()
    facts = [json.loads(row.facts) for row in rows]
    entered = entered_segments(
        spark, quotes, [(f["VID"], f["Time"]) for row, f in zip(rows, facts, strict=True) if row.Type <= 1]
    )
    for row, known in zip(rows, facts, strict=True):
        context = entered.get((known["VID"], known["Time"]), {}) if row.Type <= 1 else {}
        words = difference_words(row.Type, row.kind, known | context)
        differences.append(Difference(row.Type, row.kind, row.Time, words))
    return tuple(differences)


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
