"""A statement of a continuous query, which is run at tick after tick over other rows.

Spark plans it once and runs that plan again, if it can (`causeway.spark.prepared`). Otherwise, and for more
rows than one task should read, it is planned for each run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from causeway.spark.prepared import PreparedStatement, prepare
from causeway.streaming_tables.engine.plans.spark_errors import Text, in_users_text, unlogged
from causeway.streaming_tables.engine.reads.relations import Relations

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Render", "TickStatement"]

_MOST_BYTES: Final = 32 << 20
"""Of the rows of one run in one task."""

Render = Callable[[Mapping[str, str]], tuple[str, Text]]
"""The statement over relations of these names, and where the user's text is in it."""


class TickStatement:
    """A statement over relations that have a key each. Used by one thread at a time."""

    def __init__(self, relations: Relations, keys: Sequence[str], render: Render) -> None:
        self._relations = relations
        self._render = render
        self._names = {key: relations.unused_name(key) for key in keys}
        self._prepared: PreparedStatement | None = None
        self._can_be_prepared = True

    def run(self, rows: Mapping[str, pa.Table]) -> pa.Table:
        """The answer over these rows, by the keys of the relations."""
        if self._can_be_prepared:
            found = self._run_prepared(rows)
            if found is not None:
                return found
        names = {key: self._relations.unused_name(key) for key in rows}
        text, places = self._render(names)
        frames = {names[key]: self._relations.arrow(table) for key, table in rows.items()}
        with in_users_text(places), self._relations.named(frames):
            return self._relations.spark.sql(text).toArrow()

    def _run_prepared(self, rows: Mapping[str, pa.Table]) -> pa.Table | None:
        """The answer, or None if it must be found the other way, which also tells the user of mistakes."""
        from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
        from pyspark.errors import PySparkException

        is_small = sum(table.nbytes for table in rows.values()) <= _MOST_BYTES
        try:
            with unlogged():
                if self._prepared is None or not self._prepared.is_valid():
                    schemas = {self._names[key]: table.schema for key, table in rows.items()}
                    text = self._render(self._names)[0]
                    self._prepared = prepare(self._relations.spark, text, schemas)
                    # Whoever is behind must not plan and compile when it has caught up and time matters.
                    if self._prepared is not None and not is_small:
                        self._prepared.run({name: schema.empty_table() for name, schema in schemas.items()})
                if self._prepared is not None:
                    named = {self._names[key]: table for key, table in rows.items()}
                    return self._prepared.run(named) if is_small else None
        except (PySparkException, Py4JJavaError):
            self._prepared = None
        self._can_be_prepared = False
        return None
