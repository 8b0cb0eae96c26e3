from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from causeway.runtime.errors import UserError
from causeway.spark.tasks import run_tasks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_results_come_in_order(spark: SparkSession) -> None:
    assert run_tasks(spark, 5, lambda number: {"square": number**2})[4] == {"square": 16}
    assert run_tasks(spark, 5, lambda number: (number, None), partitions=2) == [(n, None) for n in range(5)]
    assert run_tasks(spark, 0, lambda number: number) == []


@pytest.mark.parametrize("failure", [UserError("line 7 is wrong"), OSError(28, "No space left on device")])
def test_the_users_mistake_in_a_task_is_told_in_its_words(spark: SparkSession, failure: Exception) -> None:
    def task(number: int) -> int:
        if number == 1:
            raise failure
        return number

    with pytest.raises(UserError, match=r"line 7 is wrong|No space left on device"):
        run_tasks(spark, 3, task)
