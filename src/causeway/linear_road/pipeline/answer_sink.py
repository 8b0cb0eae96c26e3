"""The sink: a batch's answers, from all shards, as one file that appears whole.

    RUN/batches/batch-000000012.parquet   the answers of batch 12
    RUN/batches/batch-000000012.json      how many, and when they were handed over and readable
    RUN/segments/batch-000000012.parquet  the minutes of segments that ended in it

A batch that is done again after a crash writes the same names again: nothing is lost, nothing doubled. A
batch without the answers of one of its shards fails: the tolls that this shard has charged would be missing
from balances.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from causeway.linear_road.driver.clock import SimulatedClock
from causeway.linear_road.pipeline.answer_files import write_answers, write_whole
from causeway.streaming.cells import Arrays, concatenate, unpack
from causeway.streaming.sink import BatchFolder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["AnswerSink", "MissingShardError"]

_SPENT: Final = ("reading", "unpacking", "kernel", "state")
"""Seconds that tasks note, summed over all of them."""
_SEGMENT_FIELDS: Final = ("Minute", "XWay", "Dir", "Seg", "Cars", "Lav", "Toll", "Accident")


class MissingShardError(RuntimeError):
    """A batch came without the answers of one of its shards, or with several of one."""


class AnswerSink:
    """Writes batches of `shards` shards into a run's folder; to be given to `foreachBatch`.

    With `wait_until_kept`, answers are handed over after the reports of their batch, up to the second that it
    is called with, are in the history.
    """

    def __init__(
        self,
        batches: BatchFolder,
        segments: Path,
        clock: SimulatedClock,
        shards: int,
        wait_until_kept: Callable[[int], None] | None = None,
    ) -> None:
        self._batches = batches
        self._segments = segments
        self._clock = clock
        self._shards = shards
        self._wait_until_kept = wait_until_kept

    def __call__(self, batch: DataFrame, number: int) -> None:
        began = time.perf_counter()
        rows = batch.toArrow()
        collected = time.perf_counter()
        self._check_shards(rows.column("shard").to_pylist(), number)
        shards = [unpack(cell) for cell in rows.column("answers").to_pylist()]
        answers = _add_up(shards)
        tuples = int(answers["batch_tuples"].sum() + answers["batch_balances"][0])
        if not tuples:
            return
        ended = {name: answers[f"segment_{name.lower()}"] for name in _SEGMENT_FIELDS}
        if len(ended["Minute"]):
            write_whole(pa.table(ended), self._segments / self._batches.output(number).name)
        last_second = int(answers["batch_last"].max())
        waited = time.perf_counter()
        if self._wait_until_kept is not None:
            self._wait_until_kept(last_second)
        waited = time.perf_counter() - waited
        spent = {what: float(answers[f"spent_{what}"].sum()) for what in _SPENT}
        facts = {
            "batch": number,
            "first_second": int(answers["batch_first"].min()),
            "last_second": last_second,
            "tuples": tuples,
        }
        spent |= {
            "tasks": collected - began,
            "history": waited,
            "sink": time.perf_counter() - collected - waited,
        }
        write_answers(self._batches, answers, self._clock, facts, spent)

    def _check_shards(self, present: list[int], number: int) -> None:
        if sorted(present) != list(range(self._shards)):
            raise MissingShardError(
                f"batch {number} must have answers of the shards 0 to {self._shards - 1}, each once; "
                f"it has {', '.join(map(str, sorted(present))) or 'none'}"
            )


def _add_up(shards: Sequence[Arrays]) -> Arrays:
    """The answers of all shards; a balance is the sum of what each has of it.

    Every shard has had the same balance requests in the same order.
    """
    requests = [shard["balance_qid"] for shard in shards]
    if any(not np.array_equal(qids, requests[0]) for qids in requests):
        raise RuntimeError("shards were asked for the balances of different vehicles")
    total = np.stack([shard["balance_bal"] for shard in shards]).sum(axis=0, dtype=np.int32)
    balances = {name: values for name, values in shards[0].items() if name.startswith("balance_")}
    return concatenate(shards) | balances | {"balance_bal": total}
