"""Runs statements: each kind of the language in one method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from causeway.runtime.errors import UserError
from causeway.streaming_tables.engine import housekeeping
from causeway.streaming_tables.engine.background import Background
from causeway.streaming_tables.engine.catalog.moments import moment_of, time_text
from causeway.streaming_tables.engine.catalog.side_tables import SideTable, base_of
from causeway.streaming_tables.engine.catalog.standard_tables import StandardTables
from causeway.streaming_tables.engine.catalog.warehouse import ViewDefinition, Warehouse
from causeway.streaming_tables.engine.continuous.queries import PullQuery, PushQuery, QueryRegistry
from causeway.streaming_tables.engine.continuous.query import ContinuousQuery
from causeway.streaming_tables.engine.plans.spark_errors import in_users_text
from causeway.streaming_tables.engine.plans.statement_places import placed
from causeway.streaming_tables.engine.reads.answers import Answer
from causeway.streaming_tables.engine.reads.moving_functions import provide_functions
from causeway.streaming_tables.engine.reads.one_time import OneTimeReader
from causeway.streaming_tables.engine.reads.relations import Relations
from causeway.streaming_tables.engine.windows.window_state import window_now
from causeway.streaming_tables.engine.writes.changes import Changes, to_table, with_nulls
from causeway.streaming_tables.engine.writes.definitions import index_of, table_definition, view_definition
from causeway.streaming_tables.language import (
    CreateIndex,
    CreateStreamingTable,
    CreateView,
    Delete,
    Describe,
    Drop,
    Explain,
    InsertFrom,
    InsertOnce,
    InsertSelectStream,
    Kill,
    NotStreamingTableError,
    Passthrough,
    Rendered,
    Resume,
    Select,
    SetClock,
    Show,
    SourceStatement,
    StatementError,
    TablePiece,
    Update,
    WaitFor,
    WindowPiece,
    parse,
)
from causeway.streaming_tables.language.tokens import (
    Token,
    identifier_value,
    quote_identifier,
    significant,
    tokenize,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["StatementRunner"]

_DONE: Final = pa.table({})


class StatementRunner:
    """Runs statements of one connection."""

    def __init__(
        self,
        warehouse: Warehouse,
        spark: SparkSession,
        relations: Relations,
        queries: QueryRegistry,
        standard: StandardTables,
        background: Background,
    ) -> None:
        self._warehouse = warehouse
        self._spark = spark
        self._relations = relations
        self._queries = queries
        self._standard = standard
        self._background = background
        self._reader = OneTimeReader(warehouse, relations)
        self._changes = Changes(warehouse, relations)
        self._clock = "stream"

    def run(self, source: SourceStatement) -> Answer | PullQuery | PushQuery:
        """Run one statement. Its errors are placed in the script that it stands in."""
        self._standard.load()
        try:
            statement = parse(source, self._warehouse)
        except NotStreamingTableError as refused:
            raise self._refined(refused) from refused
        provide_functions(self._spark, source.text)
        method = getattr(self, f"_{type(statement).__name__.lower()}")
        try:
            answer: Answer | PullQuery | PushQuery | None = method(statement, source)
        except UserError as refused:
            raise placed(refused, statement, source) from refused
        return Answer(rows=_DONE, summary="") if answer is None else answer

    def _createstreamingtable(self, statement: CreateStreamingTable, source: SourceStatement) -> None:
        if self._warehouse.store(statement.name) is not None:
            if statement.if_not_exists:
                return
            raise UserError(f"there is a streaming table {statement.name} already")
        self._refuse_other_table(statement.name)
        self._warehouse.create(table_definition(statement))

    def _createindex(self, statement: CreateIndex, source: SourceStatement) -> None:
        store = self._warehouse.require(statement.table)
        index = index_of(statement, store.definition)
        if any(one.name.lower() == index.name.lower() for one in store.definition.indexes):
            if statement.if_not_exists:
                return
            raise UserError(f"{store.definition.name} has an index {index.name} already")
        self._background.writer(statement.table).add_index(index)

    def _insertfrom(self, statement: InsertFrom, source: SourceStatement) -> Answer:
        number = self._background.begin_insert(
            statement.table, statement.source, dict(statement.options), None
        )
        return _insert_answer(number, statement.table)

    def _insertselectstream(self, statement: InsertSelectStream, source: SourceStatement) -> Answer:
        if len(statement.streams) != 1:
            raise UserError("INSERT INTO … SELECT reads one STREAM at a time")
        stream = statement.streams[0]
        number = self._background.begin_insert(statement.table, stream.source, dict(stream.options), source)
        return _insert_answer(number, statement.table)

    def _insertonce(self, statement: InsertOnce, source: SourceStatement) -> Answer:
        writer = self._background.table_writer(statement.table)
        definition = writer.store.definition
        if statement.query.windows:
            query = ContinuousQuery(self._warehouse, self._relations, statement.query)
            rows = query.answer_now(self._clock)
        else:
            rows = self._reader.read(statement.query, self._clock, target=statement.table).to_arrow()
        if not statement.by_name:
            names = list(statement.columns or definition.arrow_schema().names)
            if len(names) != rows.num_columns:
                raise UserError(
                    f"INSERT INTO {definition.name} has {rows.num_columns} values for {len(names)} columns "
                    f"({', '.join(names)})"
                )
            rows = rows.rename_columns(names)
        rows = to_table(with_nulls(rows, definition), definition)
        if not statement.query.has_order_by and not _is_values(statement.body_text):
            # The rows of a query have no order, so none of them is late because of another one.
            rows = rows.take(pc.sort_indices(rows.column(definition.time.name)))
        found = writer.append(rows)
        late = f", {found.late:,} too late (see {definition.name}__late)" if found.late else ""
        counts = pa.table({"inserted": [found.accepted], "late": [found.late]})
        return Answer(rows=counts, summary=f"{_rows(found.accepted)} inserted{late}")

    def _createview(self, statement: CreateView, source: SourceStatement) -> None:
        store = self._warehouse.store(statement.name)
        if store is not None:
            if statement.if_not_exists:
                return
            if not statement.or_replace or store.definition.kind != "view":
                raise UserError(f"there is a streaming table or view {statement.name} already")
        else:
            self._refuse_other_table(statement.name)
        query = ContinuousQuery(self._warehouse, self._relations, statement.query)
        definition = view_definition(statement, query.schema, query.kind)
        if store is not None:
            self._drop(Drop("view", statement.name, if_exists=False), source)
        self._warehouse.create(definition)
        view = ViewDefinition(statement.name, source.text, statement.columns)
        self._warehouse.save_view(view)
        self._background.start_view(view, statement.query)

    def _select(self, statement: Select, source: SourceStatement) -> Answer | PullQuery | PushQuery:
        query = statement.query
        if query.sample is None and not query.windows:
            return self._reader.read(query, self._clock)
        planned = ContinuousQuery(self._warehouse, self._relations, query)
        number = self._queries.next_id()
        if query.sample is None:
            pulled = PullQuery(number, source.text, planned, lambda: self._clock)
            self._queries.add(pulled)
            return pulled
        pushed = PushQuery(number, source.text, planned, self._background.ended)
        self._queries.add(pushed)
        return pushed

    def _delete(self, statement: Delete, source: SourceStatement) -> Answer:
        writer = self._background.writer(statement.table)
        count = self._changes.delete(statement, writer, self._clock)
        return Answer(rows=pa.table({"deleted": [count]}), summary=f"{_rows(count)} deleted")

    def _update(self, statement: Update, source: SourceStatement) -> Answer:
        writer = self._background.writer(statement.table)
        count = self._changes.update(statement, writer, self._clock)
        return Answer(rows=pa.table({"updated": [count]}), summary=f"{_rows(count)} updated")

    def _resume(self, statement: Resume, source: SourceStatement) -> Answer | None:
        if statement.what == "insert":
            self._background.inserts.resume(int(statement.id))
            return None
        if statement.what == "view":
            self._background.resume_view(statement.id)
            return None
        query = self._queries.find(statement.id)
        if isinstance(query, PushQuery):
            raise UserError(f"query {statement.id} is pushed: its answers come by themselves")
        return query.resume()

    def _kill(self, statement: Kill, source: SourceStatement) -> None:
        if statement.what == "insert":
            self._background.inserts.kill(int(statement.id))
            return
        self._queries.kill(statement.id)

    def _show(self, statement: Show, source: SourceStatement) -> Answer:
        if statement.what == "tables":
            return housekeeping.show_tables(self._spark, self._warehouse, statement.pattern)
        if statement.what == "views":
            return housekeeping.show_views(self._spark, self._warehouse, statement.pattern)
        if statement.what == "indexes":
            return housekeeping.show_indexes(self._warehouse, statement.table)
        rows: list[tuple[Any, ...]] = [
            (one.id, one.kind, one.state, one.way, one.last_answered, one.text) for one in self._queries.all()
        ]
        for view in self._warehouse.views():
            state, way = self._background.view_state(view.name)
            snapshot = self._warehouse.require(view.name).snapshot()
            last = time_text(snapshot.newest, snapshot.definition.time.kind)
            rows.append((view.name, "view", state, way, last, view.text))
        return housekeeping.table_of(["id", "kind", "state", "way", "last tick", "statement"], rows)

    def _describe(self, statement: Describe, source: SourceStatement) -> Answer:
        beside = base_of(statement.name)
        if self._warehouse.store(statement.name) is None and beside is not None:
            return housekeeping.describe_side_table(self._warehouse.content(statement.name))
        view = self._warehouse.view(statement.name)
        store = self._warehouse.require(statement.name)
        inserts = self._background.inserts.states(statement.name)
        return housekeeping.describe(store, inserts, None if view is None else view.text)

    def _drop(self, statement: Drop, source: SourceStatement) -> None:
        if statement.what == "index":
            self._drop_index(statement)
            return
        store = self._warehouse.require(statement.name)
        is_view = store.definition.kind == "view"
        if is_view != (statement.what == "view"):
            kind = "view" if is_view else "table"
            raise UserError(f"{statement.name} is a {kind}; use DROP {kind.upper()}")
        readers = self._background.readers_of(statement.name)
        if readers:
            raise UserError(f"{statement.name} is read by the view {readers[0]}; drop that first")
        self._background.writer(statement.name)
        self._background.forget(statement.name)
        self._warehouse.drop(statement.name)

    def _drop_index(self, statement: Drop) -> None:
        for store in self._warehouse.stores():
            if statement.table is not None and store.definition.name.lower() != statement.table.lower():
                continue
            for index in store.definition.indexes:
                if index.name.lower() == statement.name.lower():
                    self._background.writer(store.definition.name).drop_index(index.name)
                    return
        if not statement.if_exists:
            raise UserError(f"there is no index {statement.name}")

    def _explain(self, statement: Explain, source: SourceStatement) -> Answer:
        inner = statement.inner
        if isinstance(inner, Select) and not inner.query.windows and inner.query.sample is None:
            plan = self._reader.plan(inner.query, self._clock)
            return housekeeping.explain_one_time(plan, statement.mode_text)
        if isinstance(inner, Select | CreateView):
            planned = ContinuousQuery(self._warehouse, self._relations, inner.query)
            return housekeeping.explain_continuous(inner.query, planned)
        raise UserError("EXPLAIN takes a query or a view")

    def _waitfor(self, statement: WaitFor, source: SourceStatement) -> None:
        until = statement.until
        if isinstance(until, str):
            until = _moment(until)
        self._background.wait_for(statement.table, until)

    def _setclock(self, statement: SetClock, source: SourceStatement) -> None:
        self._clock = statement.clock

    def _passthrough(self, statement: Passthrough, source: SourceStatement) -> Answer:
        tokens = significant(tokenize(statement.text))[:12]
        words = [token.word() for token in tokens[:8]]
        created = _created_name(tokens)
        if created is not None and self._warehouse.store(created) is not None:
            raise UserError(f"there is a streaming table {created} already")
        frame, rendered = self._pass(statement, words)
        if words and self._standard.may_change(words[0]):
            self._standard.save(words[0])
        return Answer(frame, text=rendered, summary=None if frame.columns else "")

    def _pass(self, statement: Passthrough, words: list[str]) -> tuple[DataFrame, Rendered]:
        """The answer of a statement of Spark's own, and the text that Spark got."""
        query = statement.query
        if query is None or not query.relations:
            with in_users_text(statement.unchanged):
                return self._spark.sql(statement.text), statement.unchanged
        if (words[:1] == ["CREATE"] and "VIEW" in words) or words[:1] == ["CACHE"]:
            raise UserError(
                f"a view or cache of Spark's own cannot read {query.relations[0]}, whose rows change; "
                "give the view a RANGE and a SAMPLE, or use CREATE TABLE … AS"
            )
        if query.prev_links:
            raise UserError(
                "PREV is for queries and views; it has no place in a statement that changes a table"
            )
        contents = self._reader.contents(query)
        now = moment_of(contents, self._clock)
        frames: dict[str, DataFrame] = {}

        def table(piece: TablePiece) -> str:
            name = self._relations.unused_name(piece.table)
            frames[name] = self._relations.content(contents[piece.table.lower()])
            return name

        def window(piece: WindowPiece) -> str:
            content = contents[piece.table.lower()]
            if isinstance(content, SideTable):
                raise UserError(f"{piece.table} has no windows")
            name = self._relations.unused_name(piece.table)
            frames[name] = self._relations.arrow(window_now(piece.window, content, now.value))
            return name

        rendered = query.rendered(window, now.literal, table_name=table)
        with in_users_text(rendered), self._relations.named(frames):
            return self._spark.sql(rendered.text), rendered

    def _refined(self, refused: NotStreamingTableError) -> StatementError:
        """The same error, or that there is no table of that name at all."""
        named = significant(tokenize(refused.text[refused.offset :]))[:1]
        name = identifier_value(named[0]) if named and named[0].is_name else None
        if name is None or self._spark.catalog.tableExists(quote_identifier(name)):
            return refused
        return StatementError(f"there is no table {name}", refused.text, refused.offset)

    def _refuse_other_table(self, name: str) -> None:
        beside = base_of(name)
        if beside is not None:
            raise UserError(f"{name} would be a table beside {beside[0]}; no name ends with {beside[1]}")
        if self._spark.catalog.tableExists(quote_identifier(name)):
            raise UserError(f"there is a table or view {name} of Spark's own already")


def _created_name(tokens: list[Token]) -> str | None:
    """The plain name of the table or view that a statement of Spark's own creates."""
    words = [token.word() for token in tokens]
    if words[:1] != ["CREATE"]:
        return None
    for place, word in enumerate(words[1:], 1):
        if word in ("TABLE", "VIEW"):
            rest = tokens[place + 1 :]
            if [token.word() for token in rest[:3]] == ["IF", "NOT", "EXISTS"]:
                rest = rest[3:]
            qualified = len(rest) > 1 and rest[1].symbol() == "."
            return identifier_value(rest[0]) if rest and rest[0].is_name and not qualified else None
    return None


def _insert_answer(number: int, table: str) -> Answer:
    counts = pa.table({"insert": pa.array([number], pa.int64())})
    return Answer(rows=counts, summary=f"insert {number} into {table} runs; WAIT FOR {table} waits for it")


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"


def _is_values(body: str) -> bool:
    return [token.word() for token in significant(tokenize(body))[:1]] == ["VALUES"]


def _moment(text: str) -> int:
    from datetime import UTC, datetime

    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise UserError(f"'{text}' is no timestamp; write it as in '2026-01-31 12:00:00'") from None
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1_000_000)
