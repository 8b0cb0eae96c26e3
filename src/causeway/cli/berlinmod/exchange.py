"""`causeway berlinmod export` and `import`: data sets as files of others, and the other way round."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from causeway.cli.options import Conf, Master, output, print_counts, spark_options

__all__ = ["export_command", "import_command"]


class ExportFormatOption(StrEnum):
    """What can be written."""

    csv = "csv"
    nested_list = "nested-list"
    shapefile = "shapefile"
    geoparquet = "geoparquet"
    mf_json = "mf-json"
    meos = "meos"


class ImportFormatOption(StrEnum):
    """What can be read."""

    csv = "csv"
    mobilitydb = "mobilitydb"


class CoordinatesOption(StrEnum):
    """Metres in the plane of the map, or longitude and latitude."""

    metres = "metres"
    degrees = "degrees"


def export_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A data set.", show_default=False)],
    format_: Annotated[
        ExportFormatOption,
        typer.Option(
            "--format",
            help="csv, nested-list and shapefile are the paper's (P_EXPORT_TYPE); geoparquet is for QGIS and "
            "DuckDB, mf-json is OGC Moving Features, meos is for MobilityDB.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder for the files, new or empty.", metavar="DIR")],
    coordinates: Annotated[
        CoordinatesOption,
        typer.Option(
            help="Coordinates to write. A map that is nowhere on Earth is taken to be in the authors' plane."
        ),
    ] = CoordinatesOption.metres,
    master: Master = "local[*]",
    conf: Conf = None,
) -> None:
    """Write a data set in a format of others, file for file as section 7.7 of the paper has them."""
    from causeway.berlinmod import api

    done = api.export(
        folder,
        out,
        format=format_.value,
        coordinates=coordinates.value,
        spark=spark_options(master, conf),
    )
    sizes: dict[str, int] = {}
    for name, size in done.files.items():
        top = name.partition("/")[0]
        sizes[top] = sizes.get(top, 0) + size
    print_counts(f"{out}: {done.units:,} units as {done.format}; bytes of the files", sizes)


def import_command(
    source: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A folder with files of others.", show_default=False)
    ],
    out: Annotated[Path, typer.Option(help="Folder for the data set, new or empty.", metavar="DIR")],
    format_: Annotated[
        ImportFormatOption,
        typer.Option(
            "--format",
            help="csv: the authors' files, trips.csv and so on. mobilitydb: vehicles.csv, trips.csv or "
            "tripsinput.csv and so on.",
        ),
    ] = ImportFormatOption.csv,
    map_: Annotated[
        Path | None,
        typer.Option(
            "--map",
            help="A map's folder, or a file to import; default: the streets in FOLDER.",
            metavar="DIR|FILE",
            show_default=False,
        ),
    ] = None,
    coordinates: Annotated[
        CoordinatesOption | None,
        typer.Option(
            help="Coordinates in the files; default: degrees if all are Berlin's, else metres.",
            show_default=False,
        ),
    ] = None,
    master: Master = "local[*]",
    conf: Conf = None,
) -> None:
    """Make a data set of files of others, so that the queries run on it.

    Lines that cannot be used are listed in DIR/rejects.csv, with the reason of each.
    """
    from causeway.berlinmod import api

    done = api.import_dataset(
        source,
        out,
        format=format_.value,
        map=map_,
        coordinates=None if coordinates is None else coordinates.value,
        spark=spark_options(master, conf),
    )
    dataset = done.dataset
    print_counts(
        f"{out}: imported from {source}, map {dataset.map['name']}",
        {"days": dataset.parameters.days} | dataset.counts,
    )
    for name in done.missing:
        output.print(f"{name} is missing; its relation is empty", soft_wrap=True)
    if done.first_reject is not None:
        first = done.first_reject
        output.print(
            f"{done.rejects:,} lines rejected, see {out / 'rejects.csv'}; the first: {first.file}, line "
            f"{first.line}: {first.reason}",
            markup=False,
            soft_wrap=True,
        )
