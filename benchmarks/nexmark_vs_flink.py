"""NEXMark's modern queries on Flink SQL, on plain Spark, and on columnar operators on Spark.

    python benchmarks/nexmark_vs_flink.py --out DIR [--events 1000000] [--queries q0,q5] [--rounds 3]
    python benchmarks/nexmark_vs_flink.py --out DIR --check         # compare all answers, measure nothing
    python benchmarks/nexmark_vs_flink.py --out DIR --latency       # 50,000 events/s for 60 s
    causeway nexmark compare DIR/flink DIR/spark DIR/columnar       # the tables and a page

Flink comes from PyPI, into an environment of its own in the user's cache folder. Its statements are those of
nexmark/nexmark (`nexmark_flink/queries`); where there are more ways to write one, each has a name of its own
(`--queries q7,q7.join,q7.top_n --sides flink` tells the fastest). It runs in streaming mode, with object
reuse, mini-batches and split distinct aggregates, its state on the heap, no checkpoints, answers to
`blackhole`. Spark runs with its checkpoints, and its `noop` takes the answers. Flink refuses q6.

All have the same events, cores, Java, heap and Java options, and the parallel garbage collector, unless G1 is
asked for (`--sides flink:g1,flink:parallel` tries both). Every side is one process, as a cluster is that is
there for many queries. It answers a query over a smaller set first, three times and for 15 s at least, its
first query for 45 s, so that Java is warm, and then over the whole set, so that it has its memory; then the
sides take turns. A round is repeated, twice at most, if other processes took more than 0.15 cores. Time is
from the statement to the end of the job, all windows emitted, planning included. CPU time is that of the
process and all below it.
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, get_args

from rich.console import Console

from causeway.nexmark.generator.encoding import FileFormat
from causeway.nexmark.report.comparison import comparison_table, load_runs
from causeway.runtime.errors import CausewayError, UserError
from causeway.runtime.machine import hardware
from causeway.spark.java import ensure_java
from nexmark_flink.checking import check_queries
from nexmark_flink.records import Records
from nexmark_flink.sides import CORES, SIDES, Side, parse_sides
from nexmark_flink.steady import measure_latency
from nexmark_flink.throughput import Workload, measure_queries

_QUERIES: Final = tuple(f"q{number}" for number in range(23) if number != 6)
_WAYS: Final = ("q5.top_n", "q7.join", "q7.top_n", "q13.versioned")
_LATENCY_QUERIES: Final = ("q0", "q5", "q7")
_EVENTS: Final = 1_000_000
_FORMATS: Final = tuple(name for name in get_args(FileFormat) if name != "xml")


def main() -> int:
    """Measure, or check."""
    options = _options()
    console = Console(width=None if sys.stdout.isatty() else 160, highlight=False)
    try:
        sides = parse_sides(options.sides, options.heap)
        queries = _queries(options)
        # What is asked to end takes its processes and files along.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        # On a machine with more cores, Java and Python on either side are to see two.
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
        ensure_java()
        with tempfile.TemporaryDirectory(prefix="causeway-vs-flink-") as scratch:
            return _run(options, sides, queries, Path(scratch), console)
    except CausewayError as mistake:
        print(mistake, file=sys.stderr)
        return mistake.exit_code


def _options() -> argparse.Namespace:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument(
        "--out", type=Path, help="folder for the figures, a run for each side; none: print only"
    )
    arguments.add_argument(
        "--events",
        type=int,
        default=_EVENTS,
        help=f"that a query finds in its streams, about ({_EVENTS:,})",
    )
    arguments.add_argument("--queries", help="as in q0,q5 (all that there are)")
    arguments.add_argument("--sides", default=",".join(SIDES), help=f"as in flink,spark ({','.join(SIDES)})")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--check", action="store_true", help="compare the answers, measure nothing")
    arguments.add_argument("--latency", action="store_true", help="measure latency at a rate instead")
    arguments.add_argument("--rate", type=int, default=50_000, help="events a second, for --latency (50,000)")
    arguments.add_argument("--duration", type=int, default=60, help="seconds, for --latency (60)")
    arguments.add_argument("--heap", default="4g", help="of every side's Java (4g)")
    arguments.add_argument("--format", choices=_FORMATS, default="json", help="of the files (json)")
    arguments.add_argument("--flink-jar", type=Path, action="append", default=[], help="for --format parquet")
    arguments.add_argument("--data", type=Path, help="keep the events in this folder for the next time")
    return arguments.parse_args()


def _queries(options: argparse.Namespace) -> list[str]:
    known = _LATENCY_QUERIES if options.latency else _QUERIES
    names = options.queries.split(",") if options.queries else known
    if unknown := [name for name in names if name not in (*known, *_WAYS)]:
        raise UserError(f"--queries: {', '.join(unknown)} is not among {', '.join((*known, *_WAYS))}")
    return list(names)


def _run(
    options: argparse.Namespace,
    sides: Sequence[Side],
    queries: Sequence[str],
    scratch: Path,
    console: Console,
) -> int:
    command = shlex.join(["python", "benchmarks/nexmark_vs_flink.py", *sys.argv[1:]])
    machine = hardware()
    load = os.getloadavg()[0]
    console.print(
        f"{command}\n{machine['cores']} cores, {machine['processor']}, {machine['memory_gib']:.0f} GiB; "
        f"load before: {load:.1f}"
    )
    records = Records(options.out or scratch / "runs", command)
    workload = Workload(options.data or scratch / "data", options.events, options.format, options.flink_jar)
    if options.check:
        return 0 if check_queries(queries, sides, workload, scratch, records, console) else 1
    if options.latency:
        for query in queries:
            for side in sides:
                measure_latency(query, side, options.rate, options.duration, scratch, records)
    else:
        measure_queries(queries, sides, workload, options.rounds, scratch, records)
    console.print(comparison_table(load_runs([records.run(side) for side in sides])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
