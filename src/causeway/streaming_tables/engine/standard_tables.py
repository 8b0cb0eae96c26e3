"""Standard tables: Spark's own, kept in the warehouse.

Spark's built-in catalog forgets its tables when the session ends, while their files stay. So the definitions
of tables in the warehouse are written down after each statement that may have changed them, and made known to
every session that opens the warehouse.

    W/standard/<table>/        the rows, as Spark's provider writes them
    W/standard.json            provider and columns of each table
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from causeway.runtime.output_folder import write_json
from causeway.streaming_tables.language.tokens import quote_identifier

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["StandardTables"]

_WORDS: Final = frozenset(
    {"CREATE", "DROP", "ALTER", "REPLACE", "INSERT", "TRUNCATE", "MERGE", "LOAD", "BEGIN"}
)


class StandardTables:
    """The tables of Spark's catalog that are in a warehouse."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark = spark
        self._folder = folder
        self._facts = folder.with_suffix(".json")
        self._seen: tuple[int, int] | None = None
        self._own: set[str] = set()
        """The tables of the warehouse that this session knows."""

    def may_change(self, first_word: str) -> bool:
        """Whether a statement that begins with this word may change a table."""
        return first_word.upper() in _WORDS

    def load(self) -> None:
        """Make tables known that this session has not seen; forget those that another process dropped."""
        stamp = self._stamp()
        if stamp is None or stamp == self._seen:
            return
        kept = self._read()
        known = self._names()
        for name, facts in kept.items():
            if name not in known:
                columns = ", ".join(f"{quote_identifier(one)} {kind}" for one, kind in facts["columns"])
                self._spark.sql(
                    f"CREATE TABLE IF NOT EXISTS {quote_identifier(name)} ({columns}) "
                    f"USING {facts['provider']} LOCATION '{(self._folder / name).as_posix()}'"
                )
                self._own.add(name)
            elif name in self._own or self._describe(name) is not None:
                self._spark.catalog.refreshTable(name)
                self._own.add(name)
        for name in self._own - set(kept):
            if name in known and not (self._folder / name).exists():
                self._spark.sql(f"DROP TABLE IF EXISTS {quote_identifier(name)}")
        self._own &= set(kept)
        self._seen = stamp

    def save(self) -> None:
        """Write down the tables that are there after a statement.

        The session may have tables of its own elsewhere, and other processes may have made tables since this
        one looked: both are left alone.
        """
        earlier = self._read()
        present = {name: self._describe(name) for name in sorted(self._names())}
        own = {name: facts for name, facts in present.items() if facts is not None}
        dropped = self._own - set(own)
        for name in dropped - set(present):
            # A table that was made known from its files is dropped by Spark without them.
            shutil.rmtree(self._folder / name, ignore_errors=True)
        tables = {name: facts for name, facts in earlier.items() if name not in dropped} | own
        if tables != earlier:
            write_json(self._facts, {"layout": 1, "tables": tables})
        elif self._facts.exists():
            self._facts.touch()
        self._own = set(own)
        self._seen = self._stamp()

    def _read(self) -> dict[str, Any]:
        if not self._facts.exists():
            return {}
        tables: dict[str, Any] = json.loads(self._facts.read_text())["tables"]
        return tables

    def _names(self) -> set[str]:
        return {
            table.name
            for table in self._spark.catalog.listTables("default")
            if not table.isTemporary and table.tableType in ("MANAGED", "EXTERNAL")
        }

    def _describe(self, name: str) -> dict[str, Any] | None:
        """Provider and columns of a table in the warehouse; None for one that is somewhere else."""
        rows = self._spark.sql(f"DESCRIBE TABLE EXTENDED {quote_identifier(name)}").collect()
        facts = {row["col_name"]: row["data_type"] for row in rows}
        location = str(facts.get("Location", "")).removeprefix("file:")
        if not location or Path(location).resolve() != (self._folder / name).resolve():
            return None
        columns = [
            (field.name, field.dataType.simpleString()) for field in self._spark.table(name).schema.fields
        ]
        return {"provider": facts.get("Provider", "parquet"), "columns": columns}

    def _stamp(self) -> tuple[int, int] | None:
        try:
            found = self._facts.stat()
        except FileNotFoundError:
            return None
        return found.st_mtime_ns, found.st_ino
