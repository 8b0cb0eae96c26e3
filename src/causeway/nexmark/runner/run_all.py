"""A whole run: the queries that were asked for, one after the other, in one folder."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from causeway import __version__
from causeway.nexmark.events.slices import Slices
from causeway.nexmark.generator.scale import scaled_firehose
from causeway.nexmark.queries import Query, find_query, query_names
from causeway.nexmark.runner.query_run import Steady, run_query
from causeway.runtime.errors import UserError
from causeway.runtime.machine import hardware, versions
from causeway.runtime.output_folder import refuse_used_folder, write_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["RESULT", "RunSettings", "begin_run", "run_all"]

RESULT: Final = "result.json"


@dataclass(frozen=True)
class RunSettings:
    """What the user asked for."""

    source: str | None
    """A folder of events; `None` for the firehose."""
    model: str | None = None
    queries: str = "all"
    rules: str = "ours"
    check: bool = False
    rate: float = 10_000
    """Events a second, of the firehose; and below how long it runs."""
    duration: float = 60
    warm_up: float = 15
    bid_streams: int | None = None
    disorder: float = 0.0
    seed: int = 1

    @property
    def asked(self) -> list[Query]:
        """The queries, in the order in which they are run."""
        assert self.model is not None
        names = query_names(self.model) if self.queries == "all" else self.queries.split(",")
        return [find_query(self.model, name, self.rules) for name in dict.fromkeys(names)]

    def steady(self) -> Steady:
        """The firehose at the rate that was asked for."""
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


def begin_run(out: Path, settings: RunSettings, *, resume: bool) -> RunSettings:
    """Make the run's folder, or take up one that was broken off; refuses what cannot be run."""
    if resume:
        try:
            kept = json.loads((out / RESULT).read_text())
            return RunSettings(**kept["settings"])
        except FileNotFoundError:
            raise UserError(f"{out} has no run to resume: there is no {RESULT}") from None
        except (ValueError, KeyError, TypeError) as unreadable:
            raise UserError(f"{out / RESULT} is not what a run leaves: {unreadable!r}") from None
    settings = replace(settings, model=settings.model or _model_of(settings.source))
    _ = settings.asked
    if settings.source is None:
        settings.steady()
    else:
        Slices.of(Path(settings.source), str(settings.model))
    refuse_used_folder(out)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as refused:
        raise UserError(f"{out} cannot be made: {refused.strerror}") from refused
    write_json(out / RESULT, {"version": __version__, "state": "new", "settings": asdict(settings)})
    return settings


def run_all(spark: SparkSession, out: Path, settings: RunSettings) -> dict[str, Any]:
    """Run every query that was asked for, in the folder of `begin_run`; what is done is not done again."""
    result: dict[str, Any] = {
        "version": __version__,
        "state": "running",
        "model": settings.model,
        "rules": settings.rules,
        "settings": asdict(settings),
        "source": _source_facts(settings),
        "master": spark.sparkContext.master,
        "machine": hardware(),
        "versions": versions(spark),
        "queries": [],
    }
    source = Path(settings.source) if settings.source is not None else settings.steady()
    for query in settings.asked:
        result["queries"].append(run_query(spark, query, source, out / query.name, check=settings.check))
        write_json(out / RESULT, result)
    result["state"] = "finished"
    write_json(out / RESULT, result)
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
