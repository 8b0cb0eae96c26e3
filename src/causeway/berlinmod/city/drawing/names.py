"""Names of streets: a word and a kind of street, each pair once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from causeway.berlinmod.city.drawing.landscape import Arterial
from causeway.berlinmod.city.drawing.street_lines import StreetLine

__all__ = ["name_streets"]

_WORDS: Final = """
Acorn Alder Almond Amber Anchor Apple April Ash Aspen Baker Barley Beacon Bee Beech Bell Birch
Blacksmith Bridge Brook Butcher Candle Canal Cedar Chalk Chapel Cherry Chestnut Church Clay
Clover Cobbler Comet Copper Crane Crow Daisy Dove Dragon Eagle Elder Elm Falcon Farrier Fern
Ferry Field Finch Fir Fisher Flax Fountain Fox Garden Glass Goose Granary Grove Gull Hare
Harvest Hawthorn Hazel Heath Heron Hill Holly Honey Hop Hunter Iron Ivy Juniper Kestrel King
Lantern Larch Lark Laurel Lavender Lilac Lime Linden Linen Lion Magpie Maple Marigold Marsh
Mason Meadow Mercer Merchant Miller Mint Monk Moon Moss Mulberry Needle Nettle Night Oak Oat
Olive Orchard Otter Owl Park Pear Pepper Pigeon Pine Plane Plum Poplar Poppy Post Potter Quarry
Queen Quince Raven Reed River Robin Rose Rowan Rye Saddler Sage Salt Sand School Seven Sheep
Shepherd Silver Smith Spring Spruce Star Station Stone Stork Summer Swallow Swan Tanner Thistle
Thorn Tower Violet Walnut Weaver Well Wheat Willow Windmill Winter Wolf Wood Wren Yarrow Yew
"""
_MAIN: Final = ("Street", "Road", "Avenue", "Boulevard", "Parade", "Drive")
_SIDE: Final = (
    "Lane",
    "Way",
    "Close",
    "Row",
    "Path",
    "Court",
    "Walk",
    "Gardens",
    "Terrace",
    "Rise",
    "Place",
    "Mews",
)


def name_streets(
    chance: np.random.Generator, streets: Sequence[StreetLine], roads: Sequence[Arterial]
) -> tuple[str, ...]:
    """A name for each street; the streets of an arterial road are numbered along it."""
    words = _WORDS.split()
    main = [f"{word} {kind}" for word in words for kind in _MAIN]
    side = [f"{word} {kind}" for word in words for kind in _SIDE]
    left = {True: iter(chance.permutation(main).tolist()), False: iter(chance.permutation(side).tolist())}
    parts = [0] * len(roads)
    names = []
    for street in streets:
        if street.road >= 0:
            parts[street.road] += 1
            names.append(f"{roads[street.road].name} {parts[street.road]}")
        else:
            names.append(next(left[street.vmax > 30]))
    return tuple(names)
