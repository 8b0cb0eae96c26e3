"""The movements of a data set in one representation, and which of their row groups hold which vehicles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from causeway.berlinmod.dataset import HISTORIES, TRIPS, Dataset
from causeway.berlinmod.model.arrays import F64, I32
from causeway.runtime.errors import UserError
from causeway.spark.collection import leave_little_to_collect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from causeway.berlinmod.scans.rows import Rows

__all__ = [
    "AT_POINT_METRES",
    "CIRCLE",
    "REPRESENTATIONS",
    "ROUNDING_METRES",
    "Aggregate",
    "Groups",
    "Representation",
    "Source",
]

Representation = Literal["oba", "tba"]
Aggregate = Literal["sum", "min", "max"]

REPRESENTATIONS: Final[dict[str, str]] = {"oba": HISTORIES, "tba": TRIPS}
"""The relation of each representation (section 5)."""

AT_POINT_METRES: Final = 0.01
"""A vehicle is at a point if it is as near as this."""

ROUNDING_METRES: Final = 1e-6
"""Boxes are taken larger by this: they only rule out, and must not do so where a limit is just met."""

CIRCLE: Final = (10.0, 50)
"""Section 7.6: in disturbed data a circle of this radius and so many corners stands for a point."""

Groups = dict[int, list[int]]
"""Row groups by the number of their file."""


@dataclass(frozen=True)
class Source:
    """What a query reads: a data set on Spark, in one representation."""

    spark: SparkSession
    dataset: Dataset
    representation: Representation
    read: Any = None
    """Accumulator of rows and of bytes that tasks read, as a pair of Spark's accumulators."""
    aggregate: Aggregate = "sum"
    """How distances to a group become one (Q25, Q26)."""

    @property
    def relation(self) -> str:
        """The relation with the movements."""
        return REPRESENTATIONS[self.representation]

    @property
    def is_disturbed(self) -> bool:
        """Whether positions have errors, so that circles stand for points (section 7.6)."""
        return self.dataset.parameters.disturb

    def table(self, name: str) -> pa.Table:
        """A query relation, or dataMcar, or Nodes: small enough for one process."""
        return pq.read_table(self.dataset.relation(name))

    def vehicles(self, *relations: str) -> I32:
        """The vehicles of relations of licences, each once; `truck` and so on are all of that type.

        A licence that no vehicle has (-1) is left out.
        """
        found: list[Any] = []
        for name in relations:
            if name in ("passenger", "bus", "truck"):
                cars = self._cars
                found.append(cars.column("vehicle").to_numpy()[cars.column("Type").to_numpy() == name])
            else:
                found.append(self.table(name).column("vehicle").to_numpy())
        every = np.unique(np.concatenate(found)).astype(np.int32)
        return every[every >= 0]

    @cached_property
    def _cars(self) -> pa.Table:
        return self.table("dataMcar").select(["vehicle", "Type"])

    def groups(self, vehicles: I32 | None = None) -> Groups:
        """The row groups with these vehicles; all without."""
        cut = self.dataset.cut
        if vehicles is None:
            return {file: list(range(len(cut.group_ranges(file)))) for file in range(cut.files)}
        found: Groups = {}
        for vehicle in vehicles.tolist():
            file, rest = divmod(vehicle, cut.vehicles_per_file)
            group = rest // cut.vehicles_per_group
            if group not in found.setdefault(file, []):
                found[file].append(group)
        return found

    def places(self, relation: str) -> tuple[I32, list[tuple[F64, F64]]]:
        """Ids and corners of a relation of points or regions; a point has one corner.

        In disturbed data a point is a circle.
        """
        table = self.table(relation)
        ids = table.column("Id").to_numpy()
        if "Region" in table.column_names:
            shapes = table.column("Region").to_pylist()
            return ids, [(np.array(one["x"]), np.array(one["y"])) for one in shapes]
        points = [(one["x"], one["y"]) for one in table.column("Pos").to_pylist()]
        if not self.is_disturbed:
            return ids, [(np.array([x]), np.array([y])) for x, y in points]
        radius, corners = CIRCLE
        angle = 2.0 * np.pi * np.arange(corners) / corners
        return ids, [(x + radius * np.cos(angle), y + radius * np.sin(angle)) for x, y in points]

    def tasks(
        self, groups: Groups, schema: str, work: Callable[[Rows], pa.Table], columns: tuple[str, ...]
    ) -> DataFrame:
        """The rows that `work` makes of each row group, read with `columns`; one Spark task a file."""
        from causeway.berlinmod.scans.rows import read_rows

        files = sorted(groups)
        paths = {file: self.dataset.part(self.relation, file).absolute() for file in files}
        counters = self.read

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for place in batch.column(0).to_pylist():
                    file = files[place]
                    for group in sorted(groups[file]):
                        yield from work(read_rows(paths[file], group, columns, counters)).to_batches()

        return self.spread(len(files), run, schema)

    def spread(
        self, count: int, run: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]], schema: str
    ) -> DataFrame:
        """`run` over the numbers 0 to count - 1, each in a Spark task of its own."""
        numbers = self.spark.range(0, count, 1, max(count, 1))
        return numbers.mapInArrow(_in_worker(run), schema)


def _in_worker(
    run: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]],
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """`run`, with errors of reading in the user's words, and quick garbage collection after it."""

    def wrapped(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            yield from run(batches)
        except pa.ArrowException as unreadable:
            raise UserError(f"a file of the data set cannot be read: {unreadable}") from unreadable
        leave_little_to_collect()

    return wrapped
