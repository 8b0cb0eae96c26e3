"""A run on disk.

RUN/run.json        settings, machine, versions, counts, batches, and how it ended
RUN/log.txt         when each attempt began and how it ended; what Spark and its workers wrote
RUN/driver-log.txt  what the data driver wrote; empty if nothing went wrong
RUN/answers.csv     every answer, in the one flat file that all validators read
RUN/answers/        the same as Parquet, with when each was readable
RUN/segments/       traffic and tolls of each segment and minute, as the pipeline saw them
RUN/batches/        answers as they were written, a file a batch
RUN/warehouse/      with a history, or with the engine of streaming tables: the streaming tables
RUN/keeping.json    with a history: rows, and how long a report took to become readable
RUN/keeping-log.txt what the process that keeps the reports wrote; empty if nothing went wrong
RUN/spool/, RUN/checkpoint/   while it runs: input not yet answered, and Spark's state
"""

from __future__ import annotations

from pathlib import Path

from causeway.streaming import run_folder
from causeway.streaming.sink import BatchFolder

__all__ = ["RunFolder"]


class RunFolder(run_folder.RunFolder):
    """Where the parts of a run are."""

    command = "causeway linear-road run"

    @property
    def batches(self) -> BatchFolder:
        return BatchFolder(self.path / "batches")

    @property
    def segments(self) -> Path:
        return self.path / "segments"

    @property
    def spool(self) -> Path:
        return self.path / "spool"

    @property
    def checkpoint(self) -> Path:
        return self.path / "checkpoint"

    @property
    def warehouse(self) -> Path:
        return self.path / "warehouse"

    @property
    def keeping(self) -> Path:
        return self.path / "keeping.json"

    @property
    def keeping_log(self) -> Path:
        return self.path / "keeping-log.txt"

    @property
    def driver_log(self) -> Path:
        return self.path / "driver-log.txt"
