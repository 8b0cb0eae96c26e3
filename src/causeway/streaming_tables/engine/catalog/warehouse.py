"""A warehouse on disk: its tables, views, continuous inserts and standard tables.

W/causeway-warehouse.json   marks the folder, with a layout number
W/tables/<name>/            a streaming table or the content of a view
W/views/<name>.json         the statement of a view
W/inserts/<number>/         a continuous insert: its statement, state and Spark's checkpoint
W/standard/                 Spark's own tables
W/scratch/<process>-<n>/    temporary files of a connection; those of dead processes are removed
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from causeway import __version__
from causeway.runtime.errors import UserError
from causeway.runtime.output_folder import load_facts, refuse_used_folder, write_json
from causeway.streaming_tables.engine.catalog.side_tables import SideTable, base_of, side_relation, side_table
from causeway.streaming_tables.language import RelationInfo
from causeway.streaming_tables.storage import Snapshot, TableDefinition, TableStore, sync_folder

__all__ = ["ViewDefinition", "Warehouse"]

_FACTS: Final = "causeway-warehouse.json"
_LAYOUT: Final = 1
_SCRATCHES: Final = itertools.count()
_LONGEST_NAME: Final = 200
"""Bytes of a file's name that a table's name may take; file systems have 255."""


@dataclass(frozen=True)
class ViewDefinition:
    """A view with a historical period: its query, as the user wrote it, and the names of its columns."""

    name: str
    text: str
    """The whole statement."""
    columns: tuple[str, ...] | None


class Warehouse:
    """Finds and makes what is in a warehouse's folder. Other processes may change it at any time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self._stores: dict[str, TableStore] = {}
        self._lock = threading.RLock()
        self._prepare()

    @property
    def inserts(self) -> Path:
        return self.folder / "inserts"

    @property
    def standard(self) -> Path:
        return self.folder / "standard"

    def scratch(self) -> Path:
        """A new folder for the temporary files of one connection of this process."""
        folder = self.folder / "scratch" / f"{os.getpid()}-{next(_SCRATCHES)}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def remove_scratch(self) -> None:
        """Remove the temporary files of processes that have ended."""
        for folder in (self.folder / "scratch").glob("*-*"):
            process = folder.name.partition("-")[0]
            if process.isdigit() and not Path(f"/proc/{process}").exists() and Path("/proc").exists():
                shutil.rmtree(folder, ignore_errors=True)

    def store(self, name: str) -> TableStore | None:
        """The streaming table or view of that name, in any case."""
        key = name.lower()
        with self._lock:
            folder = self._table_folder(key)
            known = self._stores.get(key)
            if known is not None and not known.was_dropped and folder.is_dir():
                return known
            self._stores.pop(key, None)
            if _is_too_long(name) or not TableStore.is_at(folder):
                return None
            try:
                self._stores[key] = TableStore.open(folder)
            except (FileNotFoundError, UserError):
                # Another process may be removing it.
                if TableStore.is_at(folder):
                    raise
                return None
            return self._stores[key]

    def require(self, name: str) -> TableStore:
        """The same; a UserError if there is none."""
        store = self.store(name)
        if store is None:
            beside = base_of(name)
            if beside is not None and self.store(beside[0]) is not None:
                raise UserError(f"{name} can only be read: it has no windows, and its rows are not changed")
            raise UserError(f"there is no streaming table {name}")
        return store

    def stores(self) -> Iterator[TableStore]:
        """All streaming tables and views, by name."""
        folder = self.folder / "tables"
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if not path.name.startswith(".") and (store := self.store(_name_of(path.name))) is not None:
                yield store

    def create(self, definition: TableDefinition) -> TableStore:
        """Make a table."""
        if _is_too_long(definition.name):
            raise UserError(f"the name {definition.name[:20]}… is too long for a streaming table")
        with self._lock:
            store = TableStore.create(self._table_folder(definition.name.lower()), definition)
            self._stores[definition.name.lower()] = store
            return store

    def drop(self, name: str) -> None:
        """Remove a table with its rows, or a view with its content."""
        store = self.require(name)
        with self._lock:
            self._view_file(name).unlink(missing_ok=True)
            self._stores.pop(name.lower(), None)
            store.drop()

    def relation(self, name: str) -> RelationInfo | None:
        """What the language must know of a streaming table."""
        store = self.store(name)
        if store is None:
            beside = base_of(name)
            base = None if beside is None else self.store(beside[0])
            return None if beside is None or base is None else side_relation(base, beside[1])
        definition = store.definition
        return RelationInfo(
            name=definition.name,
            columns=tuple(column.name for column in definition.columns),
            time=definition.time.name,
            kind=definition.time.kind,
            is_view=definition.kind == "view",
        )

    def content(self, name: str) -> Snapshot | SideTable:
        """A streaming table's content as of now, or that of a table beside it."""
        store = self.store(name)
        if store is not None:
            return store.snapshot()
        beside = base_of(name)
        return (
            self.require(name).snapshot()
            if beside is None
            else side_table(self.require(beside[0]), beside[1])
        )

    def save_view(self, view: ViewDefinition) -> None:
        """Keep a view's statement."""
        file = self._view_file(view.name)
        file.parent.mkdir(exist_ok=True)
        write_json(file, asdict(view) | {"layout": _LAYOUT})
        sync_folder(file.parent)

    def view(self, name: str) -> ViewDefinition | None:
        """A view's statement."""
        file = self._view_file(name)
        return None if _is_too_long(name) or not file.exists() else _load_view(file)

    def views(self) -> list[ViewDefinition]:
        """All views, by name."""
        return [_load_view(file) for file in sorted((self.folder / "views").glob("*.json"))]

    def _prepare(self) -> None:
        facts = self.folder / _FACTS
        if facts.exists():
            load_facts(facts, _LAYOUT, absent="", without="")
            return
        if re.search(r"\\|%[0-9A-Fa-f]{2}", str(self.folder)):
            raise UserError(
                f"{self.folder}: a warehouse cannot be where a path has a \\ or a % with two digits"
            )
        refuse_used_folder(self.folder, replaces=("tables",))
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_json(facts, {"layout": _LAYOUT, "version": __version__})
        except OSError as refused:
            raise UserError(f"{self.folder} cannot be made: {refused.strerror}") from refused

    def _table_folder(self, key: str) -> Path:
        return self.folder / "tables" / _file_name(key)

    def _view_file(self, name: str) -> Path:
        return self.folder / "views" / f"{_file_name(name.lower())}.json"


def _load_view(file: Path) -> ViewDefinition:
    facts: dict[str, Any] = load_facts(file, _LAYOUT, absent="", without="")
    columns = facts["columns"]
    return ViewDefinition(facts["name"], facts["text"], None if columns is None else tuple(columns))


def _file_name(name: str) -> str:
    """A name as that of a file: what is no letter, digit or `_` is written as its code, `~20~` for a space.

    The Delta library and Spark take `%`, brackets and others of these for more than themselves.
    """
    return re.sub(r"\W", lambda found: f"~{ord(found.group()):x}~", name)


def _is_too_long(name: str) -> bool:
    return len(os.fsencode(_file_name(name.lower()))) > _LONGEST_NAME


def _name_of(file_name: str) -> str:
    return re.sub(r"~([0-9a-f]+)~", lambda found: chr(int(found.group(1), 16)), file_name)
