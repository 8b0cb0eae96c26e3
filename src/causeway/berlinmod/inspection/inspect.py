"""`causeway berlinmod inspect`: a data set measured by Spark tasks over its files, and judged."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow.parquet as pq

from causeway.berlinmod.city import AUTHORS_MAP, RoadMap
from causeway.berlinmod.dataset import Dataset
from causeway.berlinmod.dataset.schemas import QUERY_SCHEMAS
from causeway.berlinmod.inspection.expectations import District, People, judge
from causeway.berlinmod.inspection.measure import BIN_MINUTES, Grid, grid_over, measure_file
from causeway.berlinmod.inspection.measured import Measured, add_measured
from causeway.berlinmod.model.arrays import F64, I32, I64
from causeway.berlinmod.model.calendar import MINUTE_MS
from causeway.report.figures import Figure, count_verdicts
from causeway.runtime.output_folder import write_json
from causeway.runtime.progress import watched
from causeway.spark.tasks import run_tasks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Inspection", "inspect_dataset", "write_figures"]

_BERLIN: Final = (-10_836.0, -6_686.0, 33_575.0, 28_095.0)
"""Extent of the authors' map, in its own metres."""
_BERLIN_MIDDLE: Final = (9_234.0, 10_658.0)
"""The medians of its nodes' places. Our own city has the size and the extent, but not these streets."""
_MIDDLE_METRES: Final = 50.0


@dataclass(frozen=True)
class Inspection:
    """What was measured, and what became of every promise."""

    dataset: Dataset
    figures: tuple[Figure, ...]
    road_map: RoadMap
    home: I32
    """Home node of every vehicle, and its work node."""
    work: I32
    grid: Grid
    presence: I64
    """Milliseconds of driving in each cell of the grid, by column and row."""
    under_way: F64
    """Vehicles that drive, on average over each 15 minutes of the observation."""
    durations: I64
    """Drives to work, to home and in spare time, by their minutes."""

    @property
    def holds(self) -> bool:
        """Whether no figure is out."""
        return not count_verdicts(self.figures).out


def inspect_dataset(spark: SparkSession, dataset: Dataset) -> Inspection:
    """Measure a data set and judge it."""
    files = dataset.cut.files
    with watched("inspecting", files, "files", lambda: _tasks_done(spark)):
        measured = add_measured(run_tasks(spark, files, lambda file: measure_file(dataset, file)))
    road_map = dataset.road_map()
    cars = pq.read_table(dataset.relation("dataMcar"))
    home, work = (cars.column(name).to_numpy() for name in ("home", "work"))
    return Inspection(
        dataset=dataset,
        figures=judge(
            dataset.parameters, measured, _people(dataset, road_map, cars, home, work), _is_berlin(road_map)
        ),
        road_map=road_map,
        home=home,
        work=work,
        grid=grid_over(road_map),
        presence=_presence(measured, road_map),
        under_way=np.asarray(measured.under_way) / (BIN_MINUTES * MINUTE_MS),
        durations=np.asarray(measured.durations),
    )


def _tasks_done(spark: SparkSession) -> int:
    tracker = spark.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    return sum(stage.numCompletedTasks for stage in stages if stage is not None)


def write_figures(inspection: Inspection, path: Path) -> None:
    """Write the figures as JSON, whole or not at all, for programs to read."""
    write_json(
        path, {"holds": inspection.holds, "figures": [asdict(figure) for figure in inspection.figures]}
    )


def _presence(measured: Measured, road_map: RoadMap) -> I64:
    grid = grid_over(road_map)
    return np.asarray(measured.presence).reshape(grid.columns, grid.rows)


def _is_berlin(road_map: RoadMap) -> bool:
    """Whether this is the authors' map, for which figures were published; size, extent and middle tell."""
    if road_map.origin.get("source") == "drawn" or abs(road_map.nodes / AUTHORS_MAP.nodes - 1) > 0.02:
        return False
    span = _BERLIN[2] - _BERLIN[0]
    middle = (float(np.median(road_map.node_x)), float(np.median(road_map.node_y)))
    if any(abs(a - b) > _MIDDLE_METRES for a, b in zip(middle, _BERLIN_MIDDLE, strict=True)):
        return False
    return all(abs(a - b) < 0.02 * span for a, b in zip(road_map.extent, _BERLIN, strict=True))


def _people(dataset: Dataset, road_map: RoadMap, cars: Any, home: I32, work: I32) -> People:
    sizes = {name: pq.read_metadata(dataset.relation(name)).num_rows for name in QUERY_SCHEMAS}
    return People(
        vehicles=cars.num_rows,
        types=dict(Counter(cars.column("Type").to_pylist())),
        licences=len(set(cars.column("Licence").to_pylist())),
        sample_sizes=sizes,
        districts=_districts(dataset, road_map, home, work),
    )


def _districts(dataset: Dataset, road_map: RoadMap, home: I32, work: I32) -> list[District]:
    """By region: the homes and work places in it, and the share that its weight, or its nodes, promise."""
    regions = road_map.regions
    if regions is None:
        return []
    home_region, work_region = road_map.region_of_nodes()
    count = len(regions.names)
    shares = []
    for region_of_node, weights in ((home_region, regions.home_weight), (work_region, regions.work_weight)):
        nodes = np.bincount(region_of_node[region_of_node >= 0], minlength=count)
        if dataset.parameters.mode == "network":
            shares.append(nodes / road_map.nodes)
        else:
            usable = np.where((nodes > 0) & (weights > 0), weights, 0.0)
            shares.append(usable / usable.sum())
    homes = np.bincount(home_region[home][home_region[home] >= 0], minlength=count)
    works = np.bincount(work_region[work][work_region[work] >= 0], minlength=count)
    return [
        District(name, int(homes[i]), int(works[i]), float(shares[0][i]), float(shares[1][i]))
        for i, name in enumerate(regions.names)
    ]
