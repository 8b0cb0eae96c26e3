"""The traffic of the ten weeks before the simulation, as lazy DataFrames: one row per key, nothing stored.

Every value is whole-number arithmetic on a hash of its key and the seed: the rows are the same on any
machine, with any number of cores, and those of an expressway do not depend on which others there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from causeway.linear_road.model.calendar import HISTORY_DAYS, MINUTES_PER_DAY, WEEKDAYS
from causeway.linear_road.model.expressway import DOWNTOWN_SEGMENT, EAST, SEGMENTS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "SEGMENT_HISTORY_COLUMNS",
    "TOLL_HISTORY_COLUMNS",
    "segment_history",
    "toll_history",
]

TOLL_HISTORY_COLUMNS = ("VID", "Day", "XWay", "Tolls")
SEGMENT_HISTORY_COLUMNS = ("Day", "Min", "XWay", "Dir", "Seg", "Lav", "Cnt", "Toll")

_WEEKEND = f"(1 + ({HISTORY_DAYS} - Day) % {WEEKDAYS}) >= 6"

_OFF_CENTRE = f"Seg - {DOWNTOWN_SEGMENT}"

_RUSH_HOUR_VEHICLES = 200
"""Vehicles downtown in a minute of the worst rush hour, on an average day."""
_VEHICLE_LIMIT = 300
_JAM_VEHICLES = 330
"""Where traffic would stand still; above `_VEHICLE_LIMIT`, so that no speed is ever 0."""
_FREE_SPEED = 65

# (minute of the day, traffic in thousandths of the worst rush hour), with straight lines in between.
_Profile = Sequence[tuple[int, int]]
_WORKDAY_EAST: _Profile = (
    (0, 4), (300, 4), (390, 400), (465, 1000), (525, 900), (600, 450), (840, 450),
    (1020, 750), (1080, 750), (1200, 250), (1320, 80), (MINUTES_PER_DAY, 4),
)  # fmt: skip
_WORKDAY_WEST: _Profile = (
    (0, 4), (300, 4), (390, 300), (465, 750), (525, 700), (600, 400), (840, 450),
    (1020, 1000), (1080, 950), (1200, 300), (1320, 100), (MINUTES_PER_DAY, 4),
)  # fmt: skip
_WEEKEND_EAST: _Profile = (
    (0, 25), (120, 4), (360, 4), (660, 350), (900, 400), (1140, 300), (1320, 100), (MINUTES_PER_DAY, 25),
)  # fmt: skip
_WEEKEND_WEST: _Profile = (
    (0, 25), (120, 4), (360, 4), (660, 300), (960, 420), (1140, 350), (1320, 120), (MINUTES_PER_DAY, 25),
)  # fmt: skip

# Each kind of draw hashes a number of its own, or two kinds with equal keys would have equal luck.
_EXPRESSWAY, _DAY, _NEIGHBOURHOOD, _SEGMENT, _VEHICLE, _TRIP = range(6)


def segment_history(
    spark: SparkSession,
    xway: int,
    directions: Sequence[int],
    *,
    seed: int,
    days: int = HISTORY_DAYS,
    partitions: int | None = None,
) -> DataFrame:
    """SegmentHistory of one expressway for the last `days` days, in the order of Day, Min, Dir and Seg.

    The order holds within a partition and from one partition to the next.
    """
    per_day = MINUTES_PER_DAY * len(directions)
    dir_ = f"element_at(array({', '.join(map(str, directions))}), CAST(1 + id % {len(directions)} AS INT))"
    minutes = (
        spark.range(0, days * per_day, 1, partitions)
        .selectExpr(
            f"CAST(1 + id div {per_day} AS INT) AS Day",
            f"CAST(1 + id % {per_day} div {len(directions)} AS INT) AS Min",
            f"{xway} AS XWay",
            f"{dir_} AS Dir",
        )
        .selectExpr(
            "*",
            f"{_share_of_the_hour()} AS share",
            f"900 + {_draw(seed, _EXPRESSWAY, 'XWay')} % 201 AS expressway_busy",
            f"{_draw(seed, _DAY, 'XWay', 'Day')} AS day_draw",
        )
        # What does not vary with the segment is worked out once for the hundred of them.
        .selectExpr(
            *("Day", "Min", "XWay", "Dir"),
            f"{_RUSH_HOUR_VEHICLES} * share * expressway_busy div 1000 * (850 + day_draw % 301) div 1000"
            " AS downtown_thousandths",
            f"{_FREE_SPEED - 3} + (day_draw div 1000) % 7 AS free_speed",
            f"explode(sequence(0, {SEGMENTS - 1})) AS Seg",
        )
    )
    neighbourhood = _draw(seed, _NEIGHBOURHOOD, "XWay", "Day", "Dir", "Min div 15", "Seg div 5")
    return (
        minutes.selectExpr(
            "*",
            # A bell around downtown that needs no exponential, whose last bit differs between machines.
            f"downtown_thousandths * (900000 div (900 + ({_OFF_CENTRE}) * ({_OFF_CENTRE}))) div 1000"
            f" * (850 + {neighbourhood} % 301) div 1000 AS thousandths",
            f"{_draw(seed, _SEGMENT, 'XWay', 'Day', 'Dir', 'Min', 'Seg')} AS draw",
        )
        # The fraction of a vehicle that is expected becomes a whole one as often as it says.
        .selectExpr(
            *("Day", "Min", "XWay", "Dir", "Seg", "free_speed", "draw"),
            f"least({_VEHICLE_LIMIT}, (thousandths * (920 + draw % 161) div 1000 + (draw div 1000) % 1000)"
            " div 1000) AS Cnt",
        )
        # Greenshields: speed falls in a straight line from free flow to the jam.
        .selectExpr(
            *("Day", "Min", "XWay", "Dir", "Seg", "CAST(Cnt AS INT) AS Cnt"),
            f"CAST((free_speed - 5 + (draw div 1000000) % 11) * ({_JAM_VEHICLES} - Cnt) div {_JAM_VEHICLES}"
            " AS INT) AS Lav",
        )
        .selectExpr(
            *SEGMENT_HISTORY_COLUMNS[:-1],
            "IF(Lav < 40 AND Cnt > 50, 2 * (Cnt - 50) * (Cnt - 50), 0) AS Toll",
        )
    )


def toll_history(vehicles: DataFrame, *, seed: int, days: int = HISTORY_DAYS) -> DataFrame:
    """TollHistory of each (VID, XWay) in `vehicles` for the last `days` days, in the order of `vehicles`.

    A vehicle pays on 10 to 90 % of the workdays and a third as often at weekends; its bill lies within
    40 % of the one that is usual for it.
    """
    return (
        vehicles.selectExpr("VID", "XWay", f"{_draw(seed, _VEHICLE, 'VID', 'XWay')} AS habit")
        .selectExpr(
            *("VID", "XWay"),
            "10 + habit % 81 AS chance",
            # The product of two draws: many small bills, few large ones.
            "100 + (habit div 1000) % 200 * ((habit div 1000000) % 200) AS usual",
            f"explode(sequence(1, {days})) AS Day",
        )
        .selectExpr("*", f"{_draw(seed, _TRIP, 'VID', 'XWay', 'Day')} AS draw")
        .selectExpr(
            *("VID", "Day", "XWay"),
            f"CAST(IF(draw % 100 < IF({_WEEKEND}, chance div 3, chance),"
            " usual * (600 + (draw div 1000) % 801) div 1000, 0) AS INT) AS Tolls",
        )
    )


def _share_of_the_hour() -> str:
    return (
        f"CASE WHEN {_WEEKEND} THEN"
        f" IF(Dir = {EAST}, {_straight_lines(_WEEKEND_EAST)}, {_straight_lines(_WEEKEND_WEST)})"
        f" ELSE IF(Dir = {EAST}, {_straight_lines(_WORKDAY_EAST)}, {_straight_lines(_WORKDAY_WEST)}) END"
    )


def _straight_lines(profile: _Profile) -> str:
    pieces = (
        f"WHEN Min <= {end} THEN {share} + (Min - {start}) * ({next_share - share}) div {end - start}"
        for (start, share), (end, next_share) in pairwise(profile)
    )
    return f"CASE {' '.join(pieces)} END"


def _draw(seed: int, kind: int, *key: str) -> str:
    """Luck of a key: 63 bits from the hash, of which several small draws can be taken apart."""
    return f"(xxhash64({seed}L, {kind}, {', '.join(key)}) & {2**63 - 1}L)"
