"""Whether all sides answer right, with the events, the cores and the settings that are measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from causeway import nexmark
from causeway.spark.session import spark_session
from nexmark_flink.check import compare
from nexmark_flink.records import Records
from nexmark_flink.sides import CORES, Side, SideProcess
from nexmark_flink.throughput import Workload, plain_name, rules_of

__all__ = ["check_queries"]


def check_queries(
    queries: Sequence[str],
    sides: Sequence[Side],
    workload: Workload,
    scratch: Path,
    records: Records,
    console: Console,
) -> bool:
    """Whether every side's answers are those of the batch statement of the rules that it follows."""
    right = True
    for side in sides:
        check = _flink_checks if side.system == "flink" else _spark_checks
        for query, found in check(queries, side, workload, scratch):
            records.add_check(side, query, found)
            right = right and found["passed"]
            verdict = (
                "equal" if found["passed"] else f"{found['missing']:,} missing, {found['extra']:,} extra"
            )
            console.print(f"{side.name} {query}: {found['rows']:,} rows, {verdict}")
            for line in found["differences"]:
                console.print(f"    {line}", markup=False)
    return right


def _spark_checks(
    queries: Sequence[str], side: Side, workload: Workload, scratch: Path
) -> Iterator[tuple[str, dict[str, Any]]]:
    master = f"local[{CORES}]"
    with spark_session("nexmark vs flink", master=master, settings=side.settings()["conf"]) as spark:
        for query in queries:
            result = nexmark.run(
                scratch / f"{side.name.replace(':', '-')}-{query}",
                source=workload.of(query)[0].folder,
                queries=query,
                rules=rules_of(side, query),
                engine=side.system,
                check=True,
                spark=spark,
            )
            yield query, dict(result[query].facts["check"])


def _flink_checks(
    queries: Sequence[str], side: Side, workload: Workload, scratch: Path
) -> Iterator[tuple[str, dict[str, Any]]]:
    for query in queries:
        events = workload.of(query)[0]
        settings = side.settings() | {
            "task": "answer",
            "queries": [query],
            "folder": str(events.lanes),
            "format": workload.file_format,
            "out": str(scratch),
        }
        command, variables = side.command(workload.file_format, workload.jars, scratch)
        with SideProcess.started(command, variables, settings, scratch / "flink-errors.txt") as process:
            process.next_report()
        printed = scratch / f"{query}.txt"
        with spark_session("nexmark vs flink", master=f"local[{CORES}]") as spark:
            name = plain_name(query)
            found = compare(spark, events.folder, name, rules_of(side, query), printed)
        printed.unlink()
        yield query, found
