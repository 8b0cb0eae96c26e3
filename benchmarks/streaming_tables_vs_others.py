r"""Streaming tables beside DuckDB, PostgreSQL and Delta on Spark: the same load, the same statements.

    python benchmarks/streaming_tables_vs_others.py [--rows 20000000] [--seconds 60] [--rate 33000] \
        [--systems ours,duckdb,postgresql,delta] [--delta-spark 4.2] [--folder FOLDER]

The load and the statements are those of `streaming_tables.py`. A process of its own adds a Parquet file of a
tenth of a second's reports to a folder, ten times a second; each system inserts the files in its own way:

ours        a continuous insert; a value index on the vehicle
DuckDB      a thread of the one process: INSERT … SELECT FROM read_parquet, one transaction for the files that
            are there; readers have cursors of their own; zone maps on the time; the ART index on the vehicle
            is tried and kept if reads are faster by a tenth; checkpoints every 256 MB of log instead of 16
PostgreSQL  a client process: binary COPY, one transaction for the files that are there, synchronous commit;
            B-tree on (VID, T) and BRIN on T, made after the history is loaded, then VACUUM (ANALYZE); 2 GB of
            shared buffers, autovacuum on, settings for solid-state disks; answers as binary COPY into Arrow
Delta       a Structured Streaming query, batch after batch; optimized writes, automatic compaction,
            statistics on T and VID; the history is compacted and Z-ordered by both; its own Spark reads it.
            The jar comes from Maven. If it has none for the Spark in use, `--delta-spark` names a version of
            Spark to install for it, from PyPI into a folder of its own.

Each system is measured alone, in a process of its own and a folder on the same disk, with all cores. It is
filled with the history (in bulk, with indexes and upkeep). Then come 30 statements of each size, one after
the other, after 90 to warm up. Then the load begins, and after ten seconds 200 statements a minute come at
random moments to four clients; a time counts from the moment that a statement is due to its last row in
Arrow. Arrival to visible counts from the moment that a file is there to the first answer that has its rows;
this is asked every 10 ms with what is cheapest in each: a count, PostgreSQL's last rows by key, Delta's log.
Sustained insert: files of 500,000 reports into a second table with the same indexes, as fast as it goes.
The answers of all systems to the statements without load are compared. What can't be had is left out.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

import numpy as np
import pyspark
from rich.console import Console
from rich.table import Table

from causeway.runtime.machine import hardware
from others.measure import CLIENTS, REPEATS, Figures, measure
from others.system import System, UnavailableError, install
from position_reports import ANSWERS, PER_SECOND

_TITLES: Final = {
    "ours": "streaming tables",
    "duckdb": "DuckDB",
    "postgresql": "PostgreSQL",
    "delta": "Delta",
}
_HERE: Final = Path(__file__).resolve().parent
_LEFT_OUT: Final = "left out"
_END_SECONDS: Final = 60


def make(name: str, folder: Path) -> System:
    """Start a system, or raise `UnavailableError`. Others than the one asked for need not be installed."""
    if name == "ours":
        from others.ours import StreamingTables

        return StreamingTables(folder)
    if name == "duckdb":
        try:
            from others.duck import DuckDB
        except ModuleNotFoundError as failure:
            raise UnavailableError(f"{failure}; pip install duckdb") from failure
        return DuckDB(folder)
    if name == "postgresql":
        from others.postgres import PostgreSQL

        return PostgreSQL(folder)
    from others.delta import Delta

    return Delta(folder)


def measure_here(name: str, folder: Path, rows: int, seconds: float, rate: int) -> dict[str, object]:
    """Measure a system in this process."""
    home = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=folder))
    spools = Path(tempfile.mkdtemp(prefix="load-", dir=folder))
    try:
        system = make(name, home)
    except UnavailableError as failure:
        return {_LEFT_OUT: str(failure)}
    try:
        return asdict(measure(system, spools, rows, seconds, rate))
    finally:
        system.close()


def measure_apart(name: str, arguments: argparse.Namespace) -> Figures | str:
    """Measure a system in a process of its own; a line that says why, if it can't be had."""
    variables = dict(os.environ)
    if name == "delta" and arguments.delta_spark is not None:
        try:
            spark = install(f"pyspark-{arguments.delta_spark}", f"pyspark=={arguments.delta_spark}.*")
        except UnavailableError as failure:
            return str(failure)
        variables["PYTHONPATH"] = os.pathsep.join([str(spark), variables.get("PYTHONPATH", "")]).rstrip(":")
        variables.pop("SPARK_HOME", None)
    with tempfile.TemporaryDirectory(prefix="comparison-", dir=arguments.folder) as temporary:
        # The user that runs PostgreSQL must get to its own folder in there.
        Path(temporary).chmod(0o711)
        result = Path(temporary) / "result.json"
        command = [sys.executable, str(_HERE / Path(__file__).name), "--measure", name]
        for option in ("rows", "seconds", "rate"):
            command += [f"--{option}", str(getattr(arguments, option))]
        process = subprocess.Popen(
            [*command, "--folder", temporary, "--result", str(result)], env=variables, start_new_session=True
        )
        try:
            code = process.wait()
        finally:
            _end(process)
        if code:
            return f"failed with exit code {code}; its error is above"
        figures = json.loads(result.read_text())
    return str(figures[_LEFT_OUT]) if _LEFT_OUT in figures else Figures(**figures)


def _end(process: subprocess.Popen[bytes]) -> None:
    """With all that it has started; it has time to stop its server."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _spread(taken: Sequence[float]) -> str:
    return f"{statistics.mean(taken):.0f} / {max(taken):.0f}" if taken else "none"


def _delay(figures: Figures, share: float) -> str:
    delays = [*figures.delays, *[float("inf")] * figures.unseen_batches]
    if not delays:
        return "none"
    # The nearest batch: between two there may be one that was never seen.
    found = float(np.percentile(delays, share, method="higher"))
    return f"{found:.0f}" if np.isfinite(found) else "not seen"


def table_of(found: dict[str, Figures]) -> Table:
    """A row a figure, a column a system."""
    table = Table("", *(_TITLES[name] for name in found), title="times in milliseconds")

    def add(what: str, cells: list[str]) -> None:
        table.add_row(what, *cells)

    every = list(found.values())
    add("version", [figures.version for figures in every])
    for share in (50, 99):
        add(f"arrival to visible, p{share}", [_delay(figures, share) for figures in every])
    for number, answer in enumerate(ANSWERS):
        rows = statistics.mean(
            each[0] for each in every[0].answers[number * REPEATS : (number + 1) * REPEATS]
        )
        what = f"read of {answer:,} rows ({rows:,.0f} found), mean / worst"
        add(what, [_spread(figures.reads[str(answer)]) for figures in every])
    for answer in ANSWERS:
        what = f"read of {answer:,} rows under load, mean / worst"
        add(what, [_spread(figures.loaded[str(answer)]) for figures in every])
    add("sustained insert, rows/s", [f"{figures.insert_rate:,.0f}" for figures in every])
    add("history in bulk with upkeep, rows/s", [f"{figures.fill_rate:,.0f}" for figures in every])
    add("on disk, MB", [f"{figures.stored_bytes / 1e6:,.0f}" for figures in every])
    per_row = [f"{figures.stored_bytes / max(1, figures.stored_rows):.1f}" for figures in every]
    add("on disk, bytes a row", per_row)
    return table


def inequalities(found: dict[str, Figures], rate: int) -> list[str]:
    """What the reader of the table must know."""
    lines = []
    for name, figures in found.items():
        title = _TITLES[name]
        if figures.unanswered:
            lines.append(f"{title}: {figures.unanswered} statements under load had not begun when it ended")
        if figures.unseen_batches:
            lines.append(
                f"{title}: {figures.unseen_batches} batches were not visible a minute after the load"
            )
        if figures.delivered_rate < 0.95 * rate:
            lines.append(
                f"{title}: only {figures.delivered_rate:,.0f} rows/s were delivered; the machine was too busy"
            )
        lines += figures.unequal
    names = list(found)
    for name in names[1:]:
        if found[name].answers != found[names[0]].answers:
            lines.append(
                f"{_TITLES[name]} and {_TITLES[names[0]]} gave different answers: the times are void"
            )
    return lines


def main() -> None:
    """Measure the systems that can be had, and print one table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=20_000_000, help="history, rounded up to whole seconds")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rate", type=int, default=PER_SECOND)
    parser.add_argument("--systems", default=",".join(_TITLES))
    parser.add_argument("--delta-spark", help="Spark version to install for Delta, such as 4.2")
    parser.add_argument(
        "--folder", type=Path, help="where the databases are made; the temporary folder if not"
    )
    parser.add_argument("--measure", choices=list(_TITLES), help=argparse.SUPPRESS)
    parser.add_argument("--result", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    # A server or a child must not outlive this process.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    rows = -(-arguments.rows // PER_SECOND) * PER_SECOND
    if arguments.measure:
        measured = measure_here(arguments.measure, arguments.folder, rows, arguments.seconds, arguments.rate)
        arguments.result.write_text(json.dumps(measured))
        return
    wanted = arguments.systems.split(",")
    if unknown := set(wanted) - set(_TITLES):
        parser.error(f"no such system: {', '.join(sorted(unknown))}; there are {', '.join(_TITLES)}")
    found: dict[str, Figures] = {}
    for name in wanted:
        print(f"{_TITLES[name]} …", file=sys.stderr, flush=True)
        outcome = measure_apart(name, arguments)
        if isinstance(outcome, Figures):
            found[name] = outcome
        else:
            print(f"{_TITLES[name]} is left out: {outcome}", flush=True)
    if not found:
        sys.exit("No system could be measured.")
    console, machine = Console(width=140), hardware()
    console.print(
        f"{rows:,} rows of history; {arguments.rate:,} rows/s for {arguments.seconds:.0f} s; "
        f"{CLIENTS} clients; Spark {pyspark.__version__}; {machine['processor']}, {machine['cores']} cores",
        highlight=False,
    )
    console.print(table_of(found), highlight=False)
    for name, figures in found.items():
        print(f"After a crash, {_TITLES[name]}: {figures.promise}.")
    lines = inequalities(found, arguments.rate)
    print("\nNot equal, or to be known:" if lines else "")
    for line in lines:
        print(f"- {line}.")


if __name__ == "__main__":
    main()
