"""Our streaming tables, through `causeway.connect`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from causeway import __version__
from causeway.spark.session import spark_session
from causeway.streaming_tables import connect
from others.system import Reader, System, folder_bytes
from position_reports import CREATE, fill


class StreamingTables(System):
    """A warehouse with a value index on the vehicle and a continuous insert from the spool."""

    promise = "every acknowledged row is fsynced: kept after a crash of the program and of the machine"

    def __init__(self, folder: Path) -> None:
        """Start Spark and open a new warehouse."""
        self._stack = ExitStack()
        spark = self._stack.enter_context(spark_session("comparison", "local[*]"))
        self._connection = self._stack.enter_context(connect(folder / "warehouse", spark))
        self.version = f"{__version__} on Spark {spark.version}"
        self.unequal = []

    def fill(self, rows: int) -> None:
        """As `streaming_tables.py` does."""
        fill(self._connection, rows)
        self._store = self._connection.warehouse.require("posreports")

    def follow(self, spool: Path) -> None:
        """A continuous insert."""
        self._connection.sql(f"INSERT INTO posreports VALUES FROM '{spool}' OPTIONS (format = 'parquet')")

    def stop_following(self) -> None:
        """Raises what ended the insert, if something did."""
        self._connection.wait_for("posreports")

    def reader(self) -> Reader:
        """The connection is for many threads."""
        return lambda text: self._connection.sql(text).to_arrow()  # type: ignore[union-attr]

    def visible_rows(self, totals: Sequence[int]) -> int:
        """From a new snapshot, as a statement takes one."""
        return int(self._store.snapshot().rows_total)

    def insert(self, folder: Path) -> None:
        """A continuous insert from a folder that ends."""
        self._connection.sql(CREATE.replace("posreports", "bulk"))
        self._connection.sql("CREATE INDEX idx_bulk ON bulk (VID)")
        self._connection.sql(f"INSERT INTO bulk VALUES FROM '{folder}' OPTIONS (once = true)")
        self._connection.sql("WAIT FOR bulk")

    def bytes_on_disk(self) -> int:
        """Log, Delta table and indexes."""
        return folder_bytes(self._connection.warehouse.folder / "tables" / "posreports")

    def close(self) -> None:
        """With Spark."""
        self._stack.close()
