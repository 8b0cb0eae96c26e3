"""A shard's state in Spark's state store: a few large cells under names.

Spark starts a Python process only to ask a stateful processor which state it keeps, so this module imports
nothing that takes long.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import MapState, StatefulProcessorHandle

__all__ = ["CellStore"]

_KEY: Final = "name STRING"
_VALUE: Final = "cell BINARY"


class CellStore:
    """Cells by name. `seconds` is the time spent on reading and writing since it was last set to 0."""

    def __init__(self, cells: MapState) -> None:
        self._cells = cells
        self.seconds = 0.0

    @classmethod
    def declare(cls, handle: StatefulProcessorHandle, name: str = "cells") -> CellStore:
        """The store of a processor, declared in its `init`."""
        return cls(handle.getMapState(name, _KEY, _VALUE))

    def read(self, name: str) -> bytes | None:
        """The cell of that name, if there is one."""
        began = time.perf_counter()
        value = self._cells.getValue((name,))
        self.seconds += time.perf_counter() - began
        return None if value is None else bytes(value[0])

    def write(self, name: str, cell: bytes) -> None:
        """Replace the cell of that name."""
        began = time.perf_counter()
        self._cells.updateValue((name,), (cell,))
        self.seconds += time.perf_counter() - began

    def remove(self, name: str) -> None:
        """Remove the cell of that name, if there is one."""
        began = time.perf_counter()
        self._cells.removeKey((name,))
        self.seconds += time.perf_counter() - began
