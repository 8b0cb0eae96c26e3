"""NEXMark's modern q0 to q8 on Causeway and on Flink 2.3: the same events, two cores each, by turns.

    python benchmarks/nexmark_vs_flink.py [--events 5000000] [--queries q0,q5] [--rounds 3] [--format json]
    python benchmarks/nexmark_vs_flink.py --check [--events 200000]

Flink comes from PyPI, into an environment of its own in the user's cache folder. Its statements are those of
nexmark/nexmark (`nexmark_flink/queries`), in streaming mode, with object reuse and mini-batches, state on the
heap, no checkpoints, answers to `blackhole`. Ours run under `--rules flink`, with their checkpoints, and
Spark's `noop` takes the answers. Watermarks are 4 s behind on both sides. Flink refuses q6: ours alone.

Every run is a process of its own that answers the query over a smaller set first, three times, so that Java
is warm. Time is from the statement to the end of the job, all windows emitted, planning included.
CPU time is that of the process and all below it, from the statement on. The sides take turns; medians count.
`--check` compares Flink's answers with our batch statements instead, and does so for the queries up to q22:
but for q12, which goes by the clock, and q13, for whose static table there is no statement here.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, get_args

from rich.console import Console
from rich.table import Table

from causeway.nexmark.generator.encoding import FileFormat
from causeway.nexmark.queries import find_query
from causeway.runtime.cpu_time import cpu_seconds
from causeway.runtime.errors import CausewayError, UserError
from causeway.runtime.machine import hardware
from causeway.spark.java import ensure_java
from causeway.spark.session import spark_session
from nexmark_flink.check import compare
from nexmark_flink.environment import flink_python, flink_variables
from nexmark_flink.event_sets import EventSet, write_events
from nexmark_flink.handshake import heard

_HERE: Final = Path(__file__).resolve().parent
_CORES: Final = 2
_QUERIES: Final = tuple(f"q{number}" for number in range(9))
_OURS_ALONE: Final = ("q6",)
_CHECKED: Final = tuple(
    name for number in range(23) if (name := f"q{number}") not in (*_OURS_ALONE, "q12", "q13")
)
_BATCH_EVENTS: Final = 2_000_000
_CHECK_EVENTS: Final = 200_000
_EVENTS: Final = 5_000_000
_WARM_UP_SHARE: Final = 5
_WARM_UPS: Final = 3
_SHOWN: Final = 5
_FORMATS: Final = tuple(name for name in get_args(FileFormat) if name != "xml")
_PHASES: Final = ("addBatch", "queryPlanning", "latestOffset", "getBatch", "walCommit", "commitOffsets")


@dataclass(frozen=True)
class Run:
    """A measured run of one side."""

    seconds: float
    cpu: float
    java_cpu: float
    """Of `cpu`, what Java itself took; the rest is Python's."""
    report: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Side:
    """How a side is started."""

    command: list[str]
    variables: Mapping[str, str]

    def start(self, settings: Mapping[str, Any], errors: Path) -> subprocess.Popen[str]:
        """A process with its descendants in a group of their own."""
        with errors.open("w") as output:
            return subprocess.Popen(
                [*self.command, json.dumps(dict(settings))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                text=True,
                env={**self.variables, "PYTHONPATH": str(_HERE)},
                start_new_session=True,
            )


def measure(side: Side, settings: Mapping[str, Any], scratch: Path) -> Run:
    """Start a side, let it warm up, run, and note what that took."""
    errors = scratch / "errors.txt"
    process = side.start(settings, errors)
    assert process.stdin is not None
    try:
        ready = _next(process, errors)
        before, java_before = cpu_seconds(process.pid), _own_cpu(ready["java"])
        _go_on(process)
        report = _next(process, errors)
        after, java_after = cpu_seconds(process.pid), _own_cpu(ready["java"])
        _go_on(process)
        process.wait(60)
    finally:
        _end(process)
    assert before is not None and after is not None
    return Run(report.pop("seconds"), after - before, java_after - java_before, report)


def _go_on(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def _next(process: subprocess.Popen[str], errors: Path) -> dict[str, Any]:
    assert process.stdout is not None
    for line in process.stdout:
        if (report := heard(line)) is not None:
            return report
    process.wait()
    shown = errors.read_text(errors="replace").strip()[-3000:]
    raise RuntimeError(f"{shlex.join(map(str, process.args))} ended without a result:\n{shown}")  # type: ignore[arg-type]


def _end(process: subprocess.Popen[str]) -> None:
    """With all that it has started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _own_cpu(pid: int) -> float:
    """CPU seconds of one process, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass
class Outcome:
    """All rounds of a query."""

    query: str
    events: int
    ours: list[Run] = field(default_factory=list)
    flink: list[Run] = field(default_factory=list)

    def rates(self, runs: Sequence[Run]) -> list[float]:
        """Thousand events a second."""
        return [self.events / run.seconds / 1e3 for run in runs]

    def costs(self, runs: Sequence[Run]) -> list[float]:
        """CPU seconds a million events."""
        return [run.cpu / self.events * 1e6 for run in runs]

    @property
    def speed(self) -> list[float]:
        """Ours to Flink's, round by round."""
        return [a / b for a, b in zip(self.rates(self.ours), self.rates(self.flink), strict=False)]

    @property
    def cost(self) -> list[float]:
        return [a / b for a, b in zip(self.costs(self.ours), self.costs(self.flink), strict=False)]


def print_results(console: Console, outcomes: Sequence[Outcome], title: str) -> None:
    """A line for each query: medians, and the range of the rounds."""
    table = Table(title=title, caption="Medians and, in brackets, the least and the most of the rounds.")
    table.add_column("query")
    table.add_column("million\nevents", justify="right")
    for name in ("thousand events/s", "CPU seconds a million events"):
        table.add_column(f"{name}\nours", justify="right")
        table.add_column("\nFlink", justify="right")
        table.add_column("\nours : Flink", justify="right")
    for outcome in outcomes:
        table.add_row(
            outcome.query,
            f"{outcome.events / 1e6:.2f}",
            _spread(outcome.rates(outcome.ours), ".0f"),
            _spread(outcome.rates(outcome.flink), ".0f"),
            _spread(outcome.speed, ".2f"),
            _spread(outcome.costs(outcome.ours), ".2f"),
            _spread(outcome.costs(outcome.flink), ".2f"),
            _spread(outcome.cost, ".2f"),
        )
    console.print(table)


def _spread(values: Sequence[float], digits: str) -> str:
    if not values:
        return "-"
    middle = f"{statistics.median(values):{digits}}"
    return middle if len(values) == 1 else f"{middle} ({min(values):{digits}}..{max(values):{digits}})"


def print_profile(console: Console, outcome: Outcome) -> None:
    """Where our time went, in the run whose time is the median: by Spark's own progress reports."""
    run = sorted(outcome.ours, key=lambda run: run.seconds)[len(outcome.ours) // 2]
    progress = run.report["progress"]
    spent = {
        name: sum(report["durationMs"].get(name, 0) for report in progress) / 1e3
        for name in (*_PHASES, "triggerExecution")
    }
    console.print(
        f"\n{outcome.query}, where our {run.seconds:.1f} s went: {len(progress)} batches, "
        f"{sum(report['numInputRows'] for report in progress):,} rows from the sources"
    )
    phases = ", ".join(f"{name} {spent[name]:.2f}" for name in _PHASES)
    rest = spent["triggerExecution"] - sum(spent[name] for name in _PHASES)
    console.print(f"  seconds: {phases}, rest of the batches {rest:.2f}", highlight=False)
    console.print(f"  outside of batches {run.seconds - spent['triggerExecution']:.2f}", highlight=False)
    operators = [operator for report in progress for operator in report["stateOperators"]]
    if operators:
        updates, commits = (
            sum(operator.get(name, 0) for operator in operators) / 1e3
            for name in ("allUpdatesTimeMs", "commitTimeMs")
        )
        console.print(
            f"  task seconds of state operators: updates {updates:.2f}, commits {commits:.2f}",
            highlight=False,
        )
    console.print(
        f"  CPU seconds: Java {run.java_cpu:.1f}, Python {run.cpu - run.java_cpu:.1f}; "
        f"of {_CORES * run.seconds:.1f} there were",
        highlight=False,
    )


def machine() -> str:
    """Cores, processor and memory."""
    report = hardware()
    return f"{report['cores']} cores, {report['processor']}, {report['memory_gib']:.0f} GiB"


def run_benchmark(
    options: argparse.Namespace, queries: Sequence[str], scratch: Path, console: Console
) -> None:
    """All rounds of all queries, then the table and the profile of the two worst."""
    sides = _sides(options, scratch)
    command = shlex.join(["python", "benchmarks/nexmark_vs_flink.py", *sys.argv[1:]])
    console.print(f"{command}\n{machine()}; load before: {os.getloadavg()[0]:.1f}", highlight=False)
    sets: dict[bool, tuple[EventSet, EventSet]] = {}
    outcomes = []
    for name in queries:
        query = find_query("modern", name, "ours" if name in _OURS_ALONE else "flink")
        with_bids = "bid" in query.streams
        if with_bids not in sets:
            sets[with_bids] = _make_sets(scratch, options, with_bids)
        measured, warm_up = sets[with_bids]
        outcome = Outcome(name, measured.events(query.streams))
        settings = {"query": name, "cores": _CORES, "warm_ups": _WARM_UPS}
        for_us = {
            "rules": query.rules,
            "folder": str(measured.folder),
            "warm_up": str(warm_up.folder),
            "limit": measured.slices_of(_BATCH_EVENTS, query.streams),
        }
        for_flink = {
            "task": "measure",
            "folder": str(measured.lanes),
            "warm_up": str(warm_up.lanes),
            "format": options.format,
        }
        for number in range(options.rounds):
            outcome.ours.append(run := measure(sides["ours"], settings | for_us, scratch))
            _note(name, number, "ours", run)
            if name not in _OURS_ALONE:
                outcome.flink.append(run := measure(sides["flink"], settings | for_flink, scratch))
                _note(name, number, "flink", run)
        outcomes.append(outcome)
        if options.out is not None:
            # After every query: what a run that is ended has measured so far is kept.
            facts = {
                "command": command,
                "machine": machine(),
                "events": options.events,
                "format": options.format,
            }
            options.out.write_text(
                json.dumps(facts | {"outcomes": [asdict(one) for one in outcomes]}, indent=1)
            )
    report = {
        key: value
        for outcome in outcomes
        for run in outcome.ours + outcome.flink
        for key, value in run.report.items()
    }
    title = (
        f"NEXMark, {options.format}, {options.rounds} rounds. Spark {report.get('spark')}, "
        f"Flink {report.get('flink')}, Java {report.get('java')}, Python {platform.python_version()}"
    )
    print_results(console, outcomes, title)
    compared = [outcome for outcome in outcomes if outcome.flink]
    for outcome in sorted(compared, key=lambda outcome: statistics.median(outcome.speed))[: options.profile]:
        print_profile(console, outcome)


def _note(query: str, number: int, side: str, run: Run) -> None:
    load = os.getloadavg()[0]
    print(
        f"{query} round {number + 1} {side}: {run.seconds:.1f} s, {run.cpu:.1f} CPU s, load {load:.1f}",
        file=sys.stderr,
    )


def _make_sets(scratch: Path, options: argparse.Namespace, with_bids: bool) -> tuple[EventSet, EventSet]:
    streams = ("person", "auction", "bid") if with_bids else ("person", "auction")
    print(f"Making {options.events:,} events: {', '.join(streams)}", file=sys.stderr)
    name = "-".join(streams)
    warm_up = max(options.events // _WARM_UP_SHARE, 1000)
    return (
        write_events(scratch / name, options.events, streams, options.format, _CORES),
        write_events(scratch / f"{name}-warm-up", warm_up, streams, options.format, _CORES),
    )


def _sides(options: argparse.Namespace, scratch: Path) -> dict[str, Side]:
    ensure_java()
    variables = flink_variables(options.format, options.flink_jar, options.flink_memory, scratch)
    return {
        "ours": Side([sys.executable, "-m", "nexmark_flink.spark_side"], dict(os.environ)),
        "flink": Side([str(flink_python()), "-m", "nexmark_flink.flink_side"], variables),
    }


def run_check(options: argparse.Namespace, queries: Sequence[str], scratch: Path, console: Console) -> bool:
    """Whether Flink's answers are ours, query by query."""
    flink = _sides(options, scratch)["flink"]
    # Many windows, out of order but not late. One reader: which of two equal bids arrived first (q18, q19) is
    # the same for both.
    streams = ("person", "auction", "bid")
    events = write_events(
        scratch / "events", options.events, streams, options.format, lanes=1, rate=1000, disorder=3
    )
    (scratch / "answers").mkdir()
    settings = {
        "task": "answer",
        "queries": queries,
        "folder": str(events.lanes),
        "format": options.format,
        "cores": 1,
        "out": str(scratch / "answers"),
    }
    errors = scratch / "errors.txt"
    process = flink.start(settings, errors)
    try:
        for _ in queries:
            print(f"{_next(process, errors)['query']} answered by Flink", file=sys.stderr)
        process.wait(60)
    finally:
        _end(process)
    equal = True
    with spark_session("nexmark vs flink", master=f"local[{_CORES}]") as spark:
        for name in queries:
            found = compare(spark, events.folder, name, scratch / "answers" / f"{name}.jsonl")
            equal = equal and found.equal
            missing, extra = found.missing.total(), found.extra.total()
            verdict = "equal" if found.equal else f"{missing:,} ours alone, {extra:,} Flink's alone"
            console.print(f"{name}: {found.rows:,} rows, {verdict}", highlight=False)
            for line in found.report(_SHOWN):
                console.print(f"    {line}", highlight=False)
    return equal


def main() -> int:
    """Measure, or check."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument(
        "--events",
        type=int,
        help=f"that a query finds in its streams, about ({_EVENTS:,}; {_CHECK_EVENTS:,} with --check)",
    )
    arguments.add_argument("--queries", help="as in q0,q5 (all that there are)")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--format", choices=_FORMATS, default="json", help="of the files (json)")
    arguments.add_argument("--check", action="store_true", help="compare the answers, measure nothing")
    arguments.add_argument(
        "--profile", type=int, default=2, help="tell where our time goes in the N worst (2)"
    )
    arguments.add_argument("--flink-jar", type=Path, action="append", default=[], help="for --format parquet")
    arguments.add_argument("--flink-memory", default="8g", help="heap of Flink's Java (8g; Spark's has 4g)")
    arguments.add_argument("--out", type=Path, help="write all figures to this file, in JSON")
    options = arguments.parse_args()
    if options.events is None:
        options.events = _CHECK_EVENTS if options.check else _EVENTS
    console = Console(width=None if sys.stdout.isatty() else 160)
    try:
        known = _CHECKED if options.check else _QUERIES
        names = options.queries.split(",") if options.queries else known
        queries = [find_query("modern", name).name for name in names]
        if unknown := [name for name in queries if name not in known]:
            raise UserError(f"--queries: {', '.join(unknown)} is not among {', '.join(known)}")
        # What is asked to end takes its processes and files along.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        # On a machine with more cores, Java and Python on either side are to see two.
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:_CORES])
        with tempfile.TemporaryDirectory(prefix="causeway-vs-flink-") as scratch:
            if options.check:
                return 0 if run_check(options, queries, Path(scratch), console) else 1
            run_benchmark(options, queries, Path(scratch), console)
    except CausewayError as mistake:
        print(mistake, file=sys.stderr)
        return mistake.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
