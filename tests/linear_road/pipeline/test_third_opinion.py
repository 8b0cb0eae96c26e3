"""The whole pipeline, through Spark, against the literal reading and the validator."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
from tests.linear_road.pipeline.conftest import Answered
from tests.linear_road.pipeline.random_workload import answers_of

from causeway.linear_road.validation import validate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_random_traffic_has_answers_of_all_types(answered: Answered) -> None:
    kinds = Counter(answer[0] for answer in answered.expected)
    assert min(kinds[kind] for kind in range(5)) > 20
    tolls = [answer for answer in answered.expected if answer[0] == 0 and answer[4] > 0]
    balances = [answer for answer in answered.expected if answer[0] == 2 and answer[4] > 0]
    expenditures = [answer for answer in answered.expected if answer[0] == 3 and answer[3] > 0]
    assert min(len(tolls), len(balances), len(expenditures)) > 5


def test_the_answers_are_the_literal_readings(answered: Answered) -> None:
    """To the letter: the nearest accident, and the balance of the second before the request."""
    found = answers_of(answered.run)
    assert found - answered.expected == Counter()
    assert answered.expected - found == Counter()


def test_the_validator_passes_them(answered: Answered, spark: SparkSession) -> None:
    for answers in ("answers.csv", "answers"):
        judged = validate(spark, answered.workload, answered.run / answers, speed=None)
        assert judged.differences == ()
        assert judged.passed


def test_what_a_run_leaves(answered: Answered) -> None:
    assert sorted(path.name for path in answered.run.iterdir()) == [
        "answers",
        "answers.csv",
        "batches",
        "run.json",
        "segments",
    ]
    facts = json.loads((answered.run / "run.json").read_text())
    assert (facts["state"], facts["attempts"], facts["speed"], facts["rules"]) == (
        *("finished", 1),
        *(None, "vldb2004"),
    )
    tuples = sum(pq.read_metadata(part).num_rows for part in answered.workload.parts)
    assert facts["counts"]["tuples"] == sum(batch["tuples"] for batch in facts["batches"]) == tuples
    kinds = Counter(answer[0] for answer in answered.expected.elements())
    assert facts["counts"]["answers"] == {str(kind): kinds[kind] for kind in range(5)}
    assert facts["shards"] == 2
    seconds = [(batch["first_second"], batch["last_second"]) for batch in facts["batches"]]
    assert seconds == sorted(seconds)
    assert {"pyspark", "python", "numpy"} <= set(facts["versions"])
