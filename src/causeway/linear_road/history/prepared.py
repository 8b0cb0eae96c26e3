"""History prepared for lookups: arrays on disk, a few for each expressway, mapped into memory when asked for.

    DIR/history/prepared/xway-00000-vehicles.npy  VIDs of TollHistory, ascending
    DIR/history/prepared/xway-00000-tolls.npy     [vehicle, day - 1]
    DIR/history/prepared/xway-00000-segments.npy  [direction, DOW - 1, minute - 1, segment]: see `WeekdaySums`
    DIR/history/prepared/prepared.json            which expressways there are, and of which history

A lookup touches the pages of memory that it needs, which all processes of a machine share.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from causeway import __version__
from causeway.linear_road.history.arrays import DailyTolls
from causeway.linear_road.history.travel_time import Toll, by_expressway, travel_times
from causeway.linear_road.history.weekday_sums import WeekdaySums
from causeway.linear_road.model.array_types import I64
from causeway.linear_road.model.calendar import HISTORY_DAYS
from causeway.runtime.errors import UserError
from causeway.runtime.output_folder import write_json

__all__ = ["PREPARED_FILE", "PreparedHistory", "save_daily_tolls", "save_weekday_sums", "saved_tables"]

PREPARED_FILE = "prepared.json"
_LAYOUT = 1

_VEHICLES, _TOLLS, _SEGMENTS = "vehicles", "tolls", "segments"


@dataclass(frozen=True)
class PreparedHistory:
    """Answers types 3 and 4 in bulk. It holds no data, only where they are: send it to any worker.

    Workers must see `folder` under the same path. One that does not is told so by an exception, since an
    answer of 0 would look like an expressway without history.
    """

    folder: Path
    history: str
    """Stands for the very files that this was made from, so that other ones are noticed."""
    toll_history: frozenset[int] = frozenset()
    """Expressways with a TollHistory."""
    segment_history: frozenset[int] = frozenset()
    """Expressways with a SegmentHistory."""

    @classmethod
    def open(cls, folder: Path) -> PreparedHistory:
        """Read what there is in `folder`, and none of its arrays yet."""
        path = folder.absolute() / PREPARED_FILE
        try:
            facts = json.loads(path.read_text())
            if facts["layout"] != _LAYOUT:
                raise UserError(f"{path}: layout {facts['layout']} is not one that this version reads")
            return cls(
                path.parent,
                facts["history"],
                *(frozenset(facts["expressways"][table]) for table in ("toll_history", "segment_history")),
            )
        except FileNotFoundError:
            raise UserError(
                f"{folder} has no {PREPARED_FILE}: prepare the history with `causeway linear-road prepare`"
            ) from None
        except (OSError, ValueError, KeyError, TypeError) as unreadable:
            raise UserError(f"{path} cannot be read: {unreadable!r}") from unreadable

    def save(self, facts: dict[str, Any]) -> None:
        """Write `prepared.json`, after all arrays, with `facts` that are for people to read."""
        expressways = {
            "toll_history": sorted(self.toll_history),
            "segment_history": sorted(self.segment_history),
        }
        ours = {"layout": _LAYOUT, "version": __version__, "history": self.history}
        write_json(self.folder / PREPARED_FILE, ours | facts | {"expressways": expressways})

    def daily_expenditures(self, vid: npt.ArrayLike, day: npt.ArrayLike, xway: npt.ArrayLike) -> I64:
        """What each vehicle paid on that day and expressway (type 3); 0 where TollHistory has no row."""
        vid, day, xway = (np.asarray(column, np.int64) for column in (vid, day, xway))
        paid = np.zeros(len(vid), np.int64)
        for number, places in by_expressway(xway, (day >= 1) & (day <= HISTORY_DAYS)):
            if number not in self.toll_history:
                continue
            vehicles = self._array(number, _VEHICLES)
            if not len(vehicles):
                continue
            requested = vid[places]
            rows = np.minimum(np.searchsorted(vehicles, requested), len(vehicles) - 1)
            known = vehicles[rows] == requested
            found = places[known]
            paid[found] = self._array(number, _TOLLS)[rows[known], day[found] - 1]
        return paid

    def travel_times(
        self,
        xway: npt.ArrayLike,
        sinit: npt.ArrayLike,
        send: npt.ArrayLike,
        dow: npt.ArrayLike,
        tod: npt.ArrayLike,
        toll: Toll,
    ) -> tuple[I64, I64]:
        """Seconds, rounded down, and toll of each journey (type 4), by the rule set's `toll`.

        0 and 0 where there cannot be such a journey, or the history does not know its segments.
        """
        return travel_times(self._weekday_sums, xway, sinit, send, dow, tod, toll)

    def _weekday_sums(self, xway: int) -> WeekdaySums | None:
        return self._array(xway, _SEGMENTS) if xway in self.segment_history else None

    def _array(self, xway: int, name: str) -> npt.NDArray[np.integer]:
        return _mapped(self.folder, xway, name, self.history)


def save_daily_tolls(folder: Path, xway: int, history: DailyTolls) -> None:
    """Write an expressway's TollHistory to where `PreparedHistory` looks for it."""
    np.save(_array_path(folder, xway, _VEHICLES), history.vehicles, allow_pickle=False)
    np.save(_array_path(folder, xway, _TOLLS), history.tolls, allow_pickle=False)


def save_weekday_sums(folder: Path, xway: int, history: WeekdaySums) -> None:
    """Write an expressway's SegmentHistory to where `PreparedHistory` looks for it."""
    np.save(_array_path(folder, xway, _SEGMENTS), history, allow_pickle=False)


def saved_tables(folder: Path) -> int:
    """How many tables of expressways have been saved so far, two of each expressway."""
    return sum(1 for name in (_TOLLS, _SEGMENTS) for _ in folder.glob(f"xway-*-{name}.npy"))


def _array_path(folder: Path, xway: int, name: str) -> Path:
    return folder / f"xway-{xway:05d}-{name}.npy"


# Of the process, not of an object: Spark's workers live on, and get a fresh copy of the object every batch.
@lru_cache(maxsize=4096)
def _mapped(folder: Path, xway: int, name: str, history: str) -> npt.NDArray[np.integer]:
    """Map a file; `history` tells apart what has stood under the same path."""
    path = _array_path(folder, xway, name)
    try:
        # As a plain array: compiled kernels take a memmap for another type, the slow way, at every call.
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except (OSError, ValueError, EOFError) as missing:
        raise UserError(
            f"{path}, of the prepared history, cannot be read here ({missing}). Every Spark worker must see "
            "the workload's folder; if it does, `causeway linear-road prepare` makes the file anew."
        ) from missing
