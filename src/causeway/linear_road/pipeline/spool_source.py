"""The source: the driver's spool as a stream of a few large cells, each with the tuples of one shard.

The offset is the next simulated second. A file has whole seconds, and so has every batch.
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
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxBytes

from causeway.linear_road.driver.spool import SpoolFile, spool_files
from causeway.linear_road.pipeline.tuples_by_shard import deal
from causeway.streaming.cells import pack

__all__ = ["SPOOL_DDL", "SpoolSource"]

SPOOL_DDL: Final = "shard INT, first INT, tuples BINARY"
_SCHEMA: Final = pa.schema([("shard", pa.int32()), ("first", pa.int32()), ("tuples", pa.binary())])

_BATCH_BYTES: Final = 32 << 20
"""What a batch takes when it has fallen behind, or the past is delivered: some million tuples."""


class SpoolSource(DataSource):
    """Options: `path`, the spool; `keys`, the numbers of the shards, as a list in JSON."""

    @classmethod
    def name(cls) -> str:
        return "linear-road-spool"

    def schema(self) -> str:
        return SPOOL_DDL

    def streamReader(self, schema: Any) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        return _SpoolReader(Path(self.options["path"]), json.loads(self.options["keys"]))


class _SpoolReader(DataSourceStreamReader):
    def __init__(self, spool: Path, keys: Sequence[int]) -> None:
        self._spool = spool
        self._keys = keys

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return {"second": 0}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxBytes(_BATCH_BYTES)

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        second, taken = start["second"], 0
        most = limit.max_bytes if isinstance(limit, ReadMaxBytes) else None
        for file in self._files(second):
            if most is not None and not isinstance(limit, ReadAllAvailable):
                taken += file.path.stat().st_size
                if taken > most and second > start["second"]:
                    break
            second = file.last + 1
        return {"second": second}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        """A task for each shard at most: a task costs more than the reading of many small files."""
        files = self._files(start["second"], end["second"])
        sizes = np.cumsum([file.path.stat().st_size for file in files])
        tasks = len(self._keys)
        task_of = [min(tasks - 1, int(size * tasks / (sizes[-1] + 1))) for size in sizes]
        return [
            InputPartition([str(files[at].path) for at in range(len(files)) if task_of[at] == task])
            for task in sorted(set(task_of))
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        began = time.perf_counter()
        # By one thread: tasks are as many as there are cores.
        tuples = pa.concat_tables(
            pq.read_table(path, use_threads=False, memory_map=True) for path in partition.value
        ).combine_chunks()
        first = tuples.column("Time")[0].as_py()
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

    def commit(self, end: dict[str, int]) -> None:
        """Take away what has been answered, but for the newest file, which says how far delivery has got."""
        for file in spool_files(self._spool)[:-1]:
            if file.last < end["second"]:
                with suppress(FileNotFoundError):
                    file.path.unlink()

    def _files(self, start: int, end: int | None = None) -> list[SpoolFile]:
        return [
            file
            for file in spool_files(self._spool)
            if file.first >= start and (end is None or file.last < end)
        ]
