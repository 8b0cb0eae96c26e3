"""`causeway berlinmod generate` and `inspect`: a city's vehicles for some weeks, held against the paper."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from causeway.cli.options import Conf, Master, output, print_counts, print_lines, spark_options
from causeway.runtime.errors import CheckFailedError

__all__ = ["generate", "inspect"]

DataFolder = Annotated[
    Path, typer.Argument(metavar="DIR", help="A data set, made by `generate`.", show_default=False)
]


class ModeOption(StrEnum):
    """Where homes and work places are."""

    network = "network"
    region = "region"


class DistanceOption(StrEnum):
    """Which way vehicles take."""

    fastest = "fastest"
    shortest = "shortest"


def generate(
    out: Annotated[Path, typer.Option(help="Folder for the data set, new or empty.", metavar="DIR")],
    scale: Annotated[
        float,
        typer.Option(
            help="1 is 2000 vehicles for 28 days; both follow its square root. SCALEFACTOR.", metavar="F"
        ),
    ] = 0.05,
    map_: Annotated[
        Path | None,
        typer.Option(
            "--map",
            help="A map's folder, or a file to import; default: a city drawn from the seed.",
            metavar="DIR|FILE",
            show_default=False,
        ),
    ] = None,
    mode: Annotated[
        ModeOption,
        typer.Option(
            help="Homes and work places evenly over the nodes, or by regions and weights. P_TRIP_MODE."
        ),
    ] = ModeOption.network,
    distance: Annotated[
        DistanceOption, typer.Option(help="Which way vehicles take. P_TRIP_DISTANCE.")
    ] = DistanceOption.fastest,
    disturb: Annotated[
        bool, typer.Option("--disturb", help="Positions with errors, as from GPS. P_DISTURB_DATA.")
    ] = False,
    seed: Annotated[int, typer.Option(help="The same seed gives the same data.", metavar="N", min=0)] = 1,
    cars: Annotated[
        int | None,
        typer.Option(help="Vehicles, not by the scale. P_NUMCARS.", metavar="N", min=1, show_default=False),
    ] = None,
    days: Annotated[
        int | None,
        typer.Option(help="Days, not by the scale. P_NUMDAYS.", metavar="N", min=1, show_default=False),
    ] = None,
    sample_size: Annotated[
        int, typer.Option(help="Rows of each query relation. P_SAMPLESIZE.", metavar="N", min=1)
    ] = 100,
    scale_cars: Annotated[
        float | None,
        typer.Option(
            help="Scale of the vehicles alone; default: the root of the scale. SCALEFCARS.",
            metavar="F",
            show_default=False,
        ),
    ] = None,
    scale_days: Annotated[
        float | None,
        typer.Option(
            help="Scale of the days alone; default: the root of the scale. SCALEFDAYS.",
            metavar="F",
            show_default=False,
        ),
    ] = None,
    start_day: Annotated[
        int, typer.Option(help="First day, counted from Monday 2000-01-03. P_STARTDAY.", metavar="N")
    ] = 2702,
    neighbourhood_radius: Annotated[
        float,
        typer.Option(
            help="Metres around a home in which most destinations are. P_NEIGHBOURHOOD_RADIUS.", metavar="M"
        ),
    ] = 3000.0,
    gps_interval_ms: Annotated[
        int, typer.Option(help="Longest time between two samples. P_GPSINTERVAL_MS.", metavar="MS", min=1)
    ] = 2000,
    gps_total_error: Annotated[
        float, typer.Option(help="Largest error of a disturbed position. P_GPS_TOTALMAXERR.", metavar="M")
    ] = 100.0,
    gps_step_error: Annotated[
        float, typer.Option(help="Largest change of it between samples. P_GPS_STEPMAXERR.", metavar="M")
    ] = 1.0,
    min_pause_ms: Annotated[
        int, typer.Option(help="Standing for so long ends a trip. P_MINPAUSE_MS.", metavar="MS", min=1)
    ] = 300_000,
    min_velocity: Annotated[
        float, typer.Option(help="Slower vehicles (metres an hour) stand. P_MINVELOCITY.", metavar="V")
    ] = 0.041667,
    home_seed: Annotated[
        int | None,
        typer.Option(
            help="Seed of homes and vehicles; default: the seed. P_HOMERANDSEED.",
            metavar="N",
            min=0,
            show_default=False,
        ),
    ] = None,
    trip_seed: Annotated[
        int | None,
        typer.Option(
            help="Seed of trips; default: the seed. P_TRIPRANDSEED.",
            metavar="N",
            min=0,
            show_default=False,
        ),
    ] = None,
    master: Master = "local[*]",
    conf: Conf = None,
) -> None:
    """Simulate a city's vehicles for some weeks.

    They drive to work and back, and in their spare time to up to three places; each records where it is at
    least every two seconds. DIR has the object-based and the trip-based representation as Parquet, the query
    relations, the map, and berlinmod.json with all parameters and counts. The names in capitals are the
    paper's (Table 8).
    """
    from causeway.berlinmod import api

    dataset = api.generate(
        out,
        scale=scale,
        map=map_,
        mode=mode.value,
        distance=distance.value,
        disturb=disturb,
        cars=cars,
        days=days,
        scale_cars=scale_cars,
        scale_days=scale_days,
        sample_size=sample_size,
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
        spark=spark_options(master, conf),
    )
    facts = dataset.parameters
    print_counts(
        f"{out}: {facts.mode}-based, map {dataset.map['name']}, seed {facts.seed}",
        {"days": facts.days} | dataset.counts,
    )


def inspect(folder: DataFolder, master: Master = "local[*]", conf: Conf = None) -> None:
    """Measure a data set and compare it with what is expected.

    Prints each figure beside the expected one, and draws the city, its homes and work places, the durations
    of trips and the traffic over a week in DIR/inspection.html. Exit code 1 if a figure is out of range.
    """
    from causeway.berlinmod import api
    from causeway.berlinmod.report.inspection_page import inspection_table

    result = api.inspect(folder, spark=spark_options(master, conf))
    output.print(inspection_table(result.inspection))
    print_lines(f"Plot: {result.report}")
    if not result.holds:
        raise CheckFailedError("some figures are out of what is expected; see the table")
