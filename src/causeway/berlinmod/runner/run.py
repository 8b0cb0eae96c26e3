"""`causeway berlinmod run`: queries on Spark, one after the other, measured and checked."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import pyarrow as pa
import pyarrow.parquet as pq

from causeway import __version__
from causeway.berlinmod.dataset import Dataset
from causeway.berlinmod.judge.compare import Checked, compare
from causeway.berlinmod.judge.instants import check_at_instants
from causeway.berlinmod.queries import SETTINGS, answer, chosen_queries, paper_answer, registered_relations
from causeway.berlinmod.queries.files import is_range_query
from causeway.berlinmod.runner.published import best_published, table_12
from causeway.berlinmod.scans.source import REPRESENTATIONS, Aggregate, Representation, Source
from causeway.runtime.cpu_time import CpuMeter
from causeway.runtime.errors import UserError
from causeway.runtime.machine import hardware, versions
from causeway.runtime.progress import progress_bar
from causeway.spark.internals import input_of_jobs
from causeway.spark.settings import applied
from causeway.streaming.run_folder import RunFolder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["BerlinmodRunFolder", "RunSettings", "new_settings", "run_queries"]

_AGGREGATES: Final = ("sum", "min", "max")


class BerlinmodRunFolder(RunFolder):
    """A run's folder: `result.json`, `report.html`, `log.txt`, and `q4.oba.parquet` with each answer."""

    facts_name = "result.json"
    command = "causeway berlinmod run"


@dataclass(frozen=True)
class RunSettings:
    """What is asked, and how often."""

    dataset: str
    queries: str = "all"
    representation: str = "both"
    check: bool = False
    runs: int = 3
    aggregate: str = "sum"

    @property
    def representations(self) -> list[Representation]:
        """The representations, in the order in which they are run."""
        names = list(REPRESENTATIONS) if self.representation == "both" else [self.representation]
        return cast(list[Representation], names)


def new_settings(requested: Mapping[str, Any]) -> RunSettings:
    """The settings of a run. Refuses what cannot be run."""
    settings = RunSettings(**{name: value for name, value in requested.items() if value is not None})
    chosen_queries(settings.queries)
    if settings.representation not in (*REPRESENTATIONS, "both"):
        known = f"{', '.join(REPRESENTATIONS)} and both"
        raise UserError(f"there is no representation {settings.representation!r}: there are {known}")
    if settings.aggregate not in _AGGREGATES:
        raise UserError(f"there is no aggregate {settings.aggregate!r}: there are sum, min and max")
    if settings.runs < 1:
        raise UserError(f"a query is run at least once, not {settings.runs} times")
    return settings


def run_queries(
    spark: SparkSession, folder: BerlinmodRunFolder, settings: RunSettings, dataset: Dataset
) -> dict[str, Any]:
    """Run the queries in a folder that was begun, and give back what `result.json` has."""
    result: dict[str, Any] = {
        "version": __version__,
        "settings": asdict(settings),
        "dataset": _dataset_facts(dataset),
        "master": spark.sparkContext.master,
        "machine": hardware(),
        "versions": versions(spark),
        "queries": [],
    }
    names = chosen_queries(settings.queries)
    with (
        folder.recorded(result),
        applied(spark, SETTINGS),
        progress_bar("queries", len(names), "queries") as bar,
    ):
        sources = {one: _source(spark, dataset, one, settings) for one in settings.representations}
        # They are the same for both representations.
        with registered_relations(sources[settings.representations[0]]):
            for done, query in enumerate(names):
                bar.update(done, query)
                result["queries"] += _run_query(folder.path, query, sources, settings)
                folder.save(result, durable=False)
    return result


def _dataset_facts(dataset: Dataset) -> dict[str, Any]:
    parameters = dataset.parameters
    return {
        "folder": str(dataset.folder),
        "scale": parameters.scale,
        "mode": parameters.mode,
        "disturbed": parameters.disturb,
        "seed": parameters.seed,
        "map": dataset.map["name"],
        **dataset.counts,
    }


def _source(
    spark: SparkSession, dataset: Dataset, representation: Representation, settings: RunSettings
) -> Source:
    context = spark.sparkContext
    counters = (context.accumulator(0), context.accumulator(0))
    aggregate = cast(Aggregate, settings.aggregate)
    return Source(spark, dataset, representation, counters, aggregate)


def _run_query(
    folder: Path, query: str, sources: Mapping[Representation, Source], settings: RunSettings
) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    tables: list[pa.Table] = []
    for representation, source in sources.items():
        facts, table = _measured(source, query, settings.runs)
        file = f"{query}.{representation}.parquet"
        pq.write_table(table, folder / file)
        facts |= {"file": file}
        if (places := answer(source, query, "places")) is not None:
            pq.write_table(places.toArrow(), folder / f"{query}.places.{representation}.parquet")
        if settings.check:
            facts["check"] = _words(_check(source, query, table))
        if tables:
            facts["agreement"] = _words(compare(query, table, tables[0]))
        tables.append(table)
        found.append(facts)
    return found


def _check(source: Source, query: str, table: pa.Table) -> Checked:
    if is_range_query(query):
        expected = paper_answer(source, query)
        assert expected is not None, f"{query} has no text of the paper's"
        return compare(query, table, expected.toArrow())
    return check_at_instants(source, query, table)


def _words(checked: Checked) -> dict[str, Any]:
    return asdict(checked) | {"passed": checked.passed}


def _measured(source: Source, query: str, runs: int) -> tuple[dict[str, Any], pa.Table]:
    """Figures and answer of a query that is run so many times."""
    context = source.spark.sparkContext
    meter = CpuMeter()
    seconds: list[float] = []
    cpu: list[float] = []
    read = (0, 0)
    table = None
    for number in range(runs):
        group = f"berlinmod {query} {source.representation} {number}"
        before = [int(counter.value) for counter in source.read]
        context.setJobGroup(group, group)
        busy, started = meter.read() or 0.0, time.perf_counter()
        found = answer(source, query)
        assert found is not None, f"{query} has no statement for {source.representation}"
        table = found.toArrow()
        seconds.append(time.perf_counter() - started)
        cpu.append((meter.read() or 0.0) - busy)
        by_spark = input_of_jobs(source.spark, group)
        read = cast(
            tuple[int, int],
            tuple(
                int(counter.value) - old + sql
                for counter, old, sql in zip(source.read, before, by_spark, strict=True)
            ),
        )
    assert table is not None
    parameters = source.dataset.parameters
    median = statistics.median_low(seconds)
    facts = {
        "query": query,
        "representation": source.representation,
        "answers": table.num_rows,
        "first_seconds": round(seconds[0], 3),
        "seconds": round(median, 3),
        "all_seconds": [round(one, 3) for one in seconds],
        "cpu_seconds": round(cpu[seconds.index(median)], 2),
        "rows_read": read[0],
        "bytes_read": read[1],
        "table_12": table_12(query, parameters.mode, parameters.scale, source.representation),
        "best_published": best_published(query, parameters.scale),
    }
    return facts, table
