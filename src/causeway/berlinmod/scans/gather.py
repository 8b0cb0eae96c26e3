"""The movements of a few vehicles, read by a task from wherever they are."""

from __future__ import annotations

import numpy as np

from causeway.berlinmod.model.arrays import I32
from causeway.berlinmod.scans.rows import EVERYTHING, Rows, choose_rows, join_rows, read_rows
from causeway.berlinmod.scans.source import Source

__all__ = ["Gatherer"]


class Gatherer:
    """Reads rows of chosen vehicles. It goes to Spark's workers, so it knows files, and no session."""

    def __init__(self, source: Source) -> None:
        cut = source.dataset.cut
        self._vehicles_per_file = cut.vehicles_per_file
        self._vehicles_per_group = cut.vehicles_per_group
        self._paths = [source.dataset.part(source.relation, file).absolute() for file in range(cut.files)]
        self._counters = source.read

    def rows(self, vehicles: I32, columns: tuple[str, ...] = EVERYTHING) -> Rows:
        """All rows of the vehicles, in the order of vehicles and of time."""
        file = vehicles // self._vehicles_per_file
        group = (vehicles - file * self._vehicles_per_file) // self._vehicles_per_group
        parts = []
        for one, place in sorted(set(zip(file.tolist(), group.tolist(), strict=True))):
            rows = read_rows(self._paths[one], place, columns, self._counters)
            parts.append(choose_rows(rows, np.isin(rows.vehicle, vehicles)))
        return join_rows(parts)
