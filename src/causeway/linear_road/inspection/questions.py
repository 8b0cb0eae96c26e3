"""What `inspect` asks of a workload's tuples, in SQL.

`MARKED` does the heavy work in one pass in the order of vehicle and time; most others ask its small answer.
In braces are the tables that a question is put to, the marks by their names, and what the settings are.
"""

from __future__ import annotations

from enum import IntFlag


class Mark(IntFlag):
    """What a report is by the reports of its vehicle before and after it."""

    STARTS = 1
    ENDS = 2
    AT_REST = 4
    TOO_SOON = 8
    VANISHED = 16
    TWO_AT_ONCE = 32
    OUT_OF_SEQUENCE = 64
    BACKWARDS = 128
    WRONG_RAMP = 256


# Reports that stay single in the answer of MARKED; the others are summed.
SINGLE = Mark.STARTS | Mark.ENDS | Mark.AT_REST

SCAN = """
SELECT Type, pmod(Time, 30) AS phase, count(*) AS tuples,
       min(Time) AS first_second, max(Time) AS last_second,
       max(Spd) AS top_speed, min(Spd) AS lowest_speed,
       max(CASE WHEN Lane IN (0, 4) THEN Spd END) AS top_ramp_speed,
       count_if(Type = 0 AND coalesce(Seg <> Pos div 5280, true)) AS wrong_segment,
       count_if(coalesce(CASE Type WHEN 0 THEN NOT in_domain
                                   WHEN 2 THEN false WHEN 3 THEN false WHEN 4 THEN false END, true)
       ) AS outside_domain,
       count_if(NOT coalesce(CASE Type
           WHEN 0 THEN true
           WHEN 2 THEN QID >= 0
           WHEN 3 THEN QID >= 0 AND Day BETWEEN 1 AND 70 AND XWay >= 0 AND XWay < {roads}
           WHEN 4 THEN QID >= 0 AND Sinit BETWEEN 0 AND 99 AND Send BETWEEN 0 AND 99
                       AND DOW BETWEEN 1 AND 7 AND TOD BETWEEN 1 AND 1440 AND XWay >= 0 AND XWay < {roads}
           ELSE true END, false)) AS unanswerable
FROM {stream} GROUP BY ALL
"""

# A report in one number, so that little is moved and sorted. From the high bits down: expressway,
# direction, segment, lane, position, speed. `>> 38` is the road, `>> 31` the segment, `>> 8` the place.
PACKED = """
SELECT VID, Time,
       CAST(XWay AS BIGINT) << 39 | CAST(Dir AS BIGINT) << 38 | CAST(Seg AS BIGINT) << 31
       | CAST(Lane AS BIGINT) << 28 | CAST(Pos AS BIGINT) << 8 | greatest(0, least(255, Spd)) AS report
FROM {stream} WHERE Type = 0 AND in_domain
"""

MARKED = """
WITH neighbours AS (
    SELECT *,
           lag(Time) OVER vehicle AS time_before, lag(report) OVER vehicle AS before,
           lead(Time) OVER vehicle AS time_after, lead(report) OVER vehicle AS after
    FROM {reports} WINDOW vehicle AS (PARTITION BY VID ORDER BY Time, report)
), fields AS (
    SELECT *,
           CAST(report & 255 AS INT) AS speed, CAST(before & 255 AS INT) AS speed_before,
           CAST(report >> 28 & 7 AS INT) AS lane, CAST(before >> 28 & 7 AS INT) AS lane_before,
           coalesce(time_before = Time - 30, false) AS follows,
           report >> 38 = before >> 38 AS same_road,
           IF((report >> 38 & 1) = 0, 1, -1) * ((report >> 31 & 127) - (before >> 31 & 127)) AS segments_on,
           IF((report >> 38 & 1) = 0, 1, -1) * ((report >> 8 & 1048575) - (before >> 8 & 1048575)) AS feet_on,
           coalesce(report >> 31 = before >> 31 AND Time div 60 = time_before div 60, false) AS again
    FROM neighbours
), marked AS (
    SELECT *,
           IF(follows, 0, {STARTS})
           | IF(coalesce(time_after = Time + 30, false), 0, {ENDS})
           | IF(follows AND report >> 8 = before >> 8, {AT_REST}, 0)
           | IF(coalesce(Time - time_before < 30, false), {TOO_SOON}, 0)
           | IF(coalesce(Time - time_before > 30 AND lane_before <> 4, false), {VANISHED}, 0)
           | IF(coalesce(Time = time_before, false)
                OR coalesce(NOT same_road AND before >> 38 = after >> 38
                            AND time_after - time_before = 30, false), {TWO_AT_ONCE}, 0)
           | IF(follows AND NOT (same_road AND segments_on IN (0, 1)), {OUT_OF_SEQUENCE}, 0)
           | IF(follows AND same_road AND feet_on < 0, {BACKWARDS}, 0)
           | IF(follows AND (lane = 0 AND lane_before <> 0
                             OR lane <> 4 AND lane_before = 4), {WRONG_RAMP}, 0) AS marks
    FROM fields
)
SELECT report >> 31 AS segment, Time div 60 + 1 AS minute, marks,
       IF(marks & {SINGLE} <> 0, VID, NULL) AS VID,
       IF(marks & {SINGLE} <> 0, Time, NULL) AS Time,
       IF(marks & {SINGLE} <> 0, report >> 8, NULL) AS place,
       IF(marks & {AT_REST} <> 0, least(Time + 30, time_after), NULL) AS until,
       count(*) AS reports,
       sum(speed) AS speeds,
       count_if(lane BETWEEN 1 AND 3) AS travelling,
       sum(IF(lane BETWEEN 1 AND 3, speed, 0)) AS travel_speeds,
       -- A vehicle reports at most twice from a segment in a minute; twice the mean is then the sum.
       count_if(NOT again) AS cars,
       sum(IF(again, speed - speed_before, 2 * speed)) AS twice_car_speeds,
       count_if(lane <> 4 AND (NOT follows OR segments_on <> 0)) AS toll_notifications
FROM marked GROUP BY 1, 2, 3, 4, 5, 6, 7
"""

CELLS = """
SELECT segment, minute, sum(reports) AS reports, sum(speeds) AS speeds, sum(cars) AS cars,
       sum(travel_speeds) / nullif(sum(travelling), 0) AS travel_speed,
       sum(twice_car_speeds) / 2 / sum(cars) AS mean_speed, sum(toll_notifications) AS toll_notifications
FROM {marked} GROUP BY 1, 2
"""

VEHICLES = """
SELECT count(*) AS vehicles, coalesce(sum(trips), 0) AS trips,
       count_if(trips > 1) AS vehicles_with_several_trips,
       count_if(several_roads) AS vehicles_on_several_expressways
FROM (SELECT count(*) AS trips, min(segment >> 8) <> max(segment >> 8) AS several_roads
      FROM {marked} WHERE marks & {STARTS} <> 0 GROUP BY VID)
"""

FAULTS = "SELECT marks, sum(reports) AS reports FROM {marked} GROUP BY marks"

TRIP_ENDS = """
SELECT CAST(segment & 127 AS INT) AS segment,
       count_if(starts AND inside) AS to_enter, count_if(starts AND inside AND lane = 0) AS entered,
       count_if(ends AND Time <= {last} - 30) AS to_exit,
       count_if(ends AND Time <= {last} - 30 AND lane = 4) AS exited,
       count_if(starts AND lane = 0) AS entries, count_if(ends AND lane = 4) AS exits
FROM (SELECT *, marks & {STARTS} <> 0 AS starts, marks & {ENDS} <> 0 AS ends, place >> 20 & 7 AS lane,
             Time >= {first_whole} AS inside
      FROM {marked} WHERE marks & ({STARTS} | {ENDS}) <> 0)
GROUP BY 1
"""

# At rest is a report from where the one before was: the third of them in a row is the fourth report there.
ACCIDENTS = """
WITH numbered AS (
    SELECT VID, place, Time, until,
           Time - 30 * row_number() OVER (PARTITION BY VID, place ORDER BY Time) AS run
    FROM {marked} WHERE marks & {AT_REST} <> 0 AND (place >> 20 & 7) BETWEEN 1 AND 3
), stops AS (
    SELECT place, min(Time) + 60 AS since, max(until) AS until
    FROM numbered GROUP BY VID, place, run HAVING count(*) >= 3
), changes AS (
    SELECT place, second, sum(change) AS change
    FROM (SELECT place, since AS second, 1 AS change FROM stops
          UNION ALL SELECT place, until, -1 FROM stops)
    GROUP BY place, second
), stopped AS (
    SELECT place, second, sum(change) OVER (PARTITION BY place ORDER BY second) >= 2 AS accident FROM changes
), turns AS (
    SELECT *, coalesce(lag(accident) OVER (PARTITION BY place ORDER BY second), false) AS accident_before
    FROM stopped
), intervals AS (
    SELECT place, accident, second AS detected,
           lead(second) OVER (PARTITION BY place ORDER BY second) AS cleared
    FROM turns WHERE accident <> accident_before
)
SELECT CAST(place >> 31 AS INT) AS expressway, CAST(place >> 30 & 1 AS INT) AS direction,
       CAST(place >> 20 & 7 AS INT) AS lane, CAST(place >> 23 & 127 AS INT) AS segment,
       CAST(place & 1048575 AS INT) AS position, detected, cleared, cleared > {last} AS standing
FROM intervals WHERE accident
"""

ACCIDENT_MINUTES = """
SELECT DISTINCT CAST(expressway AS BIGINT) << 8 | direction << 7 | segment AS segment, minute FROM {accidents}
LATERAL VIEW explode(sequence(detected div 60 + 1, (cleared - 1) div 60 + 1)) AS minute
"""

ALERTS = """
SELECT coalesce(sum(toll_notifications), 0) AS alerts FROM {cells} LEFT SEMI JOIN (
    SELECT IF((segment >> 7 & 1) = 0, segment - away, segment + away) AS segment, minute + 1 AS minute
    FROM {accident_minutes} LATERAL VIEW explode(sequence(0, 4)) AS away
    WHERE (segment & 127) + IF((segment >> 7 & 1) = 0, -away, away) BETWEEN 0 AND 99
) USING (segment, minute)
"""

# Ramps are slow whatever the density, and weigh most where few drive: only the travel lanes are compared.
SPEEDS = """
SELECT sum(speeds) / sum(reports) AS mean_speed,
       avg(CASE WHEN cars > {DENSE} THEN travel_speed END) AS dense_speed,
       avg(CASE WHEN cars < {SPARSE} THEN travel_speed END) AS sparse_speed,
       sum(IF(accident, speeds, 0)) / nullif(sum(IF(accident, reports, 0)), 0) AS accident_speed,
       count(DISTINCT segment >> 7) AS directions,
       coalesce(sum(toll_notifications), 0) AS toll_notifications
FROM {cells} LEFT JOIN (SELECT *, true AS accident FROM {accident_minutes}) USING (segment, minute)
"""

MINUTES = """
WITH congested AS (
    SELECT minute, count(*) AS congested FROM (
        SELECT segment, minute + ago AS minute
        FROM {cells} LATERAL VIEW explode(sequence(1, 5)) AS ago
        GROUP BY 1, 2
        HAVING floor(round(avg(mean_speed), 6)) < 40 AND max(IF(ago = 1, cars, 0)) > 50
    ) GROUP BY minute
)
SELECT minute, reports, speeds, coalesce(congested, 0) AS congested
FROM (SELECT minute, sum(reports) AS reports, sum(speeds) AS speeds FROM {cells} GROUP BY minute)
FULL OUTER JOIN congested USING (minute)
"""

REQUEST_MOMENTS = """
SELECT shiftleft(CAST(VID AS BIGINT), 32) + Time AS moment, count(*) AS requests
FROM {stream} WHERE Type IN (2, 3, 4) GROUP BY 1
"""

REQUESTS_WITH_REPORT = """
SELECT coalesce(sum(requests), 0) AS requests FROM (
    SELECT DISTINCT moment, requests
    FROM (SELECT shiftleft(CAST(VID AS BIGINT), 32) + Time AS moment FROM {stream} WHERE Type = 0)
    JOIN {moments} USING (moment))
"""

SHARED_NUMBERS = """
SELECT count(*) - count(DISTINCT QID) AS requests FROM {stream} WHERE Type IN (2, 3, 4)
"""
