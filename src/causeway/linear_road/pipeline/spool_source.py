"""The source: the driver's spool as a stream of a few large cells, each with the tuples of one shard.

The offset is the next simulated second. A file has whole seconds, and so has every batch. Between two offsets
there are always the same files: one that is missing fails the query (`SpoolGapError`).
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxBytes

from causeway.linear_road.driver.spool import (
    BATCH_BYTES,
    SPOOL_FORMAT,
    SpoolFile,
    SpoolGapError,
    files_between,
    spool_files,
)
from causeway.linear_road.keeping.kept_mark import KeptMark
from causeway.linear_road.model.tuples import INPUT_SCHEMA
from causeway.linear_road.pipeline.tuples_by_shard import deal
from causeway.spark.collection import leave_little_to_collect
from causeway.streaming.cells import pack

__all__ = ["SPOOL_DDL", "SpoolSource"]

SPOOL_DDL: Final = "shard INT, first INT, tuples BINARY"
_SCHEMA: Final = pa.schema([("shard", pa.int32()), ("first", pa.int32()), ("tuples", pa.binary())])


class SpoolSource(DataSource):
    """Options: `path`, the spool; `keys`, the shards' keys as a list in JSON; `kept`, a keeper's mark.

    See `spool.source_options`.
    """

    @classmethod
    def name(cls) -> str:
        return SPOOL_FORMAT

    def schema(self) -> str:
        return SPOOL_DDL

    def streamReader(self, schema: Any) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        kept = self.options.get("kept")
        return _SpoolReader(
            Path(self.options["path"]),
            json.loads(self.options["keys"]),
            None if kept is None else KeptMark(Path(kept)),
        )


class _SpoolReader(DataSourceStreamReader):
    def __init__(self, spool: Path, keys: Sequence[int], kept: KeptMark | None = None) -> None:
        self._spool = spool
        self._keys = keys
        self._kept = kept

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return {"second": 0}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxBytes(BATCH_BYTES)

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        second, batch_bytes = start["second"], 0
        limit_bytes = limit.max_bytes if isinstance(limit, ReadMaxBytes) else None
        for file in files_between(self._spool, second):
            if limit_bytes is not None:
                batch_bytes += _size(file)
                if batch_bytes > limit_bytes and second > start["second"]:
                    break
            second = file.last + 1
        return {"second": second}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        """At most one task for each shard: a task costs more than the reading of many small files.

        Spark may plan its first batch before anything is delivered. It has a task too, so that a batch always
        has rows of all shards, and missing ones are noticed.
        """
        files = files_between(self._spool, start["second"], end["second"])
        if not files:
            return [InputPartition([])]
        ends = np.cumsum([_size(file) for file in files])
        tasks = len(self._keys)
        task_of = [min(tasks - 1, int(size * tasks / (ends[-1] + 1))) for size in ends]
        return [
            InputPartition(
                [str(file.path) for file, number in zip(files, task_of, strict=True) if number == task]
            )
            for task in sorted(set(task_of))
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        began = time.perf_counter()
        tables = [_read(path) for path in partition.value] or [INPUT_SCHEMA.empty_table()]
        tuples = pa.concat_tables(tables).combine_chunks()
        first = tuples.column("Time")[0].as_py() if len(tuples) else 0
        dealt = deal(tuples, len(self._keys))
        spent = {"spent_reading": np.array([(time.perf_counter() - began) / len(dealt)])}
        cells = [pack(arrays | spent) for arrays in dealt]
        yield pa.record_batch(
            [
                pa.array(self._keys, pa.int32()),
                pa.array([first] * len(cells), pa.int32()),
                pa.array(cells, pa.binary()),
            ],
            schema=_SCHEMA,
        )
        leave_little_to_collect()

    def commit(self, end: dict[str, int]) -> None:
        """Remove what has been answered and kept; the newest file stays: its name tells what is delivered."""
        done = end["second"] if self._kept is None else min(end["second"], self._kept.read())
        for file in spool_files(self._spool)[:-1]:
            if file.last < done:
                with suppress(FileNotFoundError):
                    file.path.unlink()


def _read(path: str) -> pa.Table:
    try:
        # By one thread: there are as many tasks as cores.
        return pq.read_table(path, use_threads=False, memory_map=True)
    except FileNotFoundError:
        raise _gone(Path(path)) from None
    except (pa.ArrowException, OSError) as unreadable:
        raise SpoolGapError(f"{path} cannot be read: {unreadable}") from unreadable


def _size(file: SpoolFile) -> int:
    try:
        return file.path.stat().st_size
    except FileNotFoundError:
        raise _gone(file.path) from None


def _gone(path: Path) -> SpoolGapError:
    return SpoolGapError(f"{path} was removed before it was answered")
