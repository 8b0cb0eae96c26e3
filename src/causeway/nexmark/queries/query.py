"""A query under a rule set, and the stream of its answers on Spark.

`declarations` says what a streaming text tells of itself. An operator's module has KERNEL, a subclass of
`Kernel`; RULES, its arguments by rule set; KEYS, what `update by` is in a text; FINAL, SQL over the view
`answer` by rule set. A module of columns has `answers`, a function from an Arrow table of events to one of
answers; READS, its stream and columns; RULES, the rule sets that it holds for, if not all. A module of plain
Spark has `answers`, a function of the streams that its parameters name; READS, their columns if not all;
KEYS; OUTPUT_MODE and STATE_STORE, if not those of a text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from causeway.nexmark.events.file_feed import FileFeed
from causeway.nexmark.model import MODELS
from causeway.nexmark.operators.columns import ColumnSource
from causeway.nexmark.operators.kernels import Kernel
from causeway.nexmark.operators.source import CellSource, RowSource, kernel_named
from causeway.nexmark.operators.stateful import stateful_stream
from causeway.nexmark.queries.declarations import read_declarations
from causeway.nexmark.queries.files import RULE_SETS, check_rules, has_module, query_number, query_text
from causeway.nexmark.queries.plain.streams import plain_streams
from causeway.runtime.errors import UserError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["ENGINES", "FEED", "Input", "Query", "find_query", "register_static_views"]

ENGINES: Final = ("columnar", "spark")
"""Hand-written columnar operators on a source of our own; or Structured Streaming alone."""

FEED: Final = "input"
"""The folder that Spark's own file source reads, in that of a query."""

_SIDE_INPUT_KEYS: Final = 10_000


@dataclass(frozen=True)
class Input:
    """Where a query's events come from, and how they are cut into batches, tasks and shards."""

    folder: Path
    limit: int
    """Slices of a batch at most."""
    tasks: int
    """Tasks that read a batch."""
    shards: int
    """Shards of the state: a run keeps their number, whatever it is resumed on."""
    delay: int
    """Milliseconds by which events may be late."""
    rejects: Path
    notes: Path

    @property
    def feed_folder(self) -> Path:
        """Where Spark's own file source finds the slices of a folder of events."""
        return self.notes.with_name(FEED)

    def options(self, model: str) -> dict[str, str]:
        """For the sources."""
        return {
            "folder": str(self.folder.resolve()),
            "model": model,
            "limit": str(self.limit),
            "tasks": str(self.tasks),
            "delay": str(self.delay),
            "rejects": str(self.rejects.resolve()),
            "notes": str(self.notes.resolve()),
        }


@dataclass(frozen=True)
class Query:
    """A query under a rule set."""

    model: str
    name: str
    rules: str
    keys: tuple[str, ...]
    """The columns that an answer replaces earlier ones by; none where every row is an answer of its own."""
    reads: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The columns that it reads of each stream."""
    text: str | None = None
    """SQL, or else a kernel."""
    kernel: str | None = None
    arguments: str = "{}"
    """Of the kernel, in JSON."""
    final: str | None = None
    columns: str | None = None
    """The function that answers each slice in columns, as `module:name`."""
    engine: str = "columnar"
    answers: Callable[..., DataFrame] | None = None
    """In plain Spark: a function of the streams, in place of a text."""
    state_store: str = "memory"
    """Where plain Spark keeps its state: in `memory`, or in `rocksdb`."""
    watermarked: bool = False
    """Whether the streams of plain Spark have a watermark."""
    mode: str | None = None
    """Spark's output mode, where it does not follow from the keys."""
    file: Path | None = None
    """The user's own file; `None` for the benchmark's queries."""
    batch: str | None = None
    """The batch statement of a query of the user's own."""

    @property
    def output_mode(self) -> str:
        """Spark's."""
        return self.mode or ("update" if self.keys and self.kernel is None else "append")

    @property
    def streams(self) -> list[str]:
        """The streams that it reads."""
        return list(self.reads)

    @property
    def has_one_shard(self) -> bool:
        """Whether all of its state is in one shard."""
        return self.kernel is not None and self.make_kernel().dealt_by is None

    def make_kernel(self) -> Kernel:
        """The kernel of a query that has one."""
        assert self.kernel is not None
        return kernel_named(self.kernel, json.loads(self.arguments))

    def stream(self, spark: SparkSession, inputs: Input) -> DataFrame:
        """The answers as a stream. Views named as the streams are made in the session for SQL."""
        if self.columns is not None:
            spark.dataSource.register(ColumnSource)
            ((stream, columns),) = self.reads.items()
            options = inputs.options(self.model) | {"stream": stream, "columns": ",".join(columns)}
            return (
                spark.readStream.format(ColumnSource.name()).options(**options, answers=self.columns).load()
            )
        if self.kernel is not None:
            answers = self._kernel_stream(spark, inputs)
            if self.final is None:
                return answers
            register_static_views(spark, self.model, inputs.folder)
            answers.createOrReplaceTempView("answer")
            return spark.sql(self.final)
        register_static_views(spark, self.model, inputs.folder)
        if self.engine == "spark":
            return self._plain_stream(spark, inputs)
        assert self.text is not None
        spark.dataSource.register(RowSource)
        self._make_views(spark, inputs)
        return spark.sql(self.text)

    def _kernel_stream(self, spark: SparkSession, inputs: Input) -> DataFrame:
        assert self.kernel is not None
        spark.dataSource.register(CellSource)
        return stateful_stream(
            spark,
            self.kernel,
            json.loads(self.arguments),
            inputs.options(self.model),
            inputs.shards,
            inputs.delay,
            inputs.rejects,
            # SQL over the answers is about rows.
            as_cells=self.final is None,
        )

    def feed(self, source: Path, folder: Path) -> FileFeed:
        """The files that Spark's own file source reads, made in `folder` if they are not there."""
        return FileFeed.of(source, self.model, self.streams, folder)

    def _plain_stream(self, spark: SparkSession, inputs: Input) -> DataFrame:
        streams = plain_streams(
            spark,
            self.model,
            self.reads,
            self.feed(inputs.folder, inputs.feed_folder),
            limit=inputs.limit,
            delay=inputs.delay if self.watermarked else None,
        )
        if self.answers is not None:
            return self.answers(**streams)
        assert self.text is not None
        for stream, rows in streams.items():
            _register_stream(rows, stream)
        return spark.sql(self.text)

    def _make_views(self, spark: SparkSession, inputs: Input) -> None:
        for stream, columns in self.reads.items():
            options = inputs.options(self.model) | {"stream": stream, "columns": json.dumps(columns)}
            rows = spark.readStream.format(RowSource.name()).options(**options).load()
            _register_stream(rows, stream)


def _register_stream(rows: DataFrame, stream: str) -> None:
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


def find_query(model: str, name: str, rules: str = "ours", engine: str = "columnar") -> Query:
    """The query of that name: `q5`, `Q5` and `q05` are one."""
    number = query_number(model, name)
    check_rules(rules)
    if engine == "spark":
        return _find_plain_query(model, number, rules)
    if engine not in ENGINES:
        raise UserError(f"there is no engine {engine!r}: {', '.join(ENGINES)}")
    if has_module(model, number, "columns"):
        module = import_module(f"{__package__}.{model}.q{number:02d}.columns")
        if rules in getattr(module, "RULES", RULE_SETS):
            columns = f"{module.__name__}:{module.answers.__name__}"
            return Query(model, f"q{number}", rules, (), reads=module.READS, columns=columns)
    text = query_text(model, number, "stream", rules)
    if text is not None and not has_module(model, number, "operator"):
        try:
            declared = read_declarations(model, text)
        except ValueError as wrong:
            raise ValueError(f"the streaming text of {model} q{number}, rules {rules}: {wrong}") from wrong
        return Query(
            model,
            f"q{number}",
            rules,
            declared.keys,
            reads=declared.reads,
            text=text,
        )
    module = import_module(f"{__package__}.{model}.q{number:02d}.operator")
    by_rules: Mapping[str, Mapping[str, Any]] = getattr(module, "RULES", {})
    arguments = by_rules.get(rules, by_rules.get("ours", {}))
    final: Mapping[str, str] = getattr(module, "FINAL", {})
    return Query(
        model,
        f"q{number}",
        rules,
        getattr(module, "KEYS", ()),
        reads={stream: tuple(names) for stream, names in module.KERNEL.reads.items()},
        kernel=f"{module.KERNEL.__module__}:{module.KERNEL.__name__}",
        arguments=json.dumps(arguments),
        final=final.get(rules, final.get("ours")),
    )


def _find_plain_query(model: str, number: int, rules: str) -> Query:
    """The query of the Spark engine: `spark.py` or `spark.sql`, or the text that both engines share."""
    if rules != "ours":
        raise UserError(f"the Spark engine has the rules `ours` only, not {rules!r}")
    name = f"q{number}"
    if has_module(model, number, "spark"):
        module = import_module(f"{__package__}.{model}.q{number:02d}.spark")
        return query_of_module(model, name, module)
    own = query_text(model, number, "spark")
    text = own or query_text(model, number, "stream")
    if text is None:
        raise UserError(f"the query {name} of the {model} model has no file for the Spark engine")
    declared = read_declarations(model, text)
    return Query(
        model,
        name,
        rules,
        declared.keys,
        reads=declared.reads,
        text=text,
        engine="spark",
        state_store=declared.state_store,
        watermarked=own is not None,
    )


def query_of_module(model: str, name: str, module: ModuleType) -> Query:
    """The query of a Python module of plain Spark."""
    streams = MODELS[model].streams
    names = list(signature(module.answers).parameters)
    columns: Mapping[str, tuple[str, ...]] = getattr(module, "READS", {})
    for stream in names:
        if stream not in streams:
            raise ValueError(f"answers({stream}): the {model} model has {', '.join(streams)}")
    return Query(
        model,
        name,
        "ours",
        tuple(getattr(module, "KEYS", ())),
        reads={stream: tuple(columns.get(stream, streams[stream].names)) for stream in names},
        engine="spark",
        answers=module.answers,
        state_store=getattr(module, "STATE_STORE", "memory"),
        watermarked=True,
        mode=getattr(module, "OUTPUT_MODE", None),
    )
