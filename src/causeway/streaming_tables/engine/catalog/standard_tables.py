"""Standard tables: Spark's own tables and views, kept in the warehouse.

Spark's built-in catalog forgets its databases, tables and views when the session ends, while the files of
tables stay. So their definitions are written down after each statement that may have changed them, and made
known to every session that opens the warehouse.

    W/standard/<table>/, W/standard/<database>.db/<table>/   the rows, as Spark's provider writes them
    W/standard.json                                          databases; statements of tables and views

In a session that is not the connection's own, the catalog is somebody else's: there only tables whose files
are in the warehouse are written down.
"""

from __future__ import annotations

import json
import re
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from causeway.runtime.output_folder import write_json
from causeway.streaming_tables.engine.plans.spark_errors import unlogged
from causeway.streaming_tables.language.tokens import quote_identifier, quote_string

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["StandardTables"]

_LAYOUT: Final = 2
_CATALOG: Final = "spark_catalog"
_DEFINING_WORDS: Final = frozenset({"CREATE", "DROP", "ALTER", "REPLACE", "BEGIN"})
_WRITING_WORDS: Final = frozenset({"INSERT", "TRUNCATE", "MERGE", "LOAD", "MSCK"})
_LOCATION: Final = re.compile(r"^LOCATION '.*'\n?", re.MULTILINE)

Facts = dict[str, Any]


class StandardTables:
    """The tables and views of Spark's catalog that are in a warehouse, by database and name."""

    def __init__(self, spark: SparkSession, folder: Path, *, own_session: bool) -> None:
        self._spark = spark
        self._folder = folder
        self._own_session = own_session
        self._file = folder.with_suffix(".json")
        self._seen: tuple[int, int] | None = None
        self._known: set[str] = set()
        """The tables and views of the warehouse that this session knows."""
        self._known_databases: set[str] = set()

    def may_change(self, first_word: str) -> bool:
        """Whether a statement that begins with this word may change a table."""
        return first_word.upper() in _DEFINING_WORDS | _WRITING_WORDS

    def load(self) -> None:
        """Make known what this session has not seen; forget what another process dropped."""
        stamp = self._stamp()
        if stamp is None or stamp == self._seen:
            return
        kept = self._read()
        databases, tables = self._databases(), self._names()
        for name, location in kept["databases"].items():
            if name not in databases:
                place = quote_string((self._folder / location).as_posix())
                self._spark.sql(f"CREATE DATABASE IF NOT EXISTS {_quoted(name)} LOCATION {place}")
            self._known_databases.add(name)
        waiting = dict(kept["tables"])
        for key in [key for key in waiting if key in tables]:
            facts = waiting.pop(key)
            if key in self._known or self._is_same(key, facts):
                self._refresh(key, facts)
                self._known.add(key)
        while waiting:
            # A view may read another one, so what cannot be made yet is tried again after the others.
            made = [key for key, facts in waiting.items() if self._make(key, facts)]
            for key in made:
                del waiting[key]
            self._known |= set(made)
            if not made:
                break
        for key in self._known - set(kept["tables"]):
            if key in tables:
                kind = "VIEW" if tables[key] == "VIEW" else "TABLE"
                self._spark.sql(f"DROP {kind} IF EXISTS {_quoted(key)}")
        self._known &= set(kept["tables"])
        self._seen = stamp

    def save(self, first_word: str) -> None:
        """Write down what is there after a statement that begins with this word.

        The session may have tables of its own elsewhere, and other processes may have made tables since this
        one looked: both are left alone.
        """
        if first_word.upper() in _DEFINING_WORDS:
            self._save()
        elif self._file.exists():
            # Other processes must look at the files again.
            self._file.touch()
        self._seen = self._stamp()

    def _save(self) -> None:
        earlier = self._read()
        present = {key: self._describe(key) for key in sorted(self._names())}
        own = {key: facts for key, facts in present.items() if facts is not None}
        gone = {
            key
            for key in self._known
            # A table that is somewhere else now is another one of the same name.
            if key not in present or (key not in own and "folder" in earlier["tables"].get(key, {}))
        }
        used = {facts.get("folder") for facts in own.values()}
        for key in gone - set(present):
            folder = earlier["tables"].get(key, {}).get("folder")
            if folder is not None and folder not in used:
                # A table that was made known from its files is dropped by Spark without them.
                shutil.rmtree(self._folder / folder, ignore_errors=True)
        databases = self._databases()
        kept: Facts = {
            "layout": _LAYOUT,
            "databases": {
                name: location
                for name, location in (earlier["databases"] | self._own_databases(databases)).items()
                if name in databases or name not in self._known_databases
            },
            "tables": {key: facts for key, facts in earlier["tables"].items() if key not in gone} | own,
        }
        if kept != earlier:
            write_json(self._file, kept)
        elif self._file.exists():
            self._file.touch()
        self._known = (self._known - gone) | set(own)
        self._known_databases = set(kept["databases"]) & set(databases)

    def _read(self) -> Facts:
        if not self._file.exists():
            return {"layout": _LAYOUT, "databases": {}, "tables": {}}
        facts: Facts = json.loads(self._file.read_text())
        return facts

    def _databases(self) -> list[str]:
        """The databases of the session."""
        return [str(row[0]) for row in self._spark.sql(f"SHOW DATABASES IN {_CATALOG}").collect()]

    def _own_databases(self, databases: list[str]) -> dict[str, str]:
        """Those that the warehouse keeps, with their folders in it."""
        found = {}
        for name in databases:
            rows = self._spark.sql(f"DESCRIBE DATABASE {_quoted(name)}").collect()
            location = _path({row[0]: row[1] for row in rows}.get("Location", ""))
            inside = self._inside(location)
            if name != "default" and (inside is not None or self._own_session):
                found[name] = str(location) if inside is None else inside
        return found

    def _names(self) -> dict[str, str]:
        """All tables and views, as `database.name`, with their types."""
        found = {}
        for database in self._databases():
            for table in self._spark.catalog.listTables(f"{_CATALOG}.{quote_identifier(database)}"):
                if not table.isTemporary:
                    found[f"{database}.{table.name}"] = table.tableType or ""
        return found

    def _describe(self, key: str) -> Facts | None:
        """How to make a table or view again; None for one that the warehouse does not keep."""
        rows = self._spark.sql(f"DESCRIBE TABLE EXTENDED {_quoted(key)}").collect()
        facts = {row["col_name"]: row["data_type"] for row in rows}
        inside = self._inside(_path(facts.get("Location", "")))
        if inside is None and not self._own_session:
            return None
        statement = self._statement(key)
        if statement is None:
            return None
        if facts.get("Type") == "VIEW":
            # Names in its query are those of the database that was the current one.
            namespace = str(facts.get("View Catalog and Namespace", "")).rpartition(".")[2].strip("`")
            return {"statement": statement, "namespace": namespace or "default"}
        return (
            {"statement": statement}
            if inside is None
            else {
                "statement": _LOCATION.sub("", statement),
                "folder": inside,
            }
        )

    def _statement(self, key: str) -> str | None:
        from pyspark.errors import PySparkException

        try:
            with unlogged():
                rows = self._spark.sql(f"SHOW CREATE TABLE {_quoted(key)}").collect()
        except PySparkException:
            return None
        return str(rows[0][0])

    def _is_same(self, key: str, facts: Facts) -> bool:
        """Whether a table of the session is the one that the warehouse keeps, and not another of its name."""
        found = self._describe(key)
        return found is not None and found.get("folder") == facts.get("folder")

    def _make(self, key: str, facts: Facts) -> bool:
        """Make a table or view known to the session; whether it worked."""
        from pyspark.errors import PySparkException

        statement = facts["statement"]
        if "folder" in facts:
            statement += f"\nLOCATION {quote_string((self._folder / facts['folder']).as_posix())}"
        current = self._spark.catalog.currentDatabase()
        try:
            with unlogged():
                self._spark.catalog.setCurrentDatabase(facts.get("namespace", current))
                self._spark.sql(statement)
            self._refresh(key, facts)
        except PySparkException:
            return False
        finally:
            self._spark.catalog.setCurrentDatabase(current)
        return True

    def _refresh(self, key: str, facts: Facts) -> None:
        """Let Spark look at a table's files again, and at the partitions that are there."""
        from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
        from pyspark.errors import PySparkException

        if "namespace" in facts:
            return
        self._spark.sql(f"REFRESH TABLE {_quoted(key)}")
        if "\nPARTITIONED BY" in facts["statement"]:
            # A folder that is gone is an error of the statement that reads the table, not of this one.
            with suppress(PySparkException, Py4JJavaError), unlogged():
                self._spark.sql(f"MSCK REPAIR TABLE {_quoted(key)}")

    def _inside(self, location: Path | None) -> str | None:
        """A folder of the warehouse, relative to it; None for one that is somewhere else."""
        if location is None or not location.is_relative_to(self._folder.resolve()):
            return None
        return location.relative_to(self._folder.resolve()).as_posix()

    def _stamp(self) -> tuple[int, int] | None:
        try:
            found = self._file.stat()
        except FileNotFoundError:
            return None
        return found.st_mtime_ns, found.st_ino


def _quoted(key: str) -> str:
    return ".".join([_CATALOG, *(quote_identifier(part) for part in key.split("."))])


def _path(location: str) -> Path | None:
    """A folder by its URI; None unless it is on this machine's file system."""
    from urllib.parse import unquote, urlsplit

    parts = urlsplit(str(location))
    return Path(unquote(parts.path)).resolve() if location and parts.scheme in ("", "file") else None
