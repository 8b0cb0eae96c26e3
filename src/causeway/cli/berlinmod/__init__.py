"""The commands of BerlinMOD, in the path of the data: `map`, `data`, `play`, `run`, `exchange`."""

from __future__ import annotations

import typer

from causeway.cli.berlinmod import data, exchange, play
from causeway.cli.berlinmod import map as maps
from causeway.cli.berlinmod import run as runs

__all__ = ["berlinmod"]

berlinmod = typer.Typer(
    help="""BerlinMOD (2009): a city's vehicles over many days, and queries on where they were.

    `map` draws a city, or imports one. `generate` simulates its vehicles, in both of the paper's
    representations. `inspect` checks them against the paper and shows the city and its traffic. `play`
    lets them move in a page. `run` answers the paper's 26 queries and measures them.
    `export` writes files of others, `import` reads them.
    """,
    epilog="""Example:

    \b
      causeway berlinmod map --from berlin-latest.osm.pbf --out berlin
      causeway berlinmod generate --map berlin --out city --scale 0.05
      causeway berlinmod inspect city
      causeway berlinmod play city
      causeway berlinmod run city --query r --out run
      causeway berlinmod export city --format csv --out files
    """,
    no_args_is_help=True,
    rich_markup_mode=None,
)

berlinmod.command("map")(maps.map_command)
berlinmod.command()(data.generate)
berlinmod.command()(data.inspect)
berlinmod.command("play")(play.play_command)
berlinmod.command("run")(runs.run_command)
berlinmod.command("export")(exchange.export_command)
berlinmod.command("import")(exchange.import_command)
