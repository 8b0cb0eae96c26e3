"""The whole pipeline, through Spark, against the literal reading and the validator."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from tests.linear_road.pipeline.conftest import Asked
from tests.linear_road.pipeline.random_workload import answers_of

from causeway.linear_road.validation import Conditions, validate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_random_traffic_has_answers_of_all_types(asked: Asked) -> None:
    kinds = Counter(answer[0] for answer in asked.expected)
    assert min(kinds[kind] for kind in range(5)) > 20
    tolls = [answer for answer in asked.expected if answer[0] == 0 and answer[4] > 0]
    balances = [answer for answer in asked.expected if answer[0] == 2 and answer[4] > 0]
    expenditures = [answer for answer in asked.expected if answer[0] == 3 and answer[3] > 0]
    assert min(len(tolls), len(balances), len(expenditures)) > 5


def test_the_answers_are_the_literal_readings(asked: Asked, answered: Path) -> None:
    """To the letter: the nearest accident, and the balance of the second before the request."""
    found = answers_of(answered)
    assert found - asked.expected == Counter()
    assert asked.expected - found == Counter()


def test_the_validator_passes_them(asked: Asked, answered: Path, spark: SparkSession) -> None:
    judged = validate(spark, asked.workload, answered / "answers", conditions=Conditions(speed=None))
    assert judged.differences == ()
    assert judged.passed


def test_what_a_run_leaves(asked: Asked, answered: Path) -> None:
    names = [
        *("answers", "answers.csv", "batches", "driver-log.txt"),
        *("log.txt", "report.html", "run.json", "segments"),
    ]
    assert sorted(path.name for path in answered.iterdir()) == names
    facts = json.loads((answered / "run.json").read_text())
    assert (facts["state"], facts["attempts"], facts["shards"]) == ("finished", 1, 2)
    assert (facts["speed"], facts["rules"]) == (None, "vldb2004")
    assert facts["counts"]["tuples"] == sum(batch["tuples"] for batch in facts["batches"]) == asked.tuples
    kinds = Counter(answer[0] for answer in asked.expected.elements())
    assert facts["counts"]["answers"] == {str(kind): kinds[kind] for kind in range(5)}
    seconds = [(batch["first_second"], batch["last_second"]) for batch in facts["batches"]]
    assert seconds == sorted(seconds)
    assert {"pyspark", "python", "numpy"} <= set(facts["versions"])
