"""A query under a rule set, and the stream of its answers on Spark.

A streaming text may have a comment `-- update by: …`: the columns that an answer is an update by. An
operator's module has KERNEL, a subclass of `Kernel`; RULES, its arguments by rule set; KEYS, what `update by`
is in a text; FINAL, SQL over the view `answer` by rule set.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from causeway.nexmark.model import ARRIVAL, MODELS
from causeway.nexmark.operators.source import CellSource, RowSource
from causeway.nexmark.operators.stateful import stateful_stream
from causeway.nexmark.queries.files import query_number, query_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Input", "Query", "find_query", "register_static_views"]

_UPDATE_BY: Final = re.compile(r"^-- update by: *(.+)$", re.MULTILINE)
_STATEFUL: Final = re.compile(r"\bwindow\(|\bsession_window\(", re.IGNORECASE)
_TABLES: Final = re.compile(r"\b(?:FROM|JOIN)\s+(?:arriving_)?(\w+)")
_SIDE_INPUT_KEYS: Final = 10_000


@dataclass(frozen=True)
class Input:
    """Where a query's events come from, and how they are cut into batches."""

    folder: Path
    most: int
    """Slices of a batch at most."""
    tasks: int
    delay: int
    """Milliseconds by which events may be late."""
    rejects: Path

    def options(self, model: str) -> dict[str, str]:
        """For the sources."""
        return {
            "folder": str(self.folder.resolve()),
            "model": model,
            "most": str(self.most),
            "tasks": str(self.tasks),
            "rejects": str(self.rejects.resolve()),
        }


@dataclass(frozen=True)
class Query:
    """A query under a rule set."""

    model: str
    name: str
    rules: str
    keys: tuple[str, ...]
    """The columns that an answer replaces earlier ones by; none where every row is an answer of its own."""
    text: str | None
    """SQL, or else a kernel."""
    kernel: str | None = None
    arguments: str = "{}"
    """Of the kernel, in JSON."""
    final: str | None = None

    @property
    def output_mode(self) -> str:
        """Spark's."""
        return "update" if self.keys and self.text is not None else "append"

    @property
    def ends_by_watermark(self) -> bool:
        """Whether answers wait for Spark's watermark to come to the end of time."""
        return self._is_watched and self.output_mode == "append"

    @property
    def streams(self) -> list[str]:
        """Those that it reads."""
        if self.kernel is not None:
            from causeway.nexmark.operators.source import kernel_named

            return list(kernel_named(self.kernel, json.loads(self.arguments)).reads)
        return list(self._columns())

    def stream(self, spark: SparkSession, given: Input) -> DataFrame:
        """The answers as a stream. Views named as the streams are made in the session."""
        spark.dataSource.register(RowSource)
        spark.dataSource.register(CellSource)
        register_static_views(spark, self.model, given.folder)
        if self.text is not None:
            self._make_views(spark, given)
            return spark.sql(self.text)
        assert self.kernel is not None
        answers = stateful_stream(
            spark,
            self.kernel,
            json.loads(self.arguments),
            given.options(self.model),
            spark.sparkContext.defaultParallelism,
            given.delay,
            given.rejects,
        )
        if self.final is None:
            return answers
        answers.createOrReplaceTempView("answer")
        return spark.sql(self.final)

    @property
    def _is_watched(self) -> bool:
        """Whether Spark's watermark plays a part."""
        return self.text is not None and _STATEFUL.search(self.text) is not None

    def _columns(self) -> dict[str, list[str]]:
        """The streams and columns that the text names."""
        assert self.text is not None
        text = re.sub(r"--.*", "", self.text)
        words, tables = set(re.findall(r"\w+", text)), set(_TABLES.findall(text))
        found = {}
        for stream, schema in MODELS[self.model].streams.items():
            if stream in tables:
                time = MODELS[self.model].time[stream] if self._is_watched else None
                names = [*schema.names, ARRIVAL]
                found[stream] = [name for name in names if name in words or name == time]
        return found

    def _make_views(self, spark: SparkSession, given: Input) -> None:
        assert self.text is not None
        watched = self._is_watched
        for stream, columns in self._columns().items():
            options = given.options(self.model) | {"stream": stream, "columns": json.dumps(columns)}
            time = MODELS[self.model].time[stream]
            if watched and f"arriving_{stream}" not in self.text:
                # What ends the stream moves the watermark, and must not be dropped before it has: a condition
                # on the time itself is one that Spark does not move ahead of the watermark.
                rows = spark.readStream.format(RowSource.name()).options(**options, end="yes").load()
                rows = rows.withWatermark(time, f"{given.delay} milliseconds")
                rows = rows.where(f"`{time}` < TIMESTAMP '9990-01-01'")
            else:
                rows = spark.readStream.format(RowSource.name()).options(**options).load()
            rows.createOrReplaceTempView(stream)
            arriving = rows.selectExpr("*", "current_timestamp() AS arrived")
            arriving.withWatermark("arrived", "1 minute").createOrReplaceTempView(f"arriving_{stream}")


def register_static_views(spark: SparkSession, model: str, folder: Path) -> None:
    """The tables that are no streams: the paper's category file, the side input of q13."""
    if model == "paper":
        file = folder / "category.parquet"
        if not file.exists():
            spark.createDataFrame([], "id LONG, name STRING, parent LONG").createOrReplaceTempView("category")
            return
        spark.read.parquet(str(file.resolve())).createOrReplaceTempView("category")
    else:
        spark.range(_SIDE_INPUT_KEYS).selectExpr(
            "id AS key", "concat('value-', id) AS value"
        ).createOrReplaceTempView("side_input")


def find_query(model: str, name: str, rules: str = "ours") -> Query:
    """The query of that name: `q5`, `Q5` and `q05` are one."""
    number = query_number(model, name)
    text = query_text(model, number, "stream", rules)
    if text is not None:
        match = _UPDATE_BY.search(text)
        keys = tuple(key.strip() for key in match[1].split(",")) if match else ()
        return Query(model, f"q{number}", rules, keys, text)
    module = import_module(f"{__package__}.{model}.q{number:02d}.operator")
    by_rules: Mapping[str, Mapping[str, Any]] = getattr(module, "RULES", {})
    arguments = by_rules.get(rules, by_rules.get("ours", {}))
    final: Mapping[str, str] = getattr(module, "FINAL", {})
    return Query(
        model,
        f"q{number}",
        rules,
        getattr(module, "KEYS", ()),
        None,
        f"{module.KERNEL.__module__}:{module.KERNEL.__name__}",
        json.dumps(arguments),
        final.get(rules, final.get("ours")),
    )
