"""The vehicles that have left a shard's roads, in a few cells of its state.

Every batch finds some. A cell for each batch would make a new process read thousands of them, and one cell
for all would be written again in every batch. So cells are merged while they are small, two of similar size
at a time: a row is written again only as often as its cell doubles, and no cell grows beyond a bound. There
are about as many cells as bounds fit into all rows, and a few more.
"""

from __future__ import annotations

from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from causeway.linear_road.model.array_types import I64
from causeway.streaming.cells import Arrays, pack, unpack

__all__ = ["MERGED_ROWS", "Departures", "ShardState"]

MERGED_ROWS: Final = 1 << 14
"""Rows of a cell (some 700 kB) above which it is not merged with another."""

_FIRST, _LAST, _ROWS = range(3)


class ShardState(Protocol):
    """Where a shard's cells are kept."""

    def read(self, name: str) -> bytes | None:
        """The cell of that name, if there is one."""

    def write(self, name: str, cell: bytes) -> None:
        """Replace the cell of that name."""

    def remove(self, name: str) -> None:
        """Remove the cell of that name."""


class Departures:
    """Which cells there are; their rows are only in the state."""

    def __init__(self) -> None:
        self._cells: I64 = np.zeros((0, 3), np.int64)
        """The first batch, the last batch and the number of rows of each cell, in the order of batches."""

    def save(self) -> Arrays:
        """The list of cells, as an array."""
        return {"departures": self._cells}

    def restore(self, saved: Arrays) -> None:
        """Take over a list that `save` returned."""
        self._cells = saved["departures"]

    def cells_since(self, batch: int) -> list[str]:
        """The names of the cells that have rows of later batches than `batch`."""
        return [_name(int(first)) for first in self._cells[self._cells[:, _LAST] > batch, _FIRST]]

    def add(self, batch: int, vehicles: NDArray[np.void], state: ShardState) -> None:
        """Write the vehicles that `batch` found to have left, merged with earlier ones."""
        if not len(vehicles):
            return
        first, rows = batch, [vehicles]
        count, kept = len(vehicles), len(self._cells)
        while kept and self._is_mergeable(kept - 1, count):
            kept -= 1
            name = _name(int(self._cells[kept, _FIRST]))
            rows.insert(0, _vehicles(state.read(name), name))
            if first != batch:
                state.remove(_name(first))
            first, count = int(self._cells[kept, _FIRST]), count + int(self._cells[kept, _ROWS])
        state.write(_name(first), pack({"vehicles": np.concatenate(rows)}))
        self._cells = np.concatenate([self._cells[:kept], np.array([[first, batch, count]], np.int64)])

    def _is_mergeable(self, cell: int, rows: int) -> bool:
        size = int(self._cells[cell, _ROWS])
        return size <= 2 * rows and size + rows <= MERGED_ROWS


def _vehicles(cell: bytes | None, name: str) -> NDArray[Any]:
    if cell is None:
        raise RuntimeError(f"the state has lost the cell {name}")
    return unpack(cell)["vehicles"]


def _name(first: int) -> str:
    return f"left-{first:05d}"
