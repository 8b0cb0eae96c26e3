"""Shards on Spark: state in its state store, a replica in each Python worker that has seen the shard."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from causeway.linear_road.history.prepared import PreparedHistory
from causeway.linear_road.model.rules import RULES
from causeway.linear_road.pipeline.shard import Shard
from causeway.spark.collection import leave_little_to_collect
from causeway.streaming.cells import concatenate, pack, unpack
from causeway.streaming.state import CellStore

__all__ = ["ANSWERS_DDL", "RoadProcessor"]

ANSWERS_DDL: Final = "shard INT, answers BINARY"

_replicas: dict[tuple[str, int], Shard] = {}
"""Shards in the memory of this process, since Spark's Python workers live on between batches. State that is
missing here, or is not that of the store, is read from the store: any worker may get any shard, or be new."""


class RoadProcessor(StatefulProcessor):
    """Answers a shard's tuples. All that it needs comes with it, or from the prepared history's folder."""

    def __init__(self, query: str, keys: Sequence[int], rules: str, history: PreparedHistory) -> None:
        self._query = query
        """Identifies this start of the query; replicas of other starts must not be reused."""
        self._keys = list(keys)
        self._rules = rules
        self._history = history

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._cells = CellStore.declare(handle)

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: Any,
        rows: Iterator[Any],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        """Answer a batch: all rows of one shard, each a cell with some seconds' tuples."""
        began = time.perf_counter()
        files = pd.concat(list(rows)).sort_values("first")
        tuples = concatenate([unpack(cell) for cell in files["tuples"]])
        shard = self._keys.index(int(key[0]))
        # Taken out while it works: what a failure leaves behind is not used again.
        replica = _replicas.pop((self._query, shard), None)
        if replica is None:
            replica = Shard(RULES[self._rules], self._history, len(self._keys), shard)
        self._cells.seconds = 0.0
        unpacked = time.perf_counter()
        answers = replica.answer(tuples, self._cells)
        _replicas[self._query, shard] = replica
        spent = {
            "reading": tuples["spent_reading"].sum(),
            "unpacking": unpacked - began,
            "kernel": time.perf_counter() - unpacked - self._cells.seconds,
            "state": self._cells.seconds,
        }
        answers |= {f"spent_{what}": np.array([seconds]) for what, seconds in spent.items()}
        yield pd.DataFrame({"shard": [shard], "answers": [pack(answers)]})

    def close(self) -> None:
        """The end of a task."""
        leave_little_to_collect()
