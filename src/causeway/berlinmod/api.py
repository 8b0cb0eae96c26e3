"""BerlinMOD as a library: what each command does is a function with a typed result.

    from causeway import berlinmod

    city = berlinmod.generate("city", scale=0.05)
    assert berlinmod.inspect(city).holds

Folders are paths or text. A data set is a `Dataset`, or the folder that it is in. `spark` is a session of
yours; or `SparkOptions`, to start one for the call; or nothing, to start one on this machine. Nothing is
printed. Mistakes of the user are `UserError`s.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from causeway.berlinmod.dataset import Dataset
from causeway.berlinmod.model.parameters import Distance, Mode, Parameters, make_parameters
from causeway.spark.open_session import SparkOptions, check_options, open_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from causeway.berlinmod.exchange import Coordinates, Export, ExportFormat, Import, ImportFormat
    from causeway.berlinmod.inspection import Inspection
    from causeway.berlinmod.runner.results import RunResult
    from causeway.berlinmod.scans.source import Aggregate

__all__ = [
    "Dataset",
    "InspectionResult",
    "Parameters",
    "SparkOptions",
    "export",
    "generate",
    "import_dataset",
    "inspect",
    "play",
    "run",
]

Folder = str | Path


@dataclass(frozen=True)
class InspectionResult:
    """What was measured in a data set, and the files that show it."""

    inspection: Inspection
    figures: Path
    """All figures, as JSON."""
    report: Path
    """The city and its traffic, as a page."""

    @property
    def holds(self) -> bool:
        """Whether every figure is what is expected."""
        return self.inspection.holds


def generate(
    out: Folder,
    *,
    scale: float = 0.05,
    map: Folder | None = None,
    mode: Mode = "network",
    distance: Distance = "fastest",
    disturb: bool = False,
    cars: int | None = None,
    days: int | None = None,
    scale_cars: float | None = None,
    scale_days: float | None = None,
    sample_size: int = 100,
    gps_total_error: float = 100.0,
    gps_step_error: float = 1.0,
    start_day: int = 2702,
    neighbourhood_radius: float = 3000.0,
    gps_interval_ms: int = 2000,
    min_pause_ms: int = 300_000,
    min_velocity: float = 0.041667,
    seed: int = 1,
    home_seed: int | None = None,
    trip_seed: int | None = None,
    spark: SparkSession | SparkOptions | None = None,
) -> Dataset:
    """Simulate a city's vehicles into the new folder `out`; `Parameters` says what each parameter is.

    The same parameters give the same rows on any number of cores, and vehicle i and its days are the same
    whatever the scale. Without a `map`, the city is drawn from the seed.
    """
    from causeway.berlinmod import generator

    parameters = make_parameters(
        scale=scale,
        scale_cars=scale_cars,
        scale_days=scale_days,
        cars=cars,
        days=days,
        sample_size=sample_size,
        mode=mode,
        distance=distance,
        disturb=disturb,
        gps_total_error=gps_total_error,
        gps_step_error=gps_step_error,
        start_day=start_day,
        neighbourhood_radius=neighbourhood_radius,
        gps_interval_ms=gps_interval_ms,
        min_pause_ms=min_pause_ms,
        min_velocity=min_velocity,
        seed=seed,
        home_seed=home_seed,
        trip_seed=trip_seed,
    )
    check_options(spark)
    generator.check_output(Path(out))
    with open_session(spark, "berlinmod generate") as session:
        return generator.generate(session, Path(out), parameters, None if map is None else Path(map))


def inspect(
    dataset: Dataset | Folder, *, spark: SparkSession | SparkOptions | None = None
) -> InspectionResult:
    """Measure a data set and compare it with the paper and with its own parameters.

    Writes `inspection.json` and `inspection.html` to the data set's folder.
    """
    from causeway.berlinmod.inspection import inspect_dataset, write_figures
    from causeway.berlinmod.report.inspection_page import write_inspection_page

    loaded = dataset if isinstance(dataset, Dataset) else Dataset.load(Path(dataset))
    with open_session(spark, "berlinmod inspect") as session:
        inspection = inspect_dataset(session, loaded)
    result = InspectionResult(
        inspection, loaded.folder / "inspection.json", loaded.folder / "inspection.html"
    )
    write_figures(inspection, result.figures)
    write_inspection_page(inspection, result.report)
    return result


def play(
    dataset: Dataset | Folder,
    *,
    start: datetime | None = None,
    hours: float = 24.0,
    vehicles: int = 2000,
    page: Folder | None = None,
) -> Path:
    """Write a page in which the city's vehicles move, and give back where it is.

    It shows up to so many vehicles for some hours from `start` on; default: from the first day's midnight on.
    """
    from causeway.berlinmod.report.play_page import write_play_page

    loaded = dataset if isinstance(dataset, Dataset) else Dataset.load(Path(dataset))
    return write_play_page(
        loaded, start=start, hours=hours, vehicles=vehicles, page=None if page is None else Path(page)
    )


def run(
    dataset: Dataset | Folder,
    out: Folder,
    *,
    queries: str = "all",
    representation: Literal["oba", "tba", "both"] = "both",
    check: bool = False,
    runs: int = 3,
    aggregate: Aggregate = "sum",
    spark: SparkSession | SparkOptions | None = None,
) -> RunResult:
    """Answer queries on Spark, one after the other, and measure them; docs/berlinmod.md has each.

    `queries` are names such as `q1,q6`, or `r`, `nn`, `all`. Each is run `runs` times. With `check`, answers
    are compared with those of the paper's own text, or, of nearest neighbours, with a brute force at many
    instants: for small data sets. Both representations are always compared with each other. `aggregate` is
    what the distances to a group become (Q25, Q26). `out` is a new folder, with `result.json`, `report.html`,
    and the answers as Parquet.
    """
    from causeway.berlinmod.report.run_page import write_run_page
    from causeway.berlinmod.runner.results import run_result
    from causeway.berlinmod.runner.run import BerlinmodRunFolder, new_settings, run_queries
    from causeway.runtime.output_folder import refuse_used_folder

    loaded = dataset if isinstance(dataset, Dataset) else Dataset.load(Path(dataset))
    settings = new_settings(
        {
            "dataset": str(loaded.folder.resolve()),
            "queries": queries,
            "representation": representation,
            "check": check,
            "runs": runs,
            "aggregate": aggregate,
        }
    )
    check_options(spark)
    folder = BerlinmodRunFolder(Path(out))
    # Before the lock, which makes the folder.
    refuse_used_folder(folder.path)
    with folder.locked():
        folder.begin({"settings": {"dataset": settings.dataset, "queries": queries}, "queries": []})
        with (
            folder.logged("the run"),
            open_session(spark, "berlinmod run", log_file=folder.log) as session,
        ):
            facts = run_queries(session, folder, settings, loaded)
        return run_result(folder.path, facts, write_run_page(folder.path, loaded))


def export(
    dataset: Dataset | Folder,
    out: Folder,
    *,
    format: ExportFormat,
    coordinates: Coordinates = "metres",
    spark: SparkSession | SparkOptions | None = None,
) -> Export:
    """Write a data set to the new folder `out` in a format of others (docs/berlinmod.md, Formats).

    `coordinates` are metres in the plane of the map, or degrees. A map that has no coordinate system is taken
    to be in the authors' plane, in Berlin.
    """
    from causeway.berlinmod.exchange import check_export, export_dataset
    from causeway.runtime.output_folder import refuse_used_folder

    check_export(format, coordinates)
    check_options(spark)
    refuse_used_folder(Path(out))
    loaded = dataset if isinstance(dataset, Dataset) else Dataset.load(Path(dataset))
    with open_session(spark, "berlinmod export") as session:
        return export_dataset(session, loaded, Path(out), format, coordinates)


def import_dataset(
    source: Folder,
    out: Folder,
    *,
    format: ImportFormat = "csv",
    map: Folder | None = None,
    coordinates: Coordinates | None = None,
    spark: SparkSession | SparkOptions | None = None,
) -> Import:
    """Make a data set of the files in `source`: the authors' CSV, or MobilityDB's BerlinMOD.

    `map` is what the vehicles drive on, if `source` has no streets. `coordinates` says what the files have;
    without it, they are degrees if all are Berlin's, else metres. Lines that cannot be used are in
    `rejects.csv`.
    """
    from causeway.berlinmod.exchange import check_import
    from causeway.berlinmod.exchange import import_dataset as run
    from causeway.runtime.output_folder import refuse_used_folder

    map_path = None if map is None else Path(map)
    check_import(Path(source), format, map_path, coordinates)
    check_options(spark)
    refuse_used_folder(Path(out))
    with open_session(spark, "berlinmod import") as session:
        return run(session, Path(source), Path(out), format, map_path, coordinates)
