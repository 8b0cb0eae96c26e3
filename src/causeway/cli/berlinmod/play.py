"""`causeway berlinmod play`: a page in which the city's vehicles move."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from causeway.cli.options import output

__all__ = ["play_command"]


def play_command(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A data set, made by `generate`.", show_default=False)
    ],
    start: Annotated[
        datetime | None,
        typer.Option(
            "--from",
            help="Day and time to begin with; default: the first day, 0:00.",
            metavar="YYYY-MM-DDTHH:MM:SS",
            show_default=False,
        ),
    ] = None,
    hours: Annotated[float, typer.Option(help="How many hours to show.", metavar="H")] = 24.0,
    vehicles: Annotated[
        int, typer.Option(help="At most so many vehicles, evenly chosen.", metavar="N", min=1)
    ] = 2000,
    out: Annotated[
        Path | None,
        typer.Option(help="The page; default: DIR/play.html.", metavar="FILE", show_default=False),
    ] = None,
) -> None:
    """Make a page in which the city's vehicles move.

    It is one file that any browser opens from the disk: a map with its districts, a slider over the time with
    the traffic above it, and a click on a vehicle to follow its trips.
    """
    import causeway.berlinmod as library

    page = library.play(folder, start=start, hours=hours, vehicles=vehicles, page=out)
    output.print(f"Open it in a browser: {page} ({page.stat().st_size / 1e6:.1f} MB)", soft_wrap=True)
