"""Who drives: home and work node, licence, type and model of every vehicle, each from its number alone."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from causeway.berlinmod.city import RoadMap
from causeway.berlinmod.model.arrays import F64, I32, I64, U64
from causeway.berlinmod.model.parameters import Parameters
from causeway.berlinmod.model.rules import MODELS, TYPE_SHARES, TYPES
from causeway.runtime.compiled import kernel
from causeway.runtime.errors import UserError
from causeway.runtime.randomness import draw, draws_below, keys_of, seeded, share

__all__ = ["Vehicles", "describe_vehicles", "neighbourhoods", "trip_keys"]

# What a seed is used for. Any numbers do. With these, the few vehicles of seed 1 at the smallest scales drive
# about as far to work as those of most seeds do (docs/berlinmod.md has the spread).
_VEHICLE: Final = 6
_TRIP: Final = 2
_LICENCE: Final = 3

# Which draw of a vehicle decides what.
_HOME_DRAW: Final = 0
_WORK_DRAW: Final = 2
_TYPE_DRAW: Final = 4
_MODEL_DRAW: Final = 5

_LETTERS: Final = 26
_NUMBERS: Final = 9999
_LICENCES: Final = _LETTERS * _LETTERS * _NUMBERS
"""B-AA 1 to B-ZZ 9999."""
_STRIDE: Final = 2_654_435
"""Shares no factor with the number of licences, so that no licence comes twice."""


class Vehicles(NamedTuple):
    """A range of vehicles."""

    number: I64
    home: I32
    work: I32
    licence: list[str]
    type: list[str]
    model: list[str]

    def some(self, first: int, end: int) -> Vehicles:
        """Those from the place `first` on and before `end`."""
        return Vehicles(*(column[first:end] for column in self))  # type: ignore[arg-type]


def describe_vehicles(road_map: RoadMap, parameters: Parameters, first: int, end: int) -> Vehicles:
    """The vehicles from `first` on and before `end`."""
    number = np.arange(first, end, dtype=np.int64)
    keys = keys_of(seeded(parameters.home_seed, _VEHICLE), number)
    if parameters.mode == "network":
        home = draws_below(keys, _HOME_DRAW, road_map.nodes)
        work = draws_below(keys, _WORK_DRAW, road_map.nodes)
    else:
        home_region, work_region = road_map.region_of_nodes()
        if road_map.regions is None:
            raise UserError(f"the map {road_map.name} has no regions; generate with the mode network")
        home = _by_region(keys, _HOME_DRAW, home_region, road_map.regions.home_weight)
        work = _by_region(keys, _WORK_DRAW, work_region, road_map.regions.work_weight)
    kind = np.searchsorted(np.cumsum(TYPE_SHARES)[:-1], _shares(keys, _TYPE_DRAW), side="right")
    model = draws_below(keys, _MODEL_DRAW, len(MODELS))
    return Vehicles(
        number,
        home.astype(np.int32),
        work.astype(np.int32),
        _licences(number, parameters.home_seed),
        [TYPES[one] for one in kind],
        [MODELS[one] for one in model],
    )


def trip_keys(parameters: Parameters, first: int, end: int) -> U64:
    """The key of each vehicle for its trips."""
    return keys_of(seeded(parameters.trip_seed, _TRIP), np.arange(first, end, dtype=np.int64))


def neighbourhoods(road_map: RoadMap, homes: I32, radius: float) -> list[I32]:
    """For each home the nodes within the radius, the home included, in ascending order (section 4.1)."""
    points = np.column_stack((road_map.node_x, road_map.node_y))
    found = cKDTree(points).query_ball_point(points[homes], radius, return_sorted=True)
    return [np.array(nodes, np.int32) for nodes in found]


def _by_region(keys: U64, field: int, region_of_node: I32, weights: F64) -> I64:
    """A region by weight, then one of its nodes, all alike; regions without nodes are left out."""
    order = np.argsort(region_of_node, kind="stable")
    order = order[region_of_node[order] >= 0]
    counts = np.bincount(region_of_node[order], minlength=weights.size)
    usable = np.where((counts > 0) & (weights > 0), weights, 0.0)
    if not usable.any():
        raise UserError("no region of the map has both nodes and a weight; generate with the mode network")
    bounds = np.cumsum(usable / usable.sum())
    region = np.searchsorted(bounds, _shares(keys, field), side="right")
    region = np.minimum(region, np.flatnonzero(usable)[-1])
    first = np.concatenate(([0], np.cumsum(counts)))[region]
    nodes: I64 = order[first + (_shares(keys, field + 1) * counts[region]).astype(np.int64)]
    return nodes


@kernel
def _shares(keys: U64, field: int) -> F64:
    drawn = np.empty(keys.size)
    for i in range(keys.size):
        drawn[i] = share(draw(keys[i], field))
    return drawn


def _licences(number: I64, seed: int) -> list[str]:
    """Berlin's licences: B, one or two letters, a number of up to four digits."""
    shift = int(seeded(seed, _LICENCE)) % _LICENCES
    code = (number * _STRIDE + shift) % _LICENCES
    letters, digits = code // _NUMBERS, code % _NUMBERS + 1
    pairs = [chr(65 + first) + chr(65 + second) for first in range(_LETTERS) for second in range(_LETTERS)]
    return [f"B-{pairs[pair]} {digit}" for pair, digit in zip(letters, digits, strict=True)]
