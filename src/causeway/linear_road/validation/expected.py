"""What the rules of 2004 make of all position reports: each toll quoted, each accident ahead, each charge.

One pass over the reports in the order of vehicle and time keeps the few that enter a segment or stand still,
and sums all into minutes of segments; the rest works on these two small tables. All arithmetic is on whole
numbers, so that a mean that is exactly 40 is not 39.999….
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from causeway.linear_road.stream_frame import literal_path
from causeway.linear_road.tuples import INPUT_DDL
from causeway.linear_road.workload import Workload

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Quotes", "quote_tolls", "read_stream"]

# Small enough to sort in a processor's own memory.
_REPORTS_PER_TASK = 500_000
# Segments of so many expressways and minutes fit into every task's memory.
_BROADCAST_SEGMENT_MINUTES = 1_000_000

# A report in one number, so that little is moved and sorted. From the high bits down: second of the half
# minute (5), half minute (15), expressway (12), direction (1), segment (7), feet into it (13), lane (3),
# speed (7). In this order a vehicle's report of exactly 30 s earlier stands just before, and its number
# `>> 43` is one less. A report that the roads do not have is the number UNKNOWN, and takes no part.
_UNKNOWN = -(1 << 62)
_PLACE = (1 << 36) - 1

_PACKED = """
SELECT CAST(VID AS BIGINT) AS VID, IF(coalesce(Time BETWEEN 0 AND 983039
                        AND XWay BETWEEN 0 AND 4095 AND Dir BETWEEN 0 AND 1
                        AND Seg BETWEEN 0 AND 99 AND Pos BETWEEN 5280 * Seg AND 5280 * Seg + 5279
                        AND Lane BETWEEN 0 AND 4 AND Spd BETWEEN 0 AND 127, false),
       CAST(Time % 30 AS BIGINT) << 58 | CAST(Time div 30 AS BIGINT) << 43 | CAST(XWay AS BIGINT) << 31
       | CAST(Dir AS BIGINT) << 30 | CAST(Seg AS BIGINT) << 23 | CAST(Pos - 5280 * Seg AS BIGINT) << 10
       | CAST(Lane AS BIGINT) << 7 | Spd, {UNKNOWN}) AS report
FROM {stream} WHERE Type = 0 AND VID IS NOT NULL
"""

# Both branches read the same shuffled reports, which Spark therefore moves once. Table 2's Avgsv is
# `speeds div reports` of one vehicle; 720720 is a multiple of 1 to 16, so that it stays a whole number
# for up to 16 reports of a vehicle from a segment in a minute.
_MARKED = """
WITH vehicle_minutes AS (
    SELECT VID, IF(report < 0, -1, (report >> 44 & 16383) << 20 | report >> 23 & 1048575) AS segment_minute,
           sum(report & 127) AS speeds, count(*) AS reports
    FROM {reports} GROUP BY 1, 2
), neighbours AS (
    SELECT *, lag(report) OVER (PARTITION BY VID ORDER BY report) AS before FROM {reports}
), marked AS (
    SELECT VID, report, before,
           coalesce(before >> 43 = (report >> 43) - 1, false) AS follows,
           coalesce(before >> 43 = report >> 43, false) AS twice
    FROM neighbours
)
SELECT CAST(NULL AS BIGINT) AS VID, CAST(NULL AS BIGINT) AS Time, segment_minute & 1048575 AS segment,
       CAST(segment_minute >> 20 AS INT) + 1 AS minute, CAST(NULL AS INT) AS lane,
       CAST(NULL AS INT) AS lane_before, CAST(NULL AS BIGINT) AS place, false AS rests, false AS twice,
       count(*) AS cars, sum(720720 * speeds div reports) AS average_speeds, sum(reports) AS reports
FROM vehicle_minutes GROUP BY segment_minute
UNION ALL
SELECT VID, (report >> 58) + 30 * (report >> 43 & 32767), report >> 23 & 1048575,
       CAST(report >> 44 & 16383 AS INT) + 1, CAST(report >> 7 & 7 AS INT),
       IF(follows, CAST(before >> 7 & 7 AS INT), NULL), report >> 7 & {PLACE},
       follows AND (report >> 7 & {PLACE}) = (before >> 7 & {PLACE}), twice, NULL, NULL, NULL
FROM marked {of_vehicles}
WHERE report >= 0 AND (NOT follows OR (report >> 23 & 127) <> (before >> 23 & 127)
                       OR (report >> 7 & {PLACE}) = (before >> 7 & {PLACE}))
"""

_COUNTED = """
SELECT coalesce(sum(reports), 0) AS reports, count(VID) AS marked,
       coalesce(sum(IF(minute = 0, reports, 0)), 0) AS unknown, count_if(twice) AS twice,
       count_if(VID IS NULL) AS segment_minutes
FROM {marked}
"""

# Table 2. Lav is the floor of the mean of at most five fractions (average_speeds / 720720 / cars), brought to
# one denominator: exact as long as a segment has fewer than a hundred thousand vehicles a minute.
_STATISTICS = """
WITH five_minutes AS (
    SELECT segment, minute + ago AS minute, count(*) AS with_vehicles, max(IF(ago = 1, cars, 0)) AS cars,
           CAST(max(IF(ago = 1, cars, 1)) AS DECIMAL(38)) AS n1, max(IF(ago = 1, average_speeds, 0)) AS v1,
           CAST(max(IF(ago = 2, cars, 1)) AS DECIMAL(38)) AS n2, max(IF(ago = 2, average_speeds, 0)) AS v2,
           CAST(max(IF(ago = 3, cars, 1)) AS DECIMAL(38)) AS n3, max(IF(ago = 3, average_speeds, 0)) AS v3,
           CAST(max(IF(ago = 4, cars, 1)) AS DECIMAL(38)) AS n4, max(IF(ago = 4, average_speeds, 0)) AS v4,
           CAST(max(IF(ago = 5, cars, 1)) AS DECIMAL(38)) AS n5, max(IF(ago = 5, average_speeds, 0)) AS v5
    FROM {marked} LATERAL VIEW explode(sequence(1, 5)) AS ago
    WHERE VID IS NULL AND minute > 0
    GROUP BY 1, 2
)
SELECT segment, minute, CAST(cars AS INT) AS cars,
       CAST((n2 * n3 * n4 * n5 * v1 + n1 * n3 * n4 * n5 * v2 + n1 * n2 * n4 * n5 * v3
             + n1 * n2 * n3 * n5 * v4 + n1 * n2 * n3 * n4 * v5)
            div (n1 * n2 * n3 * n4 * n5 * with_vehicles * 720720) AS INT) AS Lav
FROM five_minutes
"""

# Table 3. Rests are reports from where the report before was: the third of a row is the fourth report there.
# Whoever starts another trip elsewhere within 30 s of the last one is no longer stopped.
_STOPS = """
WITH rests AS (
    SELECT VID, place, Time,
           Time - 30 * row_number() OVER (PARTITION BY VID, place, Time % 30 ORDER BY Time) AS run
    FROM {marked} WHERE rests AND lane BETWEEN 1 AND 3
), stops AS (
    SELECT VID, place, min(Time) + 60 AS since, max(Time) AS last
    FROM rests GROUP BY VID, place, run HAVING count(*) >= 3
), starts AS (
    SELECT VID, place, Time FROM {marked} WHERE VID IS NOT NULL AND lane_before IS NULL
)
SELECT stops.VID, place, since, least(last + 30, gone) AS until
FROM stops LEFT JOIN (
    SELECT /*+ BROADCAST(stops) */ stops.VID, stops.place, stops.last, min(Time) AS gone
    FROM starts JOIN stops ON starts.VID = stops.VID AND starts.place <> stops.place
                              AND Time > last AND Time < last + 30
    GROUP BY ALL
) USING (VID, place, last)
"""

# Acc of Table 3, and the minutes that it touches; a place's last sixteen bits are the feet into the
# segment and the lane.
_ACCIDENTS = """
SELECT DISTINCT a.place >> 16 AS segment, minute
FROM {stops} AS a JOIN {stops} AS b
     ON a.place = b.place AND a.VID < b.VID AND a.since < b.until AND b.since < a.until
LATERAL VIEW explode(sequence(greatest(a.since, b.since) div 60 + 1,
                              (least(a.until, b.until) - 1) div 60 + 1)) AS minute
"""

# What a vehicle is told that enters the segment in the minute. Bit i of `ahead` is set where an accident
# stood in the minute before in the segment i downstream, for i from 0 to 4 (Table 4).
_TOLD = """
WITH alerts AS (
    SELECT IF((segment >> 7 & 1) = 0, segment - away, segment + away) AS segment, minute + 1 AS minute,
           bit_or(1 << away) AS ahead
    FROM {accidents} LATERAL VIEW explode(sequence(0, 4)) AS away
    WHERE IF((segment >> 7 & 1) = 0, (segment & 127) - away, (segment & 127) + away) BETWEEN 0 AND 99
    GROUP BY 1, 2
)
SELECT segment, minute, coalesce(Lav, -1) AS Lav, coalesce(cars, 0) AS cars, coalesce(ahead, 0) AS ahead,
       IF(Lav < 40 AND cars > 50 AND ahead IS NULL, 2 * (cars - 50) * (cars - 50), 0) AS Toll
FROM {statistics} FULL JOIN alerts USING (segment, minute)
"""

_ENTRIES = """
SELECT VID, Time, segment, minute, lane, lane_before FROM {marked} WHERE VID IS NOT NULL AND NOT rests
"""

# Who enters a segment in the exit lane is told nothing and charged nothing for it; who was last seen there
# in the exit lane has left by the ramp. Otherwise crossing into another segment (a report that follows
# another of its trip) charges what was quoted on entering the one before.
_QUOTES = """
WITH told AS (
    SELECT VID, Time, segment, lane, lane_before, coalesce(Lav, -1) AS Lav, coalesce(cars, 0) AS cars,
           coalesce(ahead, 0) AS ahead, coalesce(Toll, 0) AS Toll
    FROM {entries} LEFT JOIN {told} USING (segment, minute)
)
SELECT VID, Time, segment, lane <> 4 AS notified, Lav, cars, ahead, Toll,
       IF(lane_before <> 4,
          lag(IF(lane <> 4, Toll, 0)) OVER (PARTITION BY VID ORDER BY Time % 30, Time), 0) AS charge
FROM told
"""


@dataclass(frozen=True)
class Quotes:
    """What follows from the position reports."""

    tasks: int
    """Into how many parts a table of this size is best cut."""
    table: DataFrame
    """Every report that enters a segment: VID, Time, segment (expressway, direction and segment in one
    number), whether it is `notified`, Lav, cars, the accidents `ahead` and Toll, and the `charge` for the
    segment that it left."""
    reports: int
    unknown: int
    """Reports with a field that no road has; they take no part."""
    twice: int
    """Reports of vehicles that report twice in a second, of which the rules say nothing."""


def read_stream(spark: SparkSession, workload: Workload) -> DataFrame:
    """All tuples of the workload."""
    paths = [literal_path(part) for part in workload.parts]
    reader = spark.read.schema(INPUT_DDL)
    return reader.csv(paths) if workload.format == "csv" else reader.parquet(*paths)


def quote_tolls(
    spark: SparkSession, stream: DataFrame, *, reports: int, vehicles: DataFrame | None = None
) -> Quotes:
    """Apply the rules to all reports of `stream`; quotes are told of `vehicles` only, if given.

    `reports` is about how many there are: the work is cut by it.
    """

    def ask(question: str, **of: Any) -> DataFrame:
        return spark.sql(question, UNKNOWN=_UNKNOWN, PLACE=_PLACE, **of)

    tasks = max(spark.sparkContext.defaultParallelism, -(-reports // _REPORTS_PER_TASK))
    by_vehicle = ask(_PACKED, stream=stream).repartition(tasks, "VID")
    if vehicles is None:
        marked = ask(_MARKED.replace("{of_vehicles}", ""), reports=by_vehicle)
    else:
        only = "LEFT SEMI JOIN {vehicles} USING (VID)"
        marked = ask(_MARKED.replace("{of_vehicles}", only), reports=by_vehicle, vehicles=vehicles)
    # A checkpoint, since each of the questions below would otherwise run the pass again.
    marked = marked.localCheckpoint()
    counted = ask(_COUNTED, marked=marked).collect()[0]
    stops = ask(_STOPS, marked=marked).localCheckpoint()
    accidents = ask(_ACCIDENTS, stops=stops)
    told = ask(_TOLD, statistics=ask(_STATISTICS, marked=marked), accidents=accidents)
    if counted.segment_minutes <= _BROADCAST_SEGMENT_MINUTES:
        told = told.hint("broadcast")
    fewer = max(spark.sparkContext.defaultParallelism, tasks // 3)
    entries = ask(_ENTRIES, marked=marked).repartition(fewer, "VID")
    quotes = ask(_QUOTES, entries=entries, told=told).localCheckpoint()
    return Quotes(fewer, quotes, counted.reports, counted.unknown, counted.twice)
