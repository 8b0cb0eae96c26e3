"""The ideal timeline and ours, from the events and answers of a run, and the area between them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from causeway.nexmark.events.firehose_process import FirehoseClock
from causeway.nexmark.judge.check import register_tables
from causeway.nexmark.judge.output_matching.areas import (
    F64,
    I64,
    Emissions,
    Matching,
    Span,
    Steps,
    match_answers,
    match_counts,
    match_sets,
    match_values,
)
from causeway.nexmark.judge.output_matching.ideal import Ideal, find_ideal
from causeway.nexmark.queries import Query
from causeway.nexmark.queries.answers import batch_notes
from causeway.streaming.sink import BatchFolder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["ideal_timeline", "our_timeline", "output_matching"]

_POINT_LIMIT: Final = 500
_DIGITS: Final = 7


def output_matching(
    spark: SparkSession,
    query: Query,
    spool_folder: Path,
    answers_folder: Path,
    clock: FirehoseClock,
    warm_up: float,
) -> dict[str, Any]:
    """How far a run's answers were from the ideal system's, for JSON; all times are seconds since it started.

    From the end of the warm-up to when the last slice was due: what the end of the streams closes has no time
    of its own.
    """
    ideal = find_ideal(query)
    span = Span(min(warm_up, clock.slices * clock.interval), clock.slices * clock.interval)
    register_tables(spark, query.model, spool_folder)
    end = round(clock.first_time + span.end * clock.time_per_second)
    timeline = ideal_timeline(spark, ideal, end)
    readable = {note.batch: note.readable - clock.started for note in batch_notes(answers_folder)}
    if not ideal.ours:
        ours_counted = _counts(answers_folder, readable)
        matching = match_counts((_seconds(timeline, clock), _doubles(timeline, "value")), ours_counted, span)
        names = pa.array([], pa.string())
    else:
        ours = our_timeline(spark, ideal, answers_folder, readable)
        names = pc.unique(pa.concat_arrays([_keys(timeline), _keys(ours)]))
        when = np.array([readable[number] for number in _longs(ours, "batch").tolist()], np.float64)
        matching = _match(
            ideal,
            Emissions(_seconds(timeline, clock), _codes(timeline, names), _doubles(timeline, "value")),
            Emissions(when, _codes(ours, names), _doubles(ours, "value")),
            span,
        )
    return _facts(ideal, matching, span, names)


def _match(ideal: Ideal, wanted: Emissions, found: Emissions, span: Span) -> Matching:
    if ideal.distance == "value":
        return match_values(wanted, found, span)
    if ideal.distance == "rows":
        return match_answers(wanted, found, span)
    return match_sets((wanted.times, wanted.keys), (found.times, found.keys), span)


def ideal_timeline(spark: SparkSession, ideal: Ideal, before: int) -> pa.Table:
    """What the ideal system tells before a millisecond: `time` in these, `key` and `value`.

    Where only the number of answers counts, it is the value, and there is no key.
    """
    rows = spark.sql(ideal.text).where(f"unix_millis(time) < {before}")
    if not ideal.ours:
        return (
            rows.groupBy("time").count().selectExpr("unix_millis(time) AS time", "count AS value").toArrow()
        )
    value = "value" if ideal.distance != "set" else "0"
    return rows.selectExpr(
        "unix_millis(time) AS time", "CAST(key AS STRING) AS key", f"CAST({value} AS DOUBLE) AS value"
    ).toArrow()


def _counts(folder: Path, readable: Mapping[int, float]) -> tuple[F64, F64]:
    """When each batch was readable, and its number of answers."""
    rows = [
        sum(pq.read_metadata(file).num_rows for file in BatchFolder(folder).output(number).glob("*.parquet"))
        for number in readable
    ]
    return np.array(list(readable.values()), np.float64), np.array(rows, np.float64)


def our_timeline(spark: SparkSession, ideal: Ideal, folder: Path, readable: Mapping[int, float]) -> pa.Table:
    """Our answers as they stood after each `batch`: `key` and `value`."""
    schema = pa.schema([("batch", pa.int64()), ("key", pa.string()), ("value", pa.float64())])
    written = (file for number in readable for file in BatchFolder(folder).output(number).glob("*.parquet"))
    files = [str(file.resolve()) for file in written if pq.read_metadata(file).num_rows]
    if not files:
        return schema.empty_table()
    ours = ideal.ours
    rows = spark.read.parquet(*files).selectExpr(
        "CAST(regexp_extract(_metadata.file_path, 'batch-([0-9]+)', 1) AS LONG) AS batch",
        f"CAST({ours['key']} AS STRING) AS key",
        f"CAST({ours.get('value', '0')} AS DOUBLE) AS value",
        # All answers of a key are one task's, so that a later one stands further down in the batch's file.
        f"{ours.get('newest', '_metadata.row_index')} AS newest",
        f"{ours.get('part', 'NULL')} AS part",
    )
    rows = rows.where("key IS NOT NULL")
    if ideal.distance == "set":
        rows = rows.selectExpr("*", "rank() OVER (PARTITION BY batch ORDER BY newest DESC) AS place")
        return rows.where("place = 1").select("batch", "key", "value").distinct().toArrow()
    newest = _newest(rows)
    return (_summed(newest) if "part" in ours else newest).select("batch", "key", "value").toArrow()


def _newest(rows: DataFrame) -> DataFrame:
    """The last value that a batch has of each key's part."""
    from pyspark.sql import functions as sql

    return rows.groupBy("batch", "key", "part").agg(sql.max_by("value", "newest").alias("value"))


def _summed(rows: DataFrame) -> DataFrame:
    """The sum of the current values of a key's parts, after each batch that changed one."""
    changes = rows.selectExpr(
        "batch",
        "key",
        "value - lag(value, 1, 0D) OVER (PARTITION BY key, part ORDER BY batch) AS change",
    )
    return (
        changes.groupBy("batch", "key")
        .agg({"change": "sum"})
        .selectExpr("batch", "key", "sum(`sum(change)`) OVER (PARTITION BY key ORDER BY batch) AS value")
    )


def _seconds(rows: pa.Table, clock: FirehoseClock) -> F64:
    """As `FirehoseClock.wall`, since it started: what happened before then was there at the start."""
    since = (_longs(rows, "time") - clock.first_time) / clock.time_per_second
    seconds: F64 = np.maximum(since, 0.0)
    return seconds


def _longs(rows: pa.Table, column: str) -> I64:
    found: I64 = rows.column(column).to_numpy().astype(np.int64)
    return found


def _doubles(rows: pa.Table, column: str) -> F64:
    found: F64 = rows.column(column).to_numpy().astype(np.float64)
    return found


def _keys(rows: pa.Table) -> pa.Array:
    keys = rows.column("key").cast(pa.string()).combine_chunks()
    return (
        keys if isinstance(keys, pa.Array) else pa.concat_arrays(keys.chunks or [pa.array([], pa.string())])
    )


def _codes(rows: pa.Table, names: pa.Array) -> I64:
    codes: I64 = pc.index_in(_keys(rows), names).to_numpy(zero_copy_only=False).astype(np.int64)
    return codes


def _facts(ideal: Ideal, matching: Matching, span: Span, names: pa.Array) -> dict[str, Any]:
    shown = names[matching.key].as_py() if matching.key is not None else None
    return {
        "metric": matching.metric,
        "unit": ideal.unit,
        "distance": ideal.distance,
        "compared": ideal.words,
        "keys": len(names) if ideal.distance == "value" else None,
        "from_second": span.begin,
        "to_second": span.end,
        "timeline": {
            "of": shown,
            "ideal": _points(matching.ideal, span),
            "ours": _points(matching.ours, span),
            "distance": _points(matching.distance, span),
        },
    }


def _points(steps: Steps, span: Span) -> dict[str, list[float]]:
    """Few enough to draw; a value holds until the next."""
    few = steps.thinned(span, _POINT_LIMIT)
    return {
        "seconds": [round(second, 4) for second in few.times.tolist()],
        "values": [float(f"{value:.{_DIGITS}g}") for value in few.values.tolist()],
    }
