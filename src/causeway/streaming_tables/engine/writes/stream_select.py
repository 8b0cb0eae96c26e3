"""`INSERT INTO t SELECT … FROM STREAM 'x'`: the source's own columns, and the table's rows made of them.

The SELECT runs on each batch, so it must not depend on how the stream is cut into batches: row by row, joined
with standard tables if need be. So a row for which it fails can be found by halves, and is rejected alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from causeway.runtime.errors import UserError
from causeway.streaming_tables.engine.plans.spark_errors import in_users_text, is_fault_of_a_row, unlogged
from causeway.streaming_tables.engine.plans.tree import analyzed_plan
from causeway.streaming_tables.engine.reads.relations import Relations
from causeway.streaming_tables.engine.writes.changes import to_table, with_nulls
from causeway.streaming_tables.language import InsertSelectStream, Rendered, StatementError, select_end
from causeway.streaming_tables.language.tokens import quote_identifier
from causeway.streaming_tables.sources import (
    REJECT_FIELDS,
    TargetColumns,
    shorten,
    stream_columns,
    unfit_rows,
)
from causeway.streaming_tables.storage import TableDefinition

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

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
_REJECTED: Final = pa.schema(REJECT_FIELDS)
_SOURCE, _LINE, _REASON, _TEXT = _REJECTED.names

_Place = tuple[str, int]
"""Source and line of a row."""


class StreamSelect:
    """The SELECT of a continuous insert."""

    def __init__(
        self,
        relations: Relations,
        statement: InsertSelectStream,
        definition: TableDefinition,
        base: str,
        columns: dict[str, Any] | None,
    ) -> None:
        """`columns` are the source's own, if they are known from before."""
        self._relations = relations
        self._statement = statement
        self._definition = definition
        (stream,) = statement.streams
        self.target = (
            stream_columns(stream.source, stream.options, Path(base))
            if columns is None
            else TargetColumns.from_json(columns)
        )
        """The source's own columns, the time last."""
        planned = self._plan()
        for node in analyzed_plan(planned).walk():
            if node.kind in _CUT_DEPENDENT:
                raise UserError(
                    f"INSERT … SELECT FROM STREAM: the answer of {_CUT_DEPENDENT[node.kind]} depends on how "
                    "the stream is cut into batches; insert the rows, and make a view over a window"
                )
        to_table(self._named(planned.limit(0).toArrow()), definition)
        self._traced = self._can_be_traced()
        """Whether the rows of the SELECT tell which rows of the source they come from."""

    def rows(self, batch: DataFrame) -> tuple[pa.Table, pa.Table]:
        """The table's rows of a batch of the source, and the rejected ones."""
        session = batch.sparkSession
        refused = batch.where(f"{_REASON} IS NOT NULL").select(*_REJECTED.names).toArrow()
        good = batch.where(f"{_REASON} IS NULL").drop(_REASON, _TEXT)
        try:
            made, _ = self._fitted(self._select(session, good))
            if made is not None:
                return made, refused
        except UserError as failure:
            if not is_fault_of_a_row(failure.__cause__):
                raise
        parts: list[pa.Table] = []
        rejected: dict[_Place, str] = {}
        rows = good.toArrow()
        self._make_by_halves(session, rows, parts, rejected)
        made = pa.concat_tables([self._definition.arrow_schema().empty_table(), *parts])
        return made, pa.concat_tables([refused, _rejects(rows, rejected)])

    def _make_by_halves(
        self, session: SparkSession, rows: pa.Table, parts: list[pa.Table], rejected: dict[_Place, str]
    ) -> None:
        """Add the table's rows to `parts`, and the places of rows that fail or do not fit to `rejected`."""
        try:
            found = self._select(session, session.createDataFrame(rows))
            made, unfit = self._fitted(found)
            if made is not None:
                parts.append(made)
                return
            reason = next(iter(unfit.values()))
            if self._traced:
                places = _places(found)
                wrong = {places[number]: why for number, why in reversed(unfit.items())}
                rejected |= wrong
                fits = pa.array([place not in wrong for place in places], pa.bool_())
                parts.append(to_table(self._named(found.filter(fits)), self._definition))
                return
        except UserError as failure:
            if not is_fault_of_a_row(failure.__cause__):
                raise
            reason = failure.message if isinstance(failure, StatementError) else str(failure)
        if rows.num_rows == 1:
            rejected[_places(rows)[0]] = reason
            return
        half = rows.num_rows // 2
        self._make_by_halves(session, rows.slice(0, half), parts, rejected)
        self._make_by_halves(session, rows.slice(half), parts, rejected)

    def _fitted(self, found: pa.Table) -> tuple[pa.Table | None, dict[int, str]]:
        """The table's rows, or nothing and why rows do not fit, by their place."""
        rows = self._named(found)
        try:
            return to_table(rows, self._definition), {}
        except UserError:
            schema = self._definition.arrow_schema()
            known = {name.lower(): name for name in rows.schema.names}
            columns = [rows.column(known[name.lower()]) for name in schema.names]
            time = self._definition.time
            target = TargetColumns(schema, time.kind, time.limits)
            unfit = unfit_rows(pa.Table.from_arrays(columns, schema.names), target)
            if not unfit:
                raise
            return None, unfit

    def _select(self, session: SparkSession, frame: DataFrame) -> pa.Table:
        name = self._relations.unused_name("stream")
        # A batch's DataFrame belongs to a session of the query's own, where the statement must run, too.
        (frame if self._traced else frame.drop(_SOURCE, _LINE)).createOrReplaceTempView(name)
        rendered = self._rendered(name, traced=self._traced)
        try:
            with in_users_text(rendered):
                return session.sql(rendered.text).toArrow()
        finally:
            session.catalog.dropTempView(name)

    def _rendered(self, relation: str, *, traced: bool) -> Rendered:
        rendered = self._statement.query.rendered(
            lambda piece: piece.table, lambda _: "NULL", stream_name=lambda _: relation
        )
        place = select_end(rendered.text)
        if not traced or place is None:
            return rendered
        owner = quote_identifier(self._statement.streams[0].alias or relation)
        return rendered.with_inserted(place, f" {owner}.`{_SOURCE}`, {owner}.`{_LINE}`,")

    def _plan(self) -> DataFrame:
        if self._statement.query.relations:
            raise UserError("INSERT … SELECT FROM STREAM cannot read streaming tables")
        rendered = self._rendered(self._relations.stub("stream", self.target.schema), traced=False)
        with in_users_text(rendered):
            return self._relations.spark.sql(rendered.text)

    def _can_be_traced(self) -> bool:
        from pyspark.errors import PySparkException

        places = pa.schema([*self.target.schema, *REJECT_FIELDS[:2]])
        rendered = self._rendered(self._relations.stub("stream", places), traced=True)
        if select_end(rendered.text) is None:
            return False
        try:
            with unlogged():
                names = self._relations.spark.sql(rendered.text).columns
        except PySparkException:
            return False
        return names[:2] == [_SOURCE, _LINE]

    def _named(self, rows: pa.Table) -> pa.Table:
        """The columns that the user's SELECT has, under the table's names, and those that it leaves out."""
        own = [place for place, name in enumerate(rows.schema.names) if name not in (_SOURCE, _LINE)]
        rows = rows.select(own)
        if self._statement.by_name:
            return with_nulls(rows, self._definition)
        names = list(self._statement.columns or self._definition.arrow_schema().names)
        if len(names) != rows.num_columns:
            raise UserError(
                f"INSERT INTO {self._definition.name} has {rows.num_columns} values for {len(names)} columns "
                f"({', '.join(names)})"
            )
        return with_nulls(rows.rename_columns(names), self._definition)


def _places(rows: pa.Table) -> list[_Place]:
    """Source and line of each row."""
    names = rows.schema.names
    sources, lines = rows.column(names.index(_SOURCE)), rows.column(names.index(_LINE))
    return list(zip(sources.to_pylist(), lines.to_pylist(), strict=True))


def _rejects(rows: pa.Table, reasons: dict[_Place, str]) -> pa.Table:
    """The rejected ones of the source's rows, as the table keeps them."""
    lines = pa.array([line for _, line in reasons], pa.int64())
    rows = rows.filter(pc.is_in(rows.column(_LINE), lines))
    found = []
    for place, row in zip(_places(rows), rows.drop_columns([_SOURCE, _LINE]).to_pylist(), strict=True):
        if place in reasons:
            text = shorten(json.dumps(row, default=str, ensure_ascii=False))
            found.append((*place, reasons[place], text))
    columns = list(zip(*found, strict=True)) or [()] * len(REJECT_FIELDS)
    arrays = [pa.array(values, field.type) for values, field in zip(columns, REJECT_FIELDS, strict=True)]
    return pa.Table.from_arrays(arrays, schema=_REJECTED)
