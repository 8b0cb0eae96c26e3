"""What the rules of 2004 make of all position reports: each toll quoted, each accident ahead, each charge.

From the digest of the reports follow the traffic of each segment and minute and its accidents, from these
what is told there, and from that what each vehicle is told and charged. All arithmetic is on whole numbers,
so that a mean that is exactly 40 is not 39.999….
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from causeway.linear_road.validation.digest import AVERAGE_UNIT, digest_reports

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Quotes", "quote_tolls"]

_REPORTS_PER_TASK = 1_000_000
# Segments of so many expressways and minutes fit into every task's memory.
_BROADCAST_SEGMENT_MINUTES = 1_000_000

# Table 3: the last report of four from one place, and each further one, makes a vehicle stopped for 30 s, or
# until it is seen elsewhere on that road.
_STOPS = """
SELECT standing.VID, standing.place, since,
       least(since + 30, array_min(filter(standing.elsewhere, moment -> moment > since))) AS until
FROM {digest} LATERAL VIEW explode(sequence(standing.first + 90, standing.last, 30)) AS since
WHERE standing IS NOT NULL AND (standing.place & 7) BETWEEN 1 AND 3
"""

# Acc of Table 3, and the minutes that it touches. The last sixteen bits of a place are not the segment's.
_ACCIDENTS = """
SELECT DISTINCT CAST(a.place >> 16 AS INT) AS segment, minute
FROM {stops} AS a JOIN {stops} AS b
     ON a.place = b.place AND a.VID < b.VID AND a.since < b.until AND b.since < a.until
LATERAL VIEW explode(sequence(CAST(greatest(a.since, b.since) div 60 + 1 AS INT),
                              CAST((least(a.until, b.until) - 1) div 60 + 1 AS INT))) AS minute
"""

# Tables 2 and 4: what is told in a segment in a minute; nothing has happened where there is no row. Lav is
# the floor of the mean of at most five fractions, average_speeds / AVERAGE_UNIT / cars, brought to one
# denominator: exact as long as a segment has fewer than a hundred thousand vehicles a minute. `ahead` has a
# bit for each Dn(s, d, 0..4) in which an accident stood in the minute before. An accident is ahead of the
# segments up to four upstream, that is at lower numbers when going east (0).
_QUOTED = """
WITH minutes AS (
    SELECT traffic.segment, traffic.minute, sum(traffic.cars) AS cars,
           sum(traffic.average_speeds) AS average_speeds
    FROM {digest} WHERE traffic IS NOT NULL GROUP BY 1, 2
), bearing AS (
    SELECT segment, minute + ago AS minute, ago, cars, average_speeds, 0 AS ahead
    FROM minutes LATERAL VIEW explode(sequence(1, 5)) AS ago
    UNION ALL
    SELECT segment + IF((segment >> 7 & 1) = 0, -away, away), minute + 1, 0, 0, 0, 1 << away
    FROM {accidents} LATERAL VIEW explode(sequence(0, 4)) AS away
    WHERE (segment & 127) + IF((segment >> 7 & 1) = 0, -away, away) BETWEEN 0 AND 99
), brought_together AS (
    SELECT segment, minute, count_if(ago > 0) AS with_vehicles, bit_or(ahead) AS ahead,
           max(IF(ago = 1, cars, 0)) AS cars,
           CAST(max(IF(ago = 1, cars, 1)) AS DECIMAL(38)) AS n1, max(IF(ago = 1, average_speeds, 0)) AS v1,
           CAST(max(IF(ago = 2, cars, 1)) AS DECIMAL(38)) AS n2, max(IF(ago = 2, average_speeds, 0)) AS v2,
           CAST(max(IF(ago = 3, cars, 1)) AS DECIMAL(38)) AS n3, max(IF(ago = 3, average_speeds, 0)) AS v3,
           CAST(max(IF(ago = 4, cars, 1)) AS DECIMAL(38)) AS n4, max(IF(ago = 4, average_speeds, 0)) AS v4,
           CAST(max(IF(ago = 5, cars, 1)) AS DECIMAL(38)) AS n5, max(IF(ago = 5, average_speeds, 0)) AS v5
    FROM bearing GROUP BY segment, minute
), averaged AS (
    SELECT segment, minute, CAST(cars AS INT) AS cars, ahead,
           IF(with_vehicles = 0, -1, CAST((v1 * (n2 * n3 * n4 * n5) + v2 * (n1 * n3 * n4 * n5)
                   + v3 * (n1 * n2 * n4 * n5) + v4 * (n1 * n2 * n3 * n5) + v5 * (n1 * n2 * n3 * n4))
                  div ({AVERAGE_UNIT} * with_vehicles * (n1 * n2 * n3 * n4 * n5)) AS INT)) AS Lav
    FROM brought_together
)
SELECT *, IF(Lav BETWEEN 0 AND 39 AND cars > 50 AND ahead = 0, 2 * (cars - 50) * (cars - 50), 0) AS Toll
FROM averaged
"""

# Table 1. A stay begins with a report from a new segment; in the exit lane nobody is told of it.
_QUOTES = """
SELECT VID, Time, stays.segment, lane <> 4 AS notified, coalesce(Lav, -1) AS Lav, coalesce(cars, 0) AS cars,
       coalesce(ahead, 0) AS ahead, coalesce(Toll, 0) AS Toll
FROM {digest} AS stays LEFT JOIN {quoted} AS quoted
     ON stays.segment = quoted.segment AND CAST(stays.Time div 60 AS INT) + 1 = quoted.minute
WHERE VID IS NOT NULL
"""

# Entering a segment charges what was quoted on entering the one that is left by it. Nothing was, if that was
# in the exit lane; and who was last seen there in the exit lane has left by the ramp.
_CHARGES = """
SELECT VID, Time, Toll AS charge
FROM {digest} AS stays JOIN {quoted} AS quoted
     ON left_segment = quoted.segment AND CAST(left_Time div 60 AS INT) + 1 = quoted.minute
WHERE left_lane <> 4 AND left_last_lane <> 4 AND Toll > 0
"""


@dataclass(frozen=True)
class Quotes:
    """What follows from the position reports."""

    quotes: DataFrame
    """Every report that enters a segment: VID, Time, segment (expressway, direction and segment in one
    number), whether it is `notified`, Lav, cars, the accidents `ahead` and Toll."""
    charges: DataFrame
    """Every toll above 0 that is assessed: VID, Time, charge."""
    counts: DataFrame
    """Rows of how many reports there are, how many `unknown` to any road, and how many a vehicle's second
    one in a second (`twice`), of which the rules say nothing; to be added up."""
    tasks: int
    """Into how many parts a table of the size of `quotes` is best cut."""


def quote_tolls(spark: SparkSession, stream: DataFrame, *, reports: int) -> Quotes:
    """Quote and assess all tolls of a stream, which has about so many position reports."""

    def ask(question: str, **of: Any) -> DataFrame:
        return spark.sql(question, **of)

    cores = spark.sparkContext.defaultParallelism
    tasks = max(cores, -(-reports // _REPORTS_PER_TASK))
    # Kept as rows, not as a cached plan: Spark does not find a plan again that has Python in it.
    digest = digest_reports(spark, stream, tasks).localCheckpoint()
    stops = ask(_STOPS, digest=digest)
    accidents = ask(_ACCIDENTS, stops=stops)
    quoted = ask(_QUOTED, digest=digest, accidents=accidents, AVERAGE_UNIT=AVERAGE_UNIT).localCheckpoint()
    small = quoted.count() <= _BROADCAST_SEGMENT_MINUTES
    looked_up = quoted.hint("broadcast") if small else quoted
    return Quotes(
        quotes=ask(_QUOTES, quoted=looked_up, digest=digest),
        charges=ask(_CHARGES, quoted=looked_up, digest=digest),
        counts=digest.where("counts IS NOT NULL").select("counts.*"),
        tasks=max(cores, tasks // 2),
    )
