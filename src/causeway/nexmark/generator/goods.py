"""What is sold: names, descriptions, and the tree of categories that the paper keeps in a static file."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from causeway.nexmark.generator.text import phrases
from causeway.runtime.randomness import U64

__all__ = ["CATEGORY_SCHEMA", "categories", "descriptions", "item_names"]

CATEGORY_SCHEMA: Final = pa.schema(
    [pa.field("id", pa.int64(), False), pa.field("name", pa.string(), False), ("parent", pa.int64())]
)

_KINDS: Final = (
    "atlas", "bowl", "camera", "chair", "clock", "coin", "doll", "drum", "fiddle", "kettle", "ladder",
    "lamp", "map", "mask", "mirror", "mug", "necklace", "poster", "quilt", "radio", "ring", "rug", "saddle",
    "scarf", "stamp", "sword", "table", "teapot", "toy", "vase", "violin", "watch",
)  # fmt: skip
_ATTRIBUTES: Final = (
    "antique", "blue", "boxed", "brass", "carved", "chipped", "clean", "copper", "early", "fine", "framed",
    "glass", "green", "handmade", "heavy", "large", "late", "little", "oak", "old", "painted", "pine",
    "rare", "red", "restored", "round", "signed", "silver", "small", "steel", "working", "worn",
)  # fmt: skip

# A root, then its branches, then the next root. Query 3 asks for category 10: a branch of the first.
_ROOTS: Final = (
    "Antiques", "Art", "Books", "Clothing", "Coins", "Computers", "Dolls", "Electronics", "Furniture",
    "Garden", "Jewellery", "Music", "Photography", "Pottery", "Sports", "Stamps", "Tools", "Toys", "Travel",
)  # fmt: skip
_BRANCHES: Final = (
    "African", "American", "Asian", "Celtic", "Colonial", "European", "Islamic", "Maritime", "Medieval",
    "Modern", "Nordic", "Other", "Regional", "Rural", "Victorian",
)  # fmt: skip

# After the draws of `people`, so that one key may be used for both.
_NAME, _DESCRIPTION = 32, 33


def item_names(auctions: U64) -> pa.StringArray:
    """One to three words, about eleven bytes."""
    return phrases(auctions, _NAME, _KINDS + _ATTRIBUTES, 1, 3)


def descriptions(auctions: U64) -> pa.StringArray:
    """Four to thirteen words, about fifty bytes."""
    return phrases(auctions, _DESCRIPTION, _ATTRIBUTES + _KINDS, 4, 13)


def categories(count: int) -> pa.Table:
    """The first `count` categories: id, name, parent (null at a root), every parent before its children.

    The smallest file's 303 are 19 roots with up to 15 branches each. Beyond those, the branches have parts
    of their own, and these again, so that a larger file begins with the smaller one.
    """
    names: list[str] = []
    parents: list[int | None] = []
    for root in _ROOTS:
        place = len(names)
        names.append(root)
        parents.append(None)
        names += [f"{branch} {root}" for branch in _BRANCHES]
        parents += [place] * len(_BRANCHES)
    parted = 1
    while len(names) < count:
        if parents[parted] is not None:
            names += [f"{names[parted]}: {kind}" for kind in _KINDS]
            parents += [parted] * len(_KINDS)
        parted += 1
    return pa.table(
        [pa.array(range(count), pa.int64()), pa.array(names[:count]), pa.array(parents[:count], pa.int64())],
        schema=CATEGORY_SCHEMA,
    )
