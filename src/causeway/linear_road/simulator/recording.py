"""What a direction's simulation leaves for the steps after it: reports by trip, not yet by vehicle."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from causeway.linear_road.model.expressway import EAST
from causeway.linear_road.simulator.road import I32, Reports, Trips

__all__ = ["Direction", "Recording"]

_COLUMNS = {
    name: np.dtype(kind) for name, kind in zip(Reports._fields, ("i4", "i4", "i4", "i1", "i1"), strict=True)
}
_ROW_BYTES = sum(kind.itemsize for kind in _COLUMNS.values())


class Direction(NamedTuple):
    """One direction of one expressway: the unit that is simulated on its own."""

    expressway: int
    direction: int

    @property
    def name(self) -> str:
        """As it stands in the names of files."""
        return f"xway-{self.expressway:05d}-{'east' if self.direction == EAST else 'west'}"


class Recording:
    """A direction's reports, minute by minute, and its trips, in `folder`.

    A minute's reports are five columns one after another; the number of reports of each minute stands in
    a file of its own, which also tells how far a simulation has come.
    """

    def __init__(self, folder: Path, direction: Direction) -> None:
        self._reports = folder / f"{direction.name}.reports"
        self._counts = folder / f"{direction.name}.minutes"
        self._trips = folder / f"{direction.name}.trips.npy"
        self._vehicles = folder / f"{direction.name}.vehicles.npy"

    def begin(self) -> None:
        """Drop what an earlier attempt at the same task left."""
        self._reports.write_bytes(b"")
        self._counts.write_bytes(b"")

    def append_minute(self, reports: Reports, count: int) -> None:
        """Add the first `count` of `reports` as the next minute."""
        with self._reports.open("ab") as file:
            for column in reports:
                file.write(column[:count].tobytes())
        with self._counts.open("ab") as file:
            file.write(np.int64(count).tobytes())

    def minutes_done(self) -> int:
        """Minutes recorded so far."""
        return self._counts.stat().st_size // 8 if self._counts.exists() else 0

    def minutes(self) -> list[int]:
        """Number of reports of each minute."""
        return [int(count) for count in np.fromfile(self._counts, np.int64)]

    def read_minute(self, offset: int, count: int) -> Reports:
        """A minute's `count` reports, of which `offset` were recorded before."""
        with self._reports.open("rb") as file:
            file.seek(offset * _ROW_BYTES)
            return Reports(*(np.fromfile(file, kind, count) for kind in _COLUMNS.values()))

    def save_trips(self, trips: Trips) -> None:
        """Keep when each trip began and ended."""
        np.save(self._trips, np.stack([trips.first_report, trips.last_report]))

    def trips(self) -> tuple[I32, I32]:
        """First and last report of each trip; -1 for a trip that never got on the road."""
        first, last = np.load(self._trips, allow_pickle=False)
        return first, last

    def save_vehicles(self, vehicle: I32) -> None:
        """Keep the vehicle of each trip."""
        np.save(self._vehicles, vehicle)

    def vehicles(self) -> I32:
        """The vehicle of each trip."""
        vehicle: I32 = np.load(self._vehicles, allow_pickle=False)
        return vehicle
