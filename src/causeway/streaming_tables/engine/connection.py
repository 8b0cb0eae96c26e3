"""A connection to a warehouse: statements, appended rows, and what runs in the background meanwhile."""

from __future__ import annotations

import atexit
import shutil
import threading
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from causeway.runtime.errors import UserError
from causeway.streaming_tables.engine.background import Background
from causeway.streaming_tables.engine.catalog.standard_tables import StandardTables
from causeway.streaming_tables.engine.catalog.warehouse import Warehouse
from causeway.streaming_tables.engine.continuous.queries import PullQuery, PushQuery, QueryRegistry
from causeway.streaming_tables.engine.reads.answers import Answer
from causeway.streaming_tables.engine.reads.relations import Relations
from causeway.streaming_tables.engine.statements import StatementRunner
from causeway.streaming_tables.engine.writes.changes import rows_of, to_table
from causeway.streaming_tables.engine.writes.news import News
from causeway.streaming_tables.language import SourceStatement, split_script
from causeway.streaming_tables.storage import Appended

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Connection", "connect"]

_SETTINGS: Final = {
    # Files are named one by one, so there is nothing to discover in parallel.
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
}


def connect(
    warehouse: str | Path,
    spark: SparkSession | None = None,
    *,
    master: str = "local[*]",
    settings: Mapping[str, str] | None = None,
) -> Connection:
    """Open a warehouse, or make a new one in a folder that is missing or empty.

    Without `spark`, a Spark session is started for the connection and stopped with it; `master` and
    `settings` are for that one. Continuous inserts and views that were at work go on, unless another process
    has them.
    """
    folder = Path(warehouse)
    opened = Warehouse(folder)
    stack = ExitStack()
    own_session = spark is None
    if spark is None:
        from causeway.spark.session import spark_session

        own = {"spark.sql.warehouse.dir": str(opened.standard)} | _SETTINGS | dict(settings or {})
        spark = stack.enter_context(spark_session("streaming tables", master, own))
    try:
        return Connection(opened, spark, stack, own_session=own_session)
    except BaseException:
        stack.close()
        raise


class Connection:
    """An open warehouse. Thread-safe, but for a continuous query, which one thread iterates."""

    def __init__(
        self, warehouse: Warehouse, spark: SparkSession, stack: ExitStack, *, own_session: bool
    ) -> None:
        """Use `connect`."""
        self.warehouse = warehouse
        self.spark = spark
        self._stack = stack
        warehouse.remove_scratch()
        self._scratch = warehouse.scratch()
        self._relations = Relations(spark, self._scratch)
        self._queries = QueryRegistry()
        self._standard = StandardTables(spark, warehouse.standard, own_session=own_session)
        self._standard.load()
        self._background = Background(warehouse, spark, self._relations, self._queries)
        self._runner = StatementRunner(
            warehouse, spark, self._relations, self._queries, self._standard, self._background
        )
        self._closed = threading.Event()
        # A program that ends without closing must not leave Spark to the interpreter's own end, which hangs.
        atexit.register(self.close)
        self._background.resume()

    def sql(self, text: str | SourceStatement) -> Answer | PullQuery | PushQuery:
        """Run one statement: a text, or one of those into which `split_script` cuts a script.

        A one-time statement gives an `Answer`. A query over windows gives a `PushQuery` with SAMPLE, which is
        iterated, and a `PullQuery` without, which is resumed. Errors in the statement, also those that come
        while rows are fetched, are `StatementError`s with the line and column of the text or script.
        """
        self._require_open()
        if isinstance(text, SourceStatement):
            return self._runner.run(text)
        statements = split_script(text)
        if len(statements) != 1:
            raise UserError(
                f"this is {len(statements)} statements; give one at a time" if statements else "no statement"
            )
        return self._runner.run(statements[0])

    def append(self, table: str, rows: Any) -> Appended:
        """Append rows; when this returns, they are durable and visible to every later read.

        Rows are an Arrow table, a pandas DataFrame, or a list of mappings or of sequences (all columns in the
        table's order, the time last). Rows that are later than the table's slack go to `<table>__late`.
        """
        self._require_open()
        writer = self._background.table_writer(table)
        definition = writer.store.definition
        return writer.append(to_table(rows_of(rows, definition), definition))

    def table(self, name: str) -> DataFrame:
        """A DataFrame of a streaming table as of now, for any Spark job; other names are Spark's tables."""
        self._require_open()
        if self.warehouse.relation(name) is None:
            self._standard.load()
            return self.spark.table(name)
        return self._relations.content(self.warehouse.content(name))

    def wait_for(self, table: str, until: int | None = None) -> None:
        """Wait until all that the table's sources hold now is in it, or its time has reached `until`."""
        self._require_open()
        self._background.wait_for(table, until)

    def is_quiet(self, tables: tuple[str, ...]) -> bool:
        """Whether no continuous insert and no other process writes to these tables now."""
        return self._background.is_quiet(tables)

    @property
    def news(self) -> News:
        """Tells who waits for rows that this connection has added some."""
        return self._background.news

    def raise_failures(self) -> None:
        """Raise what has ended a continuous insert or a view of this connection, if something has."""
        self._background.raise_failures()

    def close(self) -> None:
        """End everything that runs for this connection. Inserts and views go on when it is opened again."""
        if self._closed.is_set():
            return
        self._closed.set()
        atexit.unregister(self.close)
        self._queries.kill_all()
        self._background.close()
        with suppress(Exception):
            self._relations.close()
        shutil.rmtree(self._scratch, ignore_errors=True)
        self._stack.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _require_open(self) -> None:
        if self._closed.is_set():
            raise UserError("the connection is closed")
