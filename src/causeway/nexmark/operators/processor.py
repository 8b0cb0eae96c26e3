"""Spark's handle on a kernel, and nothing that takes long to import.

Spark starts a Python process for each query only to ask this class which state it keeps: what a step needs is
imported by the tasks that take one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from causeway.spark.collection import leave_little_to_collect
from causeway.spark.worker_memory import keep_memory
from causeway.streaming.state import CellStore

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["KernelProcessor"]


class KernelProcessor(StatefulProcessor):
    """Lets a kernel take a step for each batch."""

    def __init__(
        self,
        kernel: str,
        arguments: Mapping[str, Any],
        keys: Sequence[int],
        delay: int,
        late: str,
        as_cells: bool,
    ) -> None:
        self._kernel = kernel
        self._arguments = dict(arguments)
        self._keys = list(keys)
        self._delay = delay
        self._late = late
        self._as_cells = as_cells

    def init(self, handle: StatefulProcessorHandle) -> None:
        keep_memory()
        self._store = CellStore.declare(handle, "tables")

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: Any,
        rows: Iterator[Any],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        """Take a step: all cells of a batch for one shard."""
        from causeway.nexmark.operators.source import kernel_named
        from causeway.nexmark.operators.stateful import Tables, take_step

        kernel = kernel_named(self._kernel, self._arguments)
        tables = Tables(self._store, self._late, self._keys.index(int(key[0])))
        yield from take_step(kernel, rows, tables, self._delay, as_cells=self._as_cells)

    def close(self) -> None:
        """The end of a task."""
        leave_little_to_collect()
