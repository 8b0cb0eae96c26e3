"""`INSERT INTO t SELECT … FROM STREAM 'x'`: the source's own columns, and the table's rows made of them.

The SELECT runs on each batch, so it must not depend on how the stream is cut into batches: row by row, joined
with standard tables if need be.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from causeway.runtime.errors import UserError
from causeway.streaming_tables.engine.changes import to_table
from causeway.streaming_tables.engine.plan_tree import analyzed_plan
from causeway.streaming_tables.engine.relations import Relations
from causeway.streaming_tables.engine.spark_errors import in_users_text
from causeway.streaming_tables.language import InsertSelectStream
from causeway.streaming_tables.sources import stream_columns
from causeway.streaming_tables.storage import TableDefinition

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["StreamSelect"]

_CUT_DEPENDENT: Final = {
    "Aggregate": "an aggregate",
    "Distinct": "DISTINCT",
    "Window": "a window function",
    "GlobalLimit": "LIMIT",
    "Sort": "ORDER BY",
    "Deduplicate": "DISTINCT",
    "Except": "EXCEPT",
    "Intersect": "INTERSECT",
}


class StreamSelect:
    """The SELECT of a continuous insert."""

    def __init__(
        self,
        relations: Relations,
        statement: InsertSelectStream,
        definition: TableDefinition,
        base: str,
    ) -> None:
        self._relations = relations
        self._statement = statement
        self._definition = definition
        (stream,) = statement.streams
        self.target = stream_columns(stream.source, stream.options, Path(base))
        """The source's own columns, the time last."""
        stub = relations.stub("stream", self.target.schema)
        planned = self._run(stub)
        for node in analyzed_plan(planned).walk():
            if node.kind in _CUT_DEPENDENT:
                raise UserError(
                    f"INSERT … SELECT FROM STREAM: the answer of {_CUT_DEPENDENT[node.kind]} depends on how "
                    "the stream is cut into batches; insert the rows, and make a view over a window"
                )
        to_table(self._named(planned.limit(0).toArrow()), definition)

    def rows(self, batch: DataFrame) -> pa.Table:
        """The table's rows of a batch of the source."""
        name = self._relations.unused_name("stream")
        # A batch's DataFrame belongs to a session of the query's own, where the statement must run, too.
        session = batch.sparkSession
        batch.createOrReplaceTempView(name)
        try:
            return to_table(self._named(session.sql(self._text(name)).toArrow()), self._definition)
        finally:
            session.catalog.dropTempView(name)

    def _text(self, relation: str) -> str:
        return self._statement.query.render(
            lambda piece: piece.table, lambda _: "NULL", stream_name=lambda _: relation
        )

    def _run(self, relation: str) -> DataFrame:
        query = self._statement.query
        if query.relations:
            raise UserError("INSERT … SELECT FROM STREAM cannot read streaming tables")
        rendered = query.rendered(lambda piece: piece.table, lambda _: "NULL", stream_name=lambda _: relation)
        with in_users_text(rendered):
            return self._relations.spark.sql(rendered.text)

    def _named(self, rows: pa.Table) -> pa.Table:
        if self._statement.by_name:
            return rows
        names = list(self._statement.columns or self._definition.arrow_schema().names)
        if len(names) != rows.num_columns:
            raise UserError(
                f"INSERT INTO {self._definition.name} has {rows.num_columns} values for {len(names)} columns "
                f"({', '.join(names)})"
            )
        return rows.rename_columns(names)
