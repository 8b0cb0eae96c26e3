"""A whole run: the requested queries, one after the other, in one folder.

RUN/result.json      settings, machine, versions, every query's figures, state
RUN/log.txt          Spark's log
RUN/q5/              see `query_run`
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from causeway import __version__
from causeway.nexmark.events.slices import Slices
from causeway.nexmark.generator.scale import scaled_firehose
from causeway.nexmark.queries import Query, batch_file, find_query, own_query, query_names
from causeway.nexmark.runner.query_run import Steady, run_query
from causeway.nexmark.runner.rounds import run_rounds
from causeway.runtime.errors import UserError
from causeway.runtime.machine import hardware, versions
from causeway.streaming.run_folder import RunFolder, refuse_other_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["NexmarkRunFolder", "RunSettings", "begin_run", "new_settings", "run_all"]


class NexmarkRunFolder(RunFolder):
    """The folder of a NEXMark run."""

    facts_name = "result.json"
    layout = 2
    command = "causeway nexmark run"


@dataclass(frozen=True)
class RunSettings:
    """How a run was requested; a resumed run keeps it."""

    source: str | None = None
    """A folder of events; `None` for the firehose."""
    model: str = "modern"
    queries: str = "all"
    """Names with commas between them, or all."""
    query_file: str | None = None
    """A query of the user's own, in place of `queries`."""
    rules: str = "ours"
    engine: str = "columnar"
    """`columnar`, or `spark`: Structured Streaming alone."""
    check: bool = False
    rate: float = 10_000
    """Events a second of the firehose."""
    duration: float = 60
    """Seconds for which the firehose runs, for each query."""
    warm_up: float = 15
    """Seconds at the beginning whose latencies do not count."""
    rounds: int = 1
    """How often each query is run."""
    bid_streams: int | None = None
    disorder: float = 0.0
    seed: int = 1

    @property
    def requested_queries(self) -> list[Query]:
        """The queries, in the order in which they are run."""
        if self.query_file is not None:
            return [own_query(self.model, Path(self.query_file))]
        names = query_names(self.model) if self.queries == "all" else self.queries.split(",")
        return [find_query(self.model, name, self.rules, self.engine) for name in dict.fromkeys(names)]

    def steady(self) -> Steady:
        """The firehose at the requested rate."""
        firehose = scaled_firehose(
            cast(Literal["paper", "modern"], self.model),
            "small",
            events=max(1, round(self.rate * self.duration)),
            rate=self.rate if self.model == "modern" else None,
            bid_streams=self.bid_streams,
            disorder=self.disorder,
            seed=self.seed,
        )
        return Steady(firehose, self.rate, self.warm_up)


def new_settings(requested: Mapping[str, Any]) -> RunSettings:
    """The settings of a new run; those that are `None` have their defaults. Refuses what cannot be run."""
    chosen = {name: value for name, value in requested.items() if value is not None}
    chosen.setdefault("model", _model_of(chosen.get("source")))
    if "query_file" in chosen:
        _choose_for_own_query(chosen)
    settings = RunSettings(**chosen)
    _ = settings.requested_queries
    if settings.source is None:
        if settings.duration <= settings.warm_up:
            raise UserError(
                f"a warm-up of {settings.warm_up:g} s leaves nothing of {settings.duration:g} s to measure"
            )
        settings.steady()
    else:
        Slices.of(Path(settings.source), settings.model)
    return settings


def _choose_for_own_query(chosen: dict[str, Any]) -> None:
    """A query of one's own is plain Spark, and is checked if there is a batch statement."""
    if "queries" in chosen:
        raise UserError("a run has a query of its own or queries of the benchmark, not both")
    if chosen.setdefault("engine", "spark") != "spark":
        raise UserError("a query of one's own runs on the Spark engine: operators are part of the program")
    if chosen.get("rules", "ours") != "ours":
        raise UserError("a query of one's own has its own rules: leave out the rule set")
    batch = batch_file(Path(chosen["query_file"]))
    if chosen.setdefault("check", batch.exists()) and not batch.exists():
        raise UserError(f"there is nothing to check the answers by: write the batch statement in {batch}")


def begin_run(folder: RunFolder, requested: Mapping[str, Any], *, resume: bool) -> RunSettings:
    """Make the run's folder, or read that of a run to resume; returns the settings that hold.

    A setting that is `None` was not requested. A resumed run refuses settings that disagree with its own.
    Needs no Spark, so that mistakes are reported at once.
    """
    if not resume:
        settings = new_settings(requested)
        folder.begin({"version": __version__, "settings": asdict(settings), "queries": []})
        return settings
    facts = folder.resumable_facts()
    try:
        kept = facts["settings"]
        known = {field.name for field in fields(RunSettings)}
        settings = RunSettings(**{name: value for name, value in kept.items() if name in known})
    except (KeyError, TypeError, AttributeError) as missing:
        raise UserError(f"{folder.facts_file} is not what a run leaves: {missing!r}") from None
    refuse_other_settings(requested, kept, folder.path)
    return settings


def run_all(
    spark: SparkSession, folder: RunFolder, settings: RunSettings, *, log: Path | None = None
) -> dict[str, Any]:
    """Run all requested queries in the folder of `begin_run`; finished ones are not run again.

    `log` is the file that errors name.
    """
    result: dict[str, Any] = {
        "version": __version__,
        "model": settings.model,
        "rules": settings.rules,
        "engine": settings.engine,
        "settings": asdict(settings),
        "source": _source_facts(settings),
        "master": spark.sparkContext.master,
        "machine": hardware(),
        "versions": versions(spark),
        "queries": [],
    }
    source = Path(settings.source) if settings.source is not None else settings.steady()
    with folder.recorded(result):
        for query in settings.requested_queries:
            facts = run_rounds(
                settings.rounds,
                folder.path / query.name,
                lambda out, first, query=query: run_query(  # type: ignore[misc]
                    spark, query, source, out, check=settings.check and first, log=log
                ),
            )
            result["queries"].append(facts)
            folder.save(result)
    return result


def _model_of(source: str | None) -> str:
    if source is not None:
        path = Path(source) / "nexmark.json"
        if path.exists():
            try:
                return str(json.loads(path.read_text())["model"])
            except (ValueError, KeyError, TypeError):
                raise UserError(f"{path} is not what `causeway nexmark generate` writes") from None
    return "modern"


def _source_facts(settings: RunSettings) -> dict[str, Any]:
    if settings.source is None:
        return {"kind": "generator", "rate": settings.rate, "duration": settings.duration}
    return {"kind": "folder", "folder": settings.source}
