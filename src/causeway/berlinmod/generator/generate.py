"""`causeway berlinmod generate`: one Spark task a file, then the relations; whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from causeway.berlinmod.city import RoadMap, open_map
from causeway.berlinmod.dataset.dataset import Dataset, cut_for
from causeway.berlinmod.dataset.schemas import HISTORIES, LEGS, TRIPS
from causeway.berlinmod.generator.part import PartCounts, add_counts, open_city, write_part
from causeway.berlinmod.model.parameters import Parameters
from causeway.berlinmod.relations import write_relations
from causeway.berlinmod.trips.vehicles import describe_vehicles
from causeway.runtime.errors import UserError
from causeway.runtime.new_folder import new_folder
from causeway.runtime.output_folder import refuse_used_folder
from causeway.runtime.progress import watched
from causeway.spark.tasks import run_tasks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["check_output", "generate"]


def check_output(out: Path) -> None:
    """Refuse a folder that `generate` would refuse, before Spark takes its seconds to start."""
    refuse_used_folder(out)


def generate(spark: SparkSession, out: Path, parameters: Parameters, map_path: Path | None = None) -> Dataset:
    """Generate a data set into the new folder `out`, which all of Spark's workers must see.

    `map_path` is a map's folder, or a file that can be imported; without, the city is drawn from the seed.
    The same parameters and map give the same rows on any number of cores.
    """
    out = out.absolute()
    check_output(out)
    road_map = open_map(map_path, parameters.seed)
    if parameters.mode == "region" and road_map.regions is None:
        raise UserError(f"the map {road_map.name} has no regions; generate with the mode network")
    with new_folder(out, "causeway berlinmod generate") as folder:
        _write(spark, folder, parameters, road_map)
    return Dataset.load(out)


def _write(spark: SparkSession, folder: Path, parameters: Parameters, road_map: RoadMap) -> None:
    map_folder = folder / "map"
    road_map.save(map_folder)
    for relation in (HISTORIES, TRIPS, LEGS):
        (folder / relation).mkdir()
    cut = cut_for(parameters)

    def task(file: int) -> PartCounts:
        return write_part(open_city(map_folder, parameters.distance), parameters, folder, file)

    done = folder / LEGS
    with watched("generating", cut.files, "files", lambda: len(list(done.iterdir()))):
        counts = add_counts(run_tasks(spark, cut.files, task))
    write_relations(folder, road_map, parameters, describe_vehicles(road_map, parameters, 0, parameters.cars))
    dataset = Dataset(
        folder=folder,
        parameters=parameters,
        vehicles_per_file=cut.vehicles_per_file,
        vehicles_per_group=cut.vehicles_per_group,
        counts={
            "vehicles": parameters.cars,
            "trips": counts.trips,
            "moving_trips": counts.moving_trips,
            "units": counts.units,
            "legs": counts.legs,
            "dropped_days": counts.dropped_days,
            "kilometres": round(counts.metres / 1000),
        },
        map={
            "name": road_map.name,
            "nodes": road_map.nodes,
            "edges": road_map.edges,
            "regions": len(road_map.regions.names) if road_map.regions else 0,
        },
    )
    dataset.save()
