"""`causeway berlinmod export`: a data set in a format of others; whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, get_args

from causeway.berlinmod.dataset import Dataset
from causeway.berlinmod.exchange.coordinates import Coordinates, Projection
from causeway.berlinmod.exchange.export.csv_files import write_csv
from causeway.berlinmod.exchange.export.geoparquet_files import write_geoparquet_files
from causeway.berlinmod.exchange.export.mobilitydb import write_mobilitydb
from causeway.berlinmod.exchange.export.moving_features import write_moving_features
from causeway.berlinmod.exchange.export.nested_lists import write_nested_lists
from causeway.berlinmod.exchange.export.shapefiles import write_shapefiles
from causeway.berlinmod.exchange.export.source import Source
from causeway.runtime.errors import UserError
from causeway.runtime.new_folder import new_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["EXPORT_FORMATS", "Export", "ExportFormat", "check_export", "export_dataset"]

ExportFormat = Literal["csv", "nested-list", "shapefile", "geoparquet", "mf-json", "meos"]
EXPORT_FORMATS: Final = get_args(ExportFormat)

_WRITERS: Final[dict[str, Callable[[SparkSession, Source, Path], int]]] = {
    "csv": write_csv,
    "nested-list": write_nested_lists,
    "shapefile": write_shapefiles,
    "geoparquet": write_geoparquet_files,
    "mf-json": write_moving_features,
    "meos": write_mobilitydb,
}


@dataclass(frozen=True)
class Export:
    """What was written."""

    folder: Path
    format: ExportFormat
    units: int
    """Linear movements of all trips."""
    files: dict[str, int]
    """Size in bytes of each file, by its path in the folder."""


def check_export(format: str, coordinates: str) -> None:
    """Refuse what there is no way to write."""
    if format not in EXPORT_FORMATS:
        raise UserError(f"format is one of {', '.join(EXPORT_FORMATS)}; got {format}")
    if coordinates not in get_args(Coordinates):
        raise UserError(f"coordinates are metres or degrees; got {coordinates}")


def export_dataset(
    spark: SparkSession,
    dataset: Dataset,
    out: Path,
    format: ExportFormat,
    coordinates: Coordinates = "metres",
) -> Export:
    """Write a data set to the new folder `out`, which all of Spark's workers must see."""
    check_export(format, coordinates)
    out = out.absolute()
    source = Source.of(dataset, Projection(coordinates, dataset.road_map().crs))
    with new_folder(out, "causeway berlinmod export") as folder:
        units = _WRITERS[format](spark, source, folder)
    files = {
        str(path.relative_to(out)): path.stat().st_size for path in sorted(out.rglob("*")) if path.is_file()
    }
    return Export(out, format, units, files)
