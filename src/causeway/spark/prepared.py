"""A statement that Spark plans once and runs again and again, each time over other rows.

Parsing, analyzing, optimizing and compiling a small statement takes Spark much longer than running it. Here
the physical plan is kept. Its relations are RDDs of one partition, which holds an Arrow batch in an array of
Java's. Before a run the batch in the array is replaced; a task takes the partition as it is when it starts.

Everything runs in one task, without shuffles and broadcasts of rows: their results would be kept, and the
next run would see them again. Spark plans shuffles even so, such as above a join of joins, where it does not
see that both sides are one partition each. A shuffle of one partition into one changes nothing, and is taken
out of the plan. A statement whose plan has a broadcast of rows, or anything else that is settled while
planning, such as the current time, is not prepared. All of this leans on internals of Spark;
`tests/spark/test_prepared.py` says what changed.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from causeway.spark.internals import SessionSettings, answer_at_once

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["PreparedStatement", "prepare"]

_SETTINGS: Final = {
    "spark.sql.adaptive.enabled": "false",
    # Spark does not know how small the relations are. By the size that it assumes it would shuffle them; only
    # constants are small enough to be broadcast.
    "spark.sql.autoBroadcastJoinThreshold": str(1 << 20),
    "spark.sql.maxSinglePartitionBytes": str(2**63 - 1),
    "spark.sql.shuffle.partitions": "1",
    # A shuffle that stands in the plan twice is taken out twice.
    "spark.sql.exchange.reuse": "false",
    # Otherwise the rows are a part of the plan.
    "spark.sql.execution.arrow.localRelationThreshold": "0",
    "spark.sql.execution.arrow.useLargeVarTypes": "false",
}
_STEPS: Final = frozenset(
    (
        "BroadcastExchangeExec",
        "BroadcastHashJoinExec",
        "BroadcastNestedLoopJoinExec",
        "CartesianProductExec",
        "CoalesceExec",
        "ExpandExec",
        "FilterExec",
        "GenerateExec",
        "HashAggregateExec",
        "InputAdapter",
        "LocalTableScanExec",
        "ObjectHashAggregateExec",
        "ProjectExec",
        "RDDScanExec",
        "ShuffledHashJoinExec",
        "SortAggregateExec",
        "SortExec",
        "SortMergeJoinExec",
        "UnionExec",
        "WholeStageCodegenExec",
        "WindowExec",
    )
)
"""Steps of a physical plan that keep nothing from one run to the next, but for broadcasts."""
_SETTLED_IN_PLANNING: Final = ("Current", "LocalTimestamp", "Now")
"""How the names of expressions begin that the optimizer replaces by their value."""
_BY_FILE_FROM: Final = 1 << 18
"""Bytes. Py4J sends less as text in the time that a file takes."""
_ANSWER_BY_FILE_FROM: Final = 1 << 20
"""Bytes of the rows that are read. The answer may be as large, and Py4J's text takes both sides long."""
_numbers: Final = itertools.count()
_threads: Final = threading.local()
"""The statement whose settings the tasks of this thread get."""


def prepare(spark: SparkSession, text: str, relations: Mapping[str, pa.Schema]) -> PreparedStatement | None:
    """The statement over `relations`, by their names in `text`; None if its plan cannot be kept.

    Relations have columns of the types that Spark's own columns have in Arrow, timestamps in UTC. Raises what
    Spark says of a statement that it does not take.
    """
    answer_at_once(spark)
    own: Any = spark
    session = own._jsparkSession.cloneSession()
    for name, value in _SETTINGS.items():
        session.conf().set(name, value)
    places = {name: _Place(own, session, schema) for name, schema in relations.items()}
    for name, place in places.items():
        place.frame.coalesce(1).createTempView(name)
    frame = session.sql(text)
    execution = frame.queryExecution()
    if not _means_the_same_later(execution, places):
        return None
    with _active(own, session):
        plan = _without_shuffles(own, execution.executedPlan())
        if not _keeps_nothing(plan, places):
            return None
        batches = frame.toArrowBatchRdd(plan)
        if batches.getNumPartitions() != 1:
            return None
    return PreparedStatement(spark, session, places, _arrow_schema(frame), batches)


class PreparedStatement:
    """A statement with a plan. Used by one thread at a time."""

    def __init__(
        self,
        spark: SparkSession,
        session: Any,
        places: Mapping[str, _Place],
        schema: pa.Schema,
        batches: Any,
    ) -> None:
        """Use `prepare`."""
        self.schema = schema
        """The columns of the answer."""
        self._spark = spark
        self._places = places
        self._batches = batches
        self._settings = SessionSettings(spark)
        self._planned_with = self._settings.text()
        self._properties = {
            str(entry.getKey()): str(entry.getValue())
            for entry in session.conf().getAllAsJava().entrySet()
            if str(entry.getKey()).startswith("spark.sql.")
        }

    def is_valid(self) -> bool:
        """Whether the session has the settings with which the statement was planned."""
        return self._settings.text() == self._planned_with

    def run(self, tables: Mapping[str, pa.Table]) -> pa.Table:
        """The answer over these rows, one table for each relation."""
        answer_at_once(self._spark)
        self._set_properties()
        for name, place in self._places.items():
            place.fill(tables[name])
        is_large = sum(tables[name].nbytes for name in self._places) >= _ANSWER_BY_FILE_FROM
        if is_large and not _is_encrypted(self._spark):
            found = self._answer_by_file()
        else:
            found = [bytes(one) for one in self._batches.collect()]
        batches = [pa.ipc.read_record_batch(pa.py_buffer(one), self.schema) for one in found]
        return pa.Table.from_batches(batches, self.schema)

    def _answer_by_file(self) -> list[bytes]:
        """Serialized batches. Java writes the length of each before it."""
        jvm: Any = self._spark._jvm
        path = _new_file(self._spark)
        try:
            stream = jvm.java.io.DataOutputStream(jvm.java.io.FileOutputStream(str(path)))
            try:
                jvm.PythonRDD.writeIteratorToStream(self._batches.toLocalIterator(), stream)
            finally:
                stream.close()
            content = path.read_bytes()
        finally:
            path.unlink(missing_ok=True)
        found: list[bytes] = []
        at = 0
        while at < len(content):
            begin = at + 4
            at = begin + int.from_bytes(content[at:begin], "big")
            found.append(content[begin:at])
        return found

    def _set_properties(self) -> None:
        """Tasks know the session's settings by properties of the thread that starts them."""
        if getattr(_threads, "statement", None) is self:
            return
        context: Any = self._spark.sparkContext
        for name, value in self._properties.items():
            context.setLocalProperty(name, value)
        _threads.statement = self


class _Place:
    """A relation whose rows are replaced."""

    def __init__(self, spark: Any, session: Any, schema: pa.Schema) -> None:
        from pyspark.sql.pandas.types import from_arrow_schema

        self._spark = spark
        self._schema = schema
        self._utilities = spark._jvm.PythonSQLUtils
        file = self._write(_one_batch(schema.empty_table()))
        try:
            batches = self._utilities.readArrowStreamFromFile(str(file))
            self.frame = self._utilities.toDataFrame(batches, from_arrow_schema(schema).json(), session)
        finally:
            file.unlink()
        rdd = self.frame.queryExecution().logical().rdd()
        self.number = int(rdd.id())
        """Spark's number of the RDD."""
        while rdd.getClass().getSimpleName() != "ParallelCollectionRDD":
            rdd = rdd.dependencies().head().rdd()
        (partition,) = rdd.partitions()
        self._array = partition.values().unsafeArray()

    def fill(self, rows: pa.Table) -> None:
        """Replace the rows."""
        batch = _one_batch(rows.cast(self._schema))
        if batch.nbytes < _BY_FILE_FROM or _is_encrypted(self._spark):
            self._array[0] = batch.serialize().to_pybytes()
            return
        file = self._write(batch)
        try:
            self._utilities.readArrowStreamFromFile(str(file)).copyToArray(self._array)
        finally:
            file.unlink()

    def _write(self, batch: pa.RecordBatch) -> Path:
        file = _new_file(self._spark)
        with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        return file


def _new_file(spark: Any) -> Path:
    """A name in Spark's temporary folder."""
    return Path(str(spark.sparkContext._temp_dir)) / f"causeway-prepared-{next(_numbers)}.arrow"


def _is_encrypted(spark: Any) -> bool:
    """Whether nothing may be in a file that is not encrypted."""
    return bool(spark.sparkContext._encryption_enabled)


def _one_batch(rows: pa.Table) -> pa.RecordBatch:
    batches = rows.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=rows.schema)


def _means_the_same_later(execution: Any, places: Mapping[str, _Place]) -> bool:
    """Whether the statement depends on nothing but the rows of its relations."""
    if not execution.optimizedPlan().deterministic():
        return False
    names = {name.lower() for name in places}
    for node in _nodes(json.loads(execution.analyzed().toJSON())):
        kind = str(node["class"]).rpartition(".")[2]
        if kind.startswith(_SETTLED_IN_PLANNING) and kind != "CurrentRow$":
            return False
        # Any other view may be another one tomorrow.
        if kind == "View" and str(node["desc"]["identifier"]["table"]).lower() not in names:
            return False
    return True


@contextmanager
def _active(spark: Any, session: Any) -> Iterator[None]:
    """A step that is added to a plan belongs to the session that is active in its thread, if there is one."""
    sessions = spark._jvm.org.apache.spark.sql.classic.SparkSession
    before = sessions.getActiveSession()
    sessions.setActiveSession(session)
    try:
        yield
    finally:
        if before.isDefined():
            sessions.setActiveSession(before.get())
        else:
            sessions.clearActiveSession()


def _without_shuffles(spark: Any, plan: Any) -> Any:
    """The physical plan without shuffles of a single partition."""
    children = [plan.children().apply(number) for number in range(plan.children().size())]
    found = [_without_shuffles(spark, child) for child in children]
    kind = str(plan.getClass().getSimpleName())
    if kind == "ShuffleExchangeExec" and plan.outputPartitioning().numPartitions() == 1:
        (child,) = found
        if child.execute().getNumPartitions() == 1:
            return child
    if all(new is old for new, old in zip(found, children, strict=True)):
        return plan
    return plan.withNewChildren(spark._jvm.PythonUtils.toSeq(found))


def _keeps_nothing(plan: Any, places: Mapping[str, _Place]) -> bool:
    """Whether the plan reads the rows anew in every run."""
    numbers = {place.number for place in places.values()}
    for step in _steps(plan):
        kind = str(step.getClass().getSimpleName())
        if kind not in _STEPS or not step.subqueries().isEmpty():
            return False
        if kind == "RDDScanExec" and int(step.rdd().id()) not in numbers:
            return False
        # A broadcast is made once, which is right for constants alone.
        if kind == "BroadcastExchangeExec" and any(
            str(below.getClass().getSimpleName()) == "RDDScanExec" for below in _steps(step)
        ):
            return False
    return True


def _steps(plan: Any) -> Iterator[Any]:
    yield plan
    children = plan.children()
    for number in range(children.size()):
        yield from _steps(children.apply(number))


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    """All operators and expressions in a plan's JSON."""
    if isinstance(value, list):
        for item in value:
            yield from _nodes(item)
    elif isinstance(value, dict):
        if "class" in value:
            yield value
        for item in value.values():
            yield from _nodes(item)


def _arrow_schema(frame: Any) -> pa.Schema:
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    return to_arrow_schema(StructType.fromJson(json.loads(frame.schema().json())), timezone="UTC")
