"""The city during a run: tolls, speeds, cars and accidents of every segment, as data for the page.

A hundred expressways would make the page too large to send by mail. So it has the means over all
expressways, and single ones from the first on, as many as fit.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from causeway.linear_road.model.expressway import SEGMENTS

__all__ = ["City", "city_data", "read_city"]

_COLUMNS: Final = ("Minute", "XWay", "Dir", "Seg", "Cars", "Lav", "Toll", "Accident")
_DIRECTIONS: Final = ("east", "west")

_CELL_LIMIT: Final = 1_000_000
"""Cells of single expressways in the page, at five bytes each."""
_ACCIDENT_LIMIT: Final = 60
"""More accidents than this would hide the tolls in the view of all expressways."""
_FEWEST_FOR_OVERVIEW: Final = 4


@dataclass(frozen=True)
class City:
    """Arrays over [expressway, direction, minute - 1, segment]."""

    xways: list[int]
    toll: npt.NDArray[np.int32]
    """What was quoted in the minute."""
    speed: npt.NDArray[np.int16]
    """The Lav of the minute; -1 where there is none."""
    cars: npt.NDArray[np.int16]
    accident: npt.NDArray[np.bool_]

    @property
    def minutes(self) -> int:
        """How many minutes there are, from minute 1 on."""
        return len(self.toll[0, 0])

    @property
    def directions(self) -> list[int]:
        """Those that have cars; half an expressway has one."""
        return [
            way for way in range(len(_DIRECTIONS)) if self.cars[:, way].any() or self.accident[:, way].any()
        ]


def read_city(run: Path, notes: list[str]) -> City | None:
    """Read the run's segments; `None` where no minute was closed. Unreadable files are named in `notes`."""
    xways: set[int] = set()
    last_minute = 0
    for columns in _read(run, notes):
        xways.update(np.unique(columns["XWay"]).tolist())
        last_minute = max(last_minute, int(columns["Minute"].max()))
    if not xways:
        return None
    order = np.array(sorted(xways))
    shape = (len(order), len(_DIRECTIONS), last_minute, SEGMENTS)
    city = City(
        xways=order.tolist(),
        toll=np.zeros(shape, np.int32),
        speed=np.full(shape, -1, np.int16),
        cars=np.zeros(shape, np.int16),
        accident=np.zeros(shape, np.bool_),
    )
    for columns in _read(run, []):
        place = (np.searchsorted(order, columns["XWay"]), columns["Dir"])
        minute, segment = columns["Minute"] - 1, columns["Seg"]
        city.cars[(*place, minute, segment)] = columns["Cars"]
        city.accident[(*place, minute, segment)] = columns["Accident"] > 0
        # The statistics of a closed minute set the tolls of the next one.
        charged = minute + 1 < last_minute
        next_minute = (*(index[charged] for index in place), minute[charged] + 1, segment[charged])
        city.speed[next_minute] = columns["Lav"][charged]
        city.toll[next_minute] = columns["Toll"][charged]
    return city


def _read(run: Path, notes: list[str]) -> Iterator[dict[str, npt.NDArray[np.int32]]]:
    for path in sorted((run / "segments").glob("[!.]*.parquet")):
        try:
            rows = pq.read_table(path, columns=list(_COLUMNS))
            columns = {name: rows.column(name).cast(pa.int32()).to_numpy() for name in _COLUMNS}
        except (OSError, KeyError, ValueError, pa.ArrowException) as unreadable:
            notes.append(f"{path} cannot be read as segments, and is left out: {unreadable}")
            continue
        known = (columns["Minute"] >= 1) & np.isin(columns["Dir"], (0, 1))
        known &= (columns["Seg"] >= 0) & (columns["Seg"] < SEGMENTS)
        if known.any():
            yield {name: values[known] for name, values in columns.items()}


def city_data(city: City) -> dict[str, Any]:
    """What the page's script draws: views to choose from, each with its directions, as compact text."""
    per_expressway = city.minutes * SEGMENTS * len(city.directions)
    shown = city.xways[: max(1, _CELL_LIMIT // per_expressway)]
    views = [
        {"name": f"expressway {xway}", "roads": [_road(city, index, way) for way in city.directions]}
        for index, xway in enumerate(shown)
    ]
    if len(city.xways) > 1:
        means = [_mean_road(city, way) for way in city.directions]
        views.insert(0, {"name": f"mean of all {len(city.xways)}", "roads": means})
    several = len(city.xways) >= _FEWEST_FOR_OVERVIEW
    return {
        "minutes": city.minutes,
        "xways": city.xways,
        "left_out": len(city.xways) - len(shown),
        "overview": [_overview(city, way) for way in city.directions] if several else [],
        "views": views,
    }


def _road(city: City, index: int, direction: int) -> dict[str, Any]:
    place = (index, direction)
    return {
        "direction": _DIRECTIONS[direction],
        "toll": _packed(city.toll[place]),
        "speed": _packed(city.speed[place] + 1),
        "cars": _packed(city.cars[place]),
        "accidents": _stretches(city.accident[place]),
    }


def _mean_road(city: City, direction: int) -> dict[str, Any]:
    speed = city.speed[:, direction]
    known = (speed >= 0).sum(axis=0)
    mean_speed = np.where(speed >= 0, speed, 0).sum(axis=0) / np.maximum(known, 1)
    accidents = [stretch for standing in city.accident[:, direction] for stretch in _stretches(standing)]
    return {
        "direction": _DIRECTIONS[direction],
        "toll": _packed(np.rint(city.toll[:, direction].mean(axis=0))),
        "speed": _packed(np.where(known > 0, np.rint(mean_speed) + 1, 0)),
        "cars": _packed(np.rint(city.cars[:, direction].mean(axis=0))),
        "accidents": accidents if len(accidents) <= _ACCIDENT_LIMIT else [],
    }


def _overview(city: City, direction: int) -> dict[str, Any]:
    """A row for each expressway: the mean toll of its segments, and when an accident stood anywhere on it."""
    return {
        "direction": _DIRECTIONS[direction],
        "toll": _packed(np.rint(city.toll[:, direction].mean(axis=2)).T),
        "accidents": _stretches(np.any(city.accident[:, direction], axis=2).T),
    }


def _packed(cells: npt.NDArray[Any]) -> dict[str, Any]:
    """Numbers from 0 on over [minute, row], as text: row by row, in as few bytes each as hold them."""
    bits = next(bits for bits in (8, 16, 32) if cells.max() < 1 << bits)
    rows = np.ascontiguousarray(cells.T.astype(f"<u{bits // 8}"))
    return {"bits": bits, "data": base64.b64encode(rows.tobytes()).decode("ascii")}


def _stretches(standing: npt.NDArray[np.bool_]) -> list[list[int]]:
    """Row, first and last minute of each stretch of minutes without a gap in [minute - 1, row]."""
    padded = np.pad(standing.T.astype(np.int8), ((0, 0), (1, 1)))
    rows, starts = np.nonzero(np.diff(padded, axis=1) == 1)
    _, ends = np.nonzero(np.diff(padded, axis=1) == -1)
    return np.stack([rows, starts + 1, ends], axis=1).tolist()  # type: ignore[no-any-return]
