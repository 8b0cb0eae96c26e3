"""Spark's relations of streaming tables: empty ones to plan with, and snapshots with only what is needed.

Few rows become a local relation, which Spark has in its plan. Many are one Parquet relation with an explicit
list of files: the data files of the past, and one file with the rows that are still in the log.
"""

from __future__ import annotations

import itertools
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from causeway.spark.internals import frame_of_arrow, without_patterns
from causeway.streaming_tables.engine.catalog.moments import time_literal
from causeway.streaming_tables.engine.catalog.side_tables import SideTable
from causeway.streaming_tables.engine.plans.conditions import Disjunction
from causeway.streaming_tables.engine.plans.scans import ALWAYS
from causeway.streaming_tables.language.tokens import quote_identifier
from causeway.streaming_tables.storage import Comparison, Predicate, Snapshot

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Relations", "predicate_of"]

_NUMBERS: Final = itertools.count()
_LOCAL_ROWS: Final = 20_000
"""The most rows of a local relation: Spark copies them into its plan one by one."""
_SCRATCH_SECONDS: Final = 600.0
"""How long a temporary file stays for DataFrames that were made but not used yet."""


class Relations:
    """Makes relations in one Spark session."""

    def __init__(self, spark: SparkSession, scratch: Path) -> None:
        self.spark = spark
        self._scratch = scratch
        self._stubs: dict[tuple[str, str, bool], str] = {}
        self._lock = threading.Lock()
        self._files: list[tuple[float, Path]] = []

    @property
    def time_zone(self) -> str:
        return str(self.spark.conf.get("spark.sql.session.timeZone"))

    def stub(self, name: str, schema: pa.Schema, *, links: bool = False) -> str:
        """The name of an empty relation with a table's columns, to plan statements with.

        Spark's optimizer does not know that it is empty. With `links` it has the columns of a window whose
        rows are linked by PREV.
        """
        key = (name.lower(), schema.to_string(), links)
        with self._lock:
            if key not in self._stubs:
                columns = self._spark_schema(schema)
                if links:
                    columns = columns.add("__row", "long").add("__previous", "long")
                stub = self.unused_name(name)
                empty = self.spark.createDataFrame(self.spark.sparkContext.emptyRDD(), columns)
                empty.createTempView(stub)
                self._stubs[key] = stub
            return self._stubs[key]

    def content(self, content: Snapshot | SideTable, conditions: Disjunction = ALWAYS) -> DataFrame:
        """A table's content as of now; rows that cannot meet `conditions` may be missing."""
        if isinstance(content, SideTable):
            return self.arrow(content.rows)
        return self.snapshot(content, conditions)

    def snapshot(
        self,
        snapshot: Snapshot,
        conditions: Disjunction = ALWAYS,
        *,
        as_of: int | None = None,
        with_seq: bool = False,
    ) -> DataFrame:
        """A table's content with all columns; rows that cannot meet `conditions` may be missing."""
        definition = snapshot.definition
        predicate = predicate_of(conditions)
        found = snapshot.candidates(None, predicate, with_seq=with_seq, as_of=as_of)
        if not found.files and found.tail.num_rows <= _LOCAL_ROWS:
            return self.arrow(found.tail)
        if found.files and found.rows <= _LOCAL_ROWS:
            rows = snapshot.scan(None, predicate, with_seq=with_seq, as_of=as_of)
            if rows.num_rows <= _LOCAL_ROWS:
                return self.arrow(rows)
        files = [str(path) for path in found.files]
        if found.tail.num_rows:
            files.append(str(self._write_scratch(found.tail)))
        frame = self._parquet(files, found.tail.schema)
        name = quote_identifier(definition.time.name)
        lower, upper = found.time_from, found.time_to
        if lower is not None:
            frame = frame.where(f"{name} >= {time_literal(lower, definition.time.kind)}")
        if upper is not None:
            frame = frame.where(f"{name} <= {time_literal(upper, definition.time.kind)}")
        return frame

    def arrow(self, rows: pa.Table) -> DataFrame:
        """Rows of Arrow: a local relation, or a temporary file if there are many."""
        if rows.num_rows > _LOCAL_ROWS:
            return self._parquet([str(self._write_scratch(rows))], rows.schema)
        if rows.num_rows == 0:
            # Spark would otherwise plan nothing at all for an empty relation, and lose the types of the rest.
            return self.spark.createDataFrame([], self._spark_schema(rows.schema))
        return frame_of_arrow(self.spark, rows)

    @contextmanager
    def named(self, frames: Mapping[str, DataFrame]) -> Iterator[None]:
        """The relations under these names, which nobody else has, while a statement is analyzed."""
        try:
            for name, frame in frames.items():
                frame.createTempView(name)
            yield
        finally:
            for name in frames:
                self.spark.catalog.dropTempView(name)

    def unused_name(self, meaning: str) -> str:
        """A name for a temporary view that nobody else has."""
        plain = re.sub("[^a-z0-9]", "_", meaning.lower())
        return f"__causeway_{plain}_{next(_NUMBERS)}"

    def close(self) -> None:
        """Forget the empty relations, and remove temporary files."""
        for name in self._stubs.values():
            self.spark.catalog.dropTempView(name)
        self._stubs.clear()
        for _, path in self._files:
            path.unlink(missing_ok=True)
        self._files.clear()

    def _parquet(self, files: Sequence[str], schema: pa.Schema) -> DataFrame:
        # Without recursiveFileLookup Spark reads partition values from the folders' names.
        reader = self.spark.read.schema(self._spark_schema(schema)).option("recursiveFileLookup", "true")
        # A warehouse may have brackets in its path.
        reader = without_patterns(reader)
        # Damage is told, not served.
        return reader.option("parquet.page.verify-checksum.enabled", "true").parquet(*files)

    def _write_scratch(self, rows: pa.Table) -> Path:
        now = time.monotonic()
        with self._lock:
            while self._files and self._files[0][0] < now - _SCRATCH_SECONDS:
                self._files.pop(0)[1].unlink(missing_ok=True)
        path = self._scratch / f"rows-{next(_NUMBERS):09d}.parquet"
        pq.write_table(rows, path, compression="lz4", use_dictionary=False, write_statistics=False)
        with self._lock:
            self._files.append((now, path))
        return path

    def _spark_schema(self, schema: pa.Schema) -> Any:
        from pyspark.sql.pandas.types import from_arrow_schema

        return from_arrow_schema(schema)


def predicate_of(conditions: Disjunction) -> Predicate | None:
    """Conditions in the storage manager's words; None if every row meets them."""
    if () in conditions:
        return None
    return Predicate(
        tuple(
            tuple(Comparison(one.column, one.operator, one.value) for one in conjunction)
            for conjunction in conditions
        )
    )
