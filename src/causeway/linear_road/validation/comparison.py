"""Each tuple that calls for an answer beside the answers it got, all five types in one shape.

The shape is Type, VID, QID, Time; how many answers were `due` and how many given (`answers`); whether they
are `accurate`; when the last of them was `ready`; and what words need: the expected values, those `first` and
`second` answered, and the tuple's own fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["compare_requests", "compare_vehicles", "match_replies"]

_PILE = """
SELECT VID, Time, segment, notified, Lav, cars, ahead, Toll, -1 AS Type,
       CAST(NULL AS DOUBLE) AS ready, CAST(NULL AS BIGINT) AS first, CAST(NULL AS BIGINT) AS second
FROM {quotes}
UNION ALL
SELECT VID, Time, NULL, NULL, NULL, NULL, NULL, NULL, Type, ready, first, second FROM {answers}
"""

# Tables 1 and 4. Reports and answers meet in one pile, dealt out by vehicle, which spares a join. Where a
# report has several answers, it fails whatever they say. Rows that are no answers come out with a null Type.
_VEHICLES = """
WITH met AS (
    SELECT VID, Time, max(segment) AS segment, coalesce(max(notified), false) AS notified, max(Lav) AS Lav,
           max(cars) AS cars, coalesce(max(ahead), 0) AS ahead, max(Toll) AS Toll,
           count_if(Type = 0) AS notifications, max(IF(Type = 0, ready, NULL)) AS notified_at,
           max(IF(Type = 0, first, NULL)) AS told_Spd, max(IF(Type = 0, second, NULL)) AS told_Toll,
           count_if(Type = 1) AS alerts, max(IF(Type = 1, ready, NULL)) AS alerted_at,
           max(IF(Type = 1, first, NULL)) AS told_Seg, count_if(Type IS NULL) AS malformed
    FROM {pile} GROUP BY VID, Time
), measured AS (
    SELECT *, IF((segment >> 7 & 1) = 0, told_Seg - (segment & 127), (segment & 127) - told_Seg) AS away
    FROM met
)
SELECT Type, VID, Time, due, answers, accurate, ready, first, second,
       segment, notified, Lav, cars, ahead, Toll
FROM measured LATERAL VIEW stack(3,
    0, IF(notified, 1L, 0L), notifications, told_Spd = Lav AND told_Toll = Toll,
    notified_at, told_Spd, told_Toll,
    1, IF(notified AND ahead <> 0, 1L, 0L), alerts,
    away BETWEEN 0 AND 4 AND (ahead >> CAST(away AS INT) & 1) = 1, alerted_at, told_Seg, NULL,
    NULL, 0L, malformed, false, NULL, NULL, NULL
) AS Type, due, answers, accurate, ready, first, second
WHERE due + answers > 0
"""

# A request's answers are known by its number and time. Numbers should not be shared; where requests of one
# second share one, only the count of answers is judged.
_REPLIES = """
WITH asked AS (
    SELECT Type, CAST(QID AS BIGINT) AS QID, CAST(Time AS BIGINT) AS Time, count(*) AS due,
           min(VID) AS VID, min(XWay) AS XWay, min(Sinit) AS Sinit, min(Send) AS Send, min(DOW) AS DOW,
           min(TOD) AS TOD, min(Day) AS Day
    FROM {stream} WHERE Type IN (2, 3, 4) GROUP BY 1, 2, 3
), told AS (
    SELECT Type, QID, Time, count(*) AS answers, max(first) AS first, max(second) AS second,
           max(ready) AS ready
    FROM {answers} GROUP BY 1, 2, 3
)
SELECT Type, QID, Time, coalesce(due, 0L) AS due, coalesce(answers, 0L) AS answers,
       CAST(VID AS BIGINT) AS VID, XWay, Sinit, Send, DOW, TOD, Day, first, second, ready
FROM asked FULL JOIN told USING (Type, QID, Time)
"""

# Table 5: tolls assessed up to ResultTime, that of the request where there is no answer. A range, not rows,
# is summed, so that a charge of that very second counts.
_BALANCES = """
WITH ledger AS (
    SELECT VID, Time AS moment, CAST(charge AS BIGINT) AS charge, NULL AS request
    FROM {quotes} WHERE charge > 0
    UNION ALL
    SELECT VID, IF(answers = 0, Time, first), 0L, struct(*) FROM {replies} WHERE Type = 2 AND due > 0
), balances AS (
    SELECT request, sum(charge) OVER (PARTITION BY VID ORDER BY moment) AS balance FROM ledger
)
SELECT request.*, CAST(NULL AS BIGINT) AS expected_first, balance AS expected_second,
       request.due > 1 OR request.second = balance
           AND request.first BETWEEN request.Time - 60 AND request.Time AS accurate
FROM balances WHERE request IS NOT NULL
"""

# Table 6.
_EXPENDITURES = """
SELECT replies.*, coalesce(Tolls, 0L) AS expected_first, CAST(NULL AS BIGINT) AS expected_second,
       due > 1 OR first = coalesce(Tolls, 0L) AS accurate
FROM {replies} AS replies LEFT JOIN {tolls} AS tolls
     ON replies.VID = tolls.VID AND replies.Day = tolls.Day AND replies.XWay = tolls.XWay
WHERE Type = 3 AND due > 0
"""

_TRAVEL_TIMES = """
SELECT replies.*, IF(known, travel_time, NULL) AS expected_first, IF(known, toll, NULL) AS expected_second,
       due > 1 OR known IS NOT TRUE OR abs(first - travel_time) <= 1 AND second = toll AS accurate
FROM {replies} AS replies LEFT JOIN {walked} AS walked
     ON replies.QID = walked.QID AND replies.Time = walked.Time
WHERE Type = 4 AND due > 0
"""

_UNCALLED = """
SELECT *, CAST(NULL AS BIGINT) AS expected_first, CAST(NULL AS BIGINT) AS expected_second, false AS accurate
FROM {replies} WHERE due = 0
"""


def compare_vehicles(spark: SparkSession, quotes: DataFrame, answers: DataFrame, tasks: int) -> DataFrame:
    """Toll notifications and accident alerts; `answers` are those of types 0 and 1, and what is none."""
    pile = spark.sql(_PILE, quotes=quotes, answers=answers).repartition(tasks, "VID")
    return spark.sql(_VEHICLES, pile=pile)


def match_replies(
    spark: SparkSession, stream: DataFrame, answers: DataFrame, vehicles: DataFrame | None
) -> DataFrame:
    """Every request, and every answer to a request of that number, time and type, if there is one.

    `answers` are those of types 2 to 4, and what is none: it comes out with a null Type. With `vehicles`,
    requests of others are left out along with their answers.
    """
    replies = spark.sql(_REPLIES, stream=stream, answers=answers)
    if vehicles is not None:
        asked = replies.where("due > 0").join(vehicles, "VID", "left_semi")
        replies = asked.unionByName(replies.where("due = 0"))
    return replies


def compare_requests(
    spark: SparkSession, replies: DataFrame, quotes: DataFrame, tolls: DataFrame, walked: DataFrame
) -> DataFrame:
    """Account balances, daily expenditures and travel times.

    `tolls` are rows of TollHistory (VID, Day, XWay, Tolls), at least all that are asked for; `walked` the
    journeys (QID, Time, travel_time, toll) that are `known`.
    """
    balances = spark.sql(_BALANCES, replies=replies, quotes=quotes)
    expenditures = spark.sql(_EXPENDITURES, replies=replies, tolls=tolls)
    journeys = spark.sql(_TRAVEL_TIMES, replies=replies, walked=walked)
    uncalled = spark.sql(_UNCALLED, replies=replies)
    return balances.unionByName(expenditures).unionByName(journeys).unionByName(uncalled)
