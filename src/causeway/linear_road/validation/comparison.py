"""Each tuple that calls for an answer beside the answers it got, all five types in one shape.

The shape is Type, VID, QID, Time; how many answers were `due` and how many given (`answers`); whether they
are `accurate`; when the last of them was `ready`; and what words need: the values expected, those answered
(`first` and `second`, as in `answers`), and a request's own fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["compare_requests", "compare_vehicles", "entered_segments", "match_replies"]

_PILE = """
SELECT VID, CAST(Time AS BIGINT) AS Time, -1 AS Type, CAST(NULL AS DOUBLE) AS ready,
       CAST(Lav AS BIGINT) AS first, CAST(Toll AS BIGINT) AS second, segment << 5 | ahead AS where_and_ahead
FROM {quotes} WHERE notified
UNION ALL
SELECT VID, Time, Type, ready, first, second, NULL FROM {answers}
"""

# Tables 1 and 4. Reports and answers meet in one pile, dealt out by vehicle, which spares a join. Where a
# report has several answers, it fails whatever they say. Rows that are no answers come out with a null Type.
_VEHICLES = """
WITH met AS (
    SELECT VID, Time, count_if(Type = -1) AS due, max(IF(Type = -1, first, NULL)) AS Lav,
           max(IF(Type = -1, second, NULL)) AS Toll, max(where_and_ahead) AS where_and_ahead,
           count_if(Type = 0) AS notifications, max(IF(Type = 0, ready, NULL)) AS notified_at,
           max(IF(Type = 0, first, NULL)) AS answered_Spd, max(IF(Type = 0, second, NULL)) AS answered_Toll,
           count_if(Type = 1) AS alerts, max(IF(Type = 1, ready, NULL)) AS alerted_at,
           max(IF(Type = 1, first, NULL)) AS answered_Seg, count_if(Type IS NULL) AS malformed
    FROM {pile} GROUP BY VID, Time
), measured AS (
    SELECT *, coalesce(where_and_ahead & 31, 0) AS ahead,
           CASE WHEN answered_Seg NOT BETWEEN 0 AND 99 THEN NULL
                WHEN (where_and_ahead >> 12 & 1) = 0 THEN answered_Seg - (where_and_ahead >> 5 & 127)
                ELSE (where_and_ahead >> 5 & 127) - answered_Seg END AS away
    FROM met
)
SELECT Type, VID, Time, judged.due, answers, accurate, ready, first, second, Lav AS expected_first,
       Toll AS expected_second
FROM measured LATERAL VIEW stack(3,
    0, least(due, 1L), notifications, answered_Spd = Lav AND answered_Toll = Toll, notified_at, answered_Spd,
    answered_Toll,
    1, IF(ahead = 0, 0L, 1L), alerts,
    away BETWEEN 0 AND 4 AND (ahead >> CAST(away AS INT) & 1) = 1, alerted_at, answered_Seg, NULL,
    NULL, 0L, malformed, false, NULL, NULL, NULL
) judged AS Type, due, answers, accurate, ready, first, second
WHERE judged.due + answers > 0
"""

# What there is to say about reports whose answers fail.
_ENTERED = """
SELECT /*+ BROADCAST(wanted) */ VID, Time, segment, notified, Lav, cars, ahead, Toll
FROM {quotes} JOIN {wanted} AS wanted USING (VID, Time)
"""

# A request's answers are known by its number and time. Numbers should not be shared; where requests of one
# second share one, only the count of answers is judged.
_REPLIES = """
SELECT Type, QID, Time, count_if(asked) AS due, count_if(NOT asked) AS answers, max(VID) AS VID,
       max(XWay) AS XWay, max(Sinit) AS Sinit, max(Send) AS Send, max(DOW) AS DOW, max(TOD) AS TOD,
       max(Day) AS Day, max(first) AS first, max(second) AS second, max(ready) AS ready
FROM (
    SELECT true AS asked, Type, CAST(QID AS BIGINT) AS QID, CAST(Time AS BIGINT) AS Time,
           CAST(VID AS BIGINT) AS VID, XWay, Sinit, Send, DOW, TOD, Day, CAST(NULL AS BIGINT) AS first,
           CAST(NULL AS BIGINT) AS second, CAST(NULL AS DOUBLE) AS ready
    FROM {stream} WHERE Type IN (2, 3, 4)
    UNION ALL
    SELECT false, Type, QID, Time, NULL, NULL, NULL, NULL, NULL, NULL, NULL, first, second, ready
    FROM {answers}
)
GROUP BY Type, QID, Time
"""

# Table 5: tolls assessed up to ResultTime, that of the request where there is no answer.
_PAID = """
SELECT QID, asked.Time, sum(charge) AS paid
FROM (SELECT QID, Time, VID, IF(answers = 0, Time, first) AS moment FROM {replies}
      WHERE Type = 2 AND due > 0) AS asked
     JOIN {charges} AS charges ON asked.VID = charges.VID AND charges.Time <= moment
GROUP BY QID, asked.Time
"""

_BALANCES = """
SELECT replies.*, CAST(NULL AS BIGINT) AS expected_first, coalesce(paid, 0L) AS expected_second,
       due > 1 OR second = coalesce(paid, 0L) AND first BETWEEN replies.Time - 60 AND replies.Time AS accurate
FROM {replies} AS replies LEFT JOIN {paid} AS paid
     ON replies.QID = paid.QID AND replies.Time = paid.Time
WHERE Type = 2 AND due > 0
"""

# Table 6.
_EXPENDITURES = """
SELECT replies.*, coalesce(Tolls, 0L) AS expected_first, CAST(NULL AS BIGINT) AS expected_second,
       due > 1 OR first = coalesce(Tolls, 0L) AS accurate
FROM {replies} AS replies LEFT JOIN {tolls} AS tolls
     ON replies.VID = tolls.VID AND replies.Day = tolls.Day AND replies.XWay = tolls.XWay
WHERE Type = 3 AND due > 0
"""

# Where the history knows no way, any answer will do.
_TRAVEL_TIMES = """
SELECT * EXCEPT (travel_time, toll), travel_time AS expected_first, toll AS expected_second,
       due > 1 OR travel_time IS NULL
       OR first BETWEEN travel_time - 1 AND travel_time + 1 AND second = toll AS accurate
FROM {walked}
"""

_UNCALLED = """
SELECT *, CAST(NULL AS BIGINT) AS expected_first, CAST(NULL AS BIGINT) AS expected_second, false AS accurate
FROM {replies} WHERE due = 0
"""


def compare_vehicles(spark: SparkSession, quotes: DataFrame, answers: DataFrame, tasks: int) -> DataFrame:
    """Toll notifications and accident alerts; `answers` are those of types 0 and 1, and what is none."""
    pile = spark.sql(_PILE, quotes=quotes, answers=answers).repartition(tasks, "VID")
    return spark.sql(_VEHICLES, pile=pile)


def entered_segments(
    spark: SparkSession, quotes: DataFrame, moments: Sequence[tuple[int, int]]
) -> dict[tuple[int, int], dict[str, Any]]:
    """What was to be answered at each (VID, Time), of those at which a segment was entered."""
    if not moments:
        return {}
    wanted = spark.createDataFrame(list(set(moments)), "VID BIGINT, Time BIGINT")
    rows = spark.sql(_ENTERED, quotes=quotes, wanted=wanted).collect()
    return {(row.VID, row.Time): row.asDict() for row in rows}


def match_replies(
    spark: SparkSession, stream: DataFrame, answers: DataFrame, vehicles: DataFrame | None
) -> DataFrame:
    """Every request, and every answer to a request of that number, time and type, if there is one.

    `answers` are those of types 2 to 4, and what is none: it comes out with a null Type. With `vehicles`,
    requests of others are left out along with their answers.
    """
    replies = spark.sql(_REPLIES, stream=stream, answers=answers)
    if vehicles is not None:
        requests = replies.where("due > 0").join(vehicles, "VID", "left_semi")
        replies = requests.unionByName(replies.where("due = 0"))
    return replies


def compare_requests(
    spark: SparkSession, replies: DataFrame, charges: DataFrame, tolls: DataFrame, walked: DataFrame
) -> DataFrame:
    """Account balances, daily expenditures and travel times.

    `charges` are (VID, Time, charge); `tolls` rows of TollHistory (VID, Day, XWay, Tolls), at least all that
    are asked for; `walked` the replies to travel time requests, with what they should be.
    """
    paid = spark.sql(_PAID, replies=replies, charges=charges)
    balances = spark.sql(_BALANCES, replies=replies, paid=paid)
    expenditures = spark.sql(_EXPENDITURES, replies=replies, tolls=tolls)
    journeys = spark.sql(_TRAVEL_TIMES, walked=walked)
    uncalled = spark.sql(_UNCALLED, replies=replies)
    return balances.unionByName(expenditures).unionByName(journeys).unionByName(uncalled)
