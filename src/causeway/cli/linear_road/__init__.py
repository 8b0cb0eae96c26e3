"""The commands of Linear Road, in the path of the data: `workload`, `run`, `query`, `judge`."""

from __future__ import annotations

import typer

from causeway.cli.linear_road import judge, workload
from causeway.cli.linear_road import query as queries
from causeway.cli.linear_road import run as runs

__all__ = ["linear_road"]

linear_road = typer.Typer(
    help="""Linear Road (VLDB 2004): tolls that depend on the traffic.

    `generate` (or `import`) makes a workload, `inspect` checks it, `history` adds ten weeks of history, and
    `prepare` converts that for fast lookups. `run` answers the workload on Spark; `drive` delivers it in real
    time, to `run` or to another system. `validate` checks the answers, and `rate` finds how many expressways
    a machine can handle.
    """,
    epilog="""Example:

    \b
      causeway linear-road generate --out traffic --minutes 60
      causeway linear-road history traffic
      causeway linear-road run traffic --out run --speed 4 --from-minute 50
      causeway linear-road validate traffic run
    """,
    no_args_is_help=True,
    rich_markup_mode=None,
)

linear_road.command()(workload.generate)
linear_road.command("import")(workload.import_)
linear_road.command()(workload.inspect)
linear_road.command()(workload.history)
linear_road.command()(workload.prepare)
linear_road.command()(runs.drive)
linear_road.command()(runs.run)
linear_road.command()(queries.query)
linear_road.command()(judge.validate)
linear_road.command()(judge.rate)
