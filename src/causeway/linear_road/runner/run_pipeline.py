"""The pipeline of one run, to be started on the run itself and on its warm-up."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from causeway.linear_road.driver.clock import SimulatedClock
from causeway.linear_road.history.prepared import PreparedHistory
from causeway.linear_road.pipeline.answer_sink import AnswerSink
from causeway.linear_road.pipeline.query import Shards, answering
from causeway.linear_road.runner.run_folder import RunFolder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["RunPipeline"]


@dataclass(frozen=True)
class RunPipeline:
    """Everything that the query needs beside its folders."""

    spark: SparkSession
    shards: Shards
    rules: str
    history: PreparedHistory

    def answering(
        self, folder: RunFolder, clock: SimulatedClock, source: tuple[str, dict[str, str]]
    ) -> AbstractContextManager[StreamingQuery]:
        """The query on `source` (format and options), with its state and its answers in `folder`."""
        return answering(
            self.spark,
            source,
            folder.checkpoint,
            AnswerSink(folder.batches, folder.segments, clock, self.shards.count),
            shards=self.shards,
            rules=self.rules,
            history=self.history,
        )
