"""The validator's own Lav and its domain of reports, which it shares with nobody but the model."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, prod
from random import Random

import pytest
from pyspark.sql import SparkSession
from tests.linear_road.made_traffic import report

from causeway.linear_road.model.tuples import INPUT_DDL
from causeway.linear_road.validation import expected
from causeway.linear_road.validation.digest import AVERAGE_UNIT, digest_reports

Minutes = list[tuple[int, int]]
"""Vehicles, and the sum of their mean speeds in units of 1 / `AVERAGE_UNIT`, of some minutes."""


def random_minutes(random: Random) -> Minutes:
    """Up to five minutes of vehicles with one to sixteen reports each."""
    minutes = []
    for _ in range(random.randint(1, 5)):
        cars, kinds = random.choice([random.randint(1, 300), random.randint(1000, 30_000)]), []
        for _ in range(3):
            reports = random.randint(1, 16)
            kinds.append(AVERAGE_UNIT * random.randint(0, 100 * reports) // reports)
        minutes.append((cars, sum(kinds[i % 3] * (cars // 3 + (i < cars % 3)) for i in range(3))))
    return minutes


def just_below(whole: int) -> Minutes:
    """Five minutes whose mean misses a whole number by less than a float can tell."""
    counts = [29_989, 29_983, 29_959, 29_947, 29_927]
    product = prod(counts)
    rests = [(-pow(product // cars, -1, cars)) % cars for cars in counts]
    above = ceil(sum(Fraction(rest, cars) for rest, cars in zip(rests, counts, strict=True)))
    sums = [whole * AVERAGE_UNIT * cars + rest for cars, rest in zip(counts, rests, strict=True)]
    sums[0] -= above * counts[0]
    return list(zip(counts, sums, strict=True))


def test_lav_is_the_floor_of_an_exact_mean(spark: SparkSession) -> None:
    random = Random(7)
    segments = [just_below(whole) for whole in (1, 40, 100)]
    segments += [[(cars, 40 * AVERAGE_UNIT * cars) for cars in (3, 7, 11, 13, 29_989)]]
    segments += [random_minutes(random) for _ in range(300)]
    rows = [
        ((segment, 5 - i, cars, speeds),)
        for segment, minutes in enumerate(segments)
        for i, (cars, speeds) in enumerate(minutes)
    ]
    digest = spark.createDataFrame(
        rows, "traffic STRUCT<segment INT, minute INT, cars BIGINT, average_speeds BIGINT>"
    )
    none = spark.createDataFrame([], "segment INT, minute INT")
    answers = spark.sql(expected._QUOTED, digest=digest, accidents=none, AVERAGE_UNIT=AVERAGE_UNIT)
    found = {row.segment: row.Lav for row in answers.where("minute = 6").select("segment", "Lav").collect()}
    for segment, minutes in enumerate(segments):
        means = [Fraction(speeds, AVERAGE_UNIT * cars) for cars, speeds in minutes]
        assert found[segment] == floor(sum(means, Fraction(0)) / len(means)), minutes
    assert [found[segment] for segment in range(4)] == [0, 39, 99, 40]


@pytest.mark.parametrize(("speed", "unknown"), [(0, 0), (100, 0), (101, 1), (127, 1), (-1, 1)])
def test_speeds_are_those_of_the_model(spark: SparkSession, speed: int, unknown: int) -> None:
    stream = spark.createDataFrame([report(0, spd=speed)], INPUT_DDL)
    counts = digest_reports(spark, stream, 1).where("counts IS NOT NULL").select("counts.*").collect()
    assert [tuple(row) for row in counts] == [(1, unknown, 0)]
