"""An index of movements that Spark SQL joins by: boxes of a few units, in cells of space and time.

One row of the index is a box and a cell that it touches. Two things can only meet where they share a cell, so
a join on `cell_x`, `cell_y`, `cell_t` finds all candidates; the boxes in its rows then drop most of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from causeway.moving_objects.functions import boxes
from causeway.runtime.errors import UserError
from causeway.runtime.output_folder import begin_folder, finish_folder, load_facts, write_json

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

__all__ = ["CELLS", "Grid", "Index", "make_index", "open_index", "with_boxes", "with_cells"]

_LAYOUT: Final = 1
_FACTS: Final = "index.json"
_ROWS: Final = "cells"

CELLS: Final = ("cell_x", "cell_y", "cell_t")
"""The columns to join by: numbers of cells along x, y and time."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Sizes of a cell, and how many units a box has at most.

    A unit that takes longer than a cell's time (parking, as a rule) has a box of its own.
    """

    metres: float = 500.0
    ms: float = 900_000.0
    units: int = 64

    def __post_init__(self) -> None:
        if not (self.metres > 0 and self.ms > 0 and self.units >= 1):
            raise UserError(f"index: metres, ms and units of a cell must be above 0, but are {self}")


@dataclass(frozen=True, slots=True)
class Index:
    """An index in a folder. `cells` has a row for each box and cell, `boxes` one for each box."""

    grid: Grid
    keys: tuple[str, ...]
    cells: DataFrame

    @property
    def boxes(self) -> DataFrame:
        """Each box once: the row of its first cell."""
        from pyspark.sql import functions as spark_functions

        first = spark_functions.lit(True)
        for name, low, size in _axes(self.grid):
            first = first & (spark_functions.col(name) == _cell(spark_functions.col(low), size))
        return self.cells.where(first).drop(*CELLS)


def with_boxes(frame: DataFrame, trip: str, keys: Sequence[str], grid: Grid) -> DataFrame:
    """One row a box: the columns `keys`, and the fields of `boxes`."""
    from pyspark.sql import functions as spark_functions

    missing = [name for name in (trip, *keys) if name not in frame.columns]
    if missing:
        raise UserError(f"index: the table has no column {missing[0]}; it has {', '.join(frame.columns)}")
    found = boxes(spark_functions.col(trip), grid.units, grid.ms)
    exploded = frame.select(*keys, spark_functions.explode(found).alias("box"))
    return exploded.select(*keys, "box.*")


def with_cells(
    frame: DataFrame,
    grid: Grid,
    *,
    x: tuple[Any, Any] | None = ("x_min", "x_max"),
    y: tuple[Any, Any] | None = ("y_min", "y_max"),
    t: tuple[Any, Any] | None = ("t_min", "t_max"),
    margin: float = 0.0,
) -> DataFrame:
    """Each row once for each cell that it touches, with the columns `cell_x`, `cell_y`, `cell_t`.

    `x`, `y`, `t` are the lowest and the highest of a row: columns or their names. An axis that is None is
    left out: a point of no time is looked for in all of it. `margin` metres are added around.
    """
    from pyspark.sql import functions as spark_functions

    for (name, _, size), ends in zip(_axes(grid), (x, y, t), strict=True):
        if ends is None:
            continue
        low, high = (spark_functions.col(one) if isinstance(one, str) else one for one in ends)
        around = 0.0 if name == "cell_t" else margin
        numbers = spark_functions.sequence(_cell(low - around, size), _cell(high + around, size))
        frame = frame.withColumn(name, spark_functions.explode(numbers))
    return frame


def make_index(
    frame: DataFrame, folder: str | Path, *, trip: str, keys: Sequence[str], grid: Grid | None = None
) -> Index:
    """Write the index of the movements in column `trip` of `frame` to a new folder, and open it.

    `keys` are the columns that say which row a box is of. The folder is whole or not there: what a process
    that was killed left behind is replaced.
    """
    size = grid or Grid()
    place = Path(folder)
    rows = with_cells(with_boxes(frame, trip, keys, size), size)
    begin_folder(place)
    rows.write.parquet(str(place / _ROWS))
    write_json(place / _FACTS, {"layout": _LAYOUT, "keys": list(keys), **asdict(size)})
    finish_folder(place)
    return open_index(frame.sparkSession, place)


def open_index(spark: SparkSession, folder: str | Path) -> Index:
    """An index that `make_index` wrote."""
    facts = load_facts(
        Path(folder) / _FACTS,
        _LAYOUT,
        absent="make_index writes one",
        without="is not an index of make_index",
    )
    keys = tuple(facts.pop("keys"))
    return Index(Grid(**facts), keys, spark.read.parquet(str(Path(folder) / _ROWS)))


def _axes(grid: Grid) -> list[tuple[str, str, float]]:
    return [("cell_x", "x_min", grid.metres), ("cell_y", "y_min", grid.metres), ("cell_t", "t_min", grid.ms)]


def _cell(value: Column, size: float) -> Column:
    from pyspark.sql import functions as spark_functions

    return spark_functions.floor(value / size)
