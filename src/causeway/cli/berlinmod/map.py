"""`causeway berlinmod map`: draws our own city, or imports a map of others."""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from causeway.cli.options import output
from causeway.runtime.errors import UserError

if TYPE_CHECKING:
    from causeway.berlinmod.city import MapFigures

__all__ = ["map_command", "print_map"]

_FILE_HELP = "Shapefile or SECONDO nested list of the {} regions: Priority, Weight, areas."


def map_command(
    out: Annotated[Path, typer.Option(help="Folder for the map, new or empty.", metavar="DIR")],
    source: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Streets of others: .data or .obj (SECONDO nested list), .shp, .osm, .osm.pbf, or a folder "
            "with streets.data (or .shp) and homeRegions and workRegions.",
            metavar="FILE|DIR",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="The same seed draws the same city; default: 1.", metavar="N", min=0, show_default=False
        ),
    ] = None,
    home_regions: Annotated[
        Path | None, typer.Option(help=_FILE_HELP.format("home"), metavar="FILE", show_default=False)
    ] = None,
    work_regions: Annotated[
        Path | None, typer.Option(help=_FILE_HELP.format("work"), metavar="FILE", show_default=False)
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(help="The map's name; default: the file's.", metavar="TEXT", show_default=False),
    ] = None,
) -> None:
    """Draw a city with the figures of the paper's map, or import a map of others.

    DIR has streets, nodes, edges and regions as GeoParquet files, which QGIS opens. Streets that cannot be
    used are listed in DIR/rejects.csv. What is not connected with the rest, there and back, is left out.
    """
    from causeway.berlinmod.city import describe, draw_city, import_map
    from causeway.runtime.output_folder import refuse_used_folder

    if source is None and (home_regions or work_regions or name):
        raise UserError("--home-regions, --work-regions and --name go with --from")
    if source is not None and seed is not None:
        raise UserError("--seed is for our own city; with --from nothing is drawn")
    refuse_used_folder(out)
    if source is None:
        city = draw_city(1 if seed is None else seed)
        city.save(out)
        print_map(out, describe(city))
        return
    imported = import_map(source, home_regions=home_regions, work_regions=work_regions, name=name)
    imported.save(out)
    print_map(out, describe(imported.road_map))
    if imported.rejects:
        output.print(
            f"{len(imported.rejects):,} streets rejected, see {out / 'rejects.csv'}; the first: "
            f"{imported.rejects[0]}",
            markup=False,
            soft_wrap=True,
        )
    dropped = imported.dropped
    if dropped.components:
        output.print(
            f"Left out, since no way leads there and back: {dropped.components:,} parts of the map with "
            f"{dropped.nodes:,} nodes, {dropped.edges:,} edges, {dropped.kilometres:,.1f} km",
            soft_wrap=True,
        )


def print_map(folder: Path, figures: MapFigures) -> None:
    """The figures of a map, streets by speed and nodes by region."""
    low_x, low_y, high_x, high_y = figures.extent
    output.print(
        f"{escape(str(folder))}: {figures.nodes:,} nodes, {figures.edges:,} edges, "
        f"{figures.streets:,} streets, {figures.kilometres:,.0f} km, "
        f"{(high_x - low_x) / 1000:.1f} x {(high_y - low_y) / 1000:.1f} km",
        soft_wrap=True,
    )
    speeds = Table("km/h", "streets", "km")
    for speed in figures.by_speed:
        speeds.add_row(f"{speed.vmax:g}", f"{speed.streets:,}", f"{speed.kilometres:,.0f}")
    output.print(speeds)
    if not figures.districts:
        output.print("No regions: homes and work places are at any node.")
        return
    regions = Table("region", "nodes", "Table 9", "homes", "work places", "km²")
    for column in regions.columns[1:]:
        column.justify = "right"
    for one in figures.districts:
        known = "" if one.nodes_of_table_9 is None else f"{one.nodes_of_table_9:,}"
        regions.add_row(
            escape(one.name),
            f"{max(one.home_nodes, one.work_nodes):,}",
            known,
            _weight(one.home_weight),
            _weight(one.work_weight),
            f"{one.square_kilometres:,.1f}",
        )
    output.print(regions)


def _weight(weight: float) -> str:
    return "" if isnan(weight) else f"{weight:,.0f}"
