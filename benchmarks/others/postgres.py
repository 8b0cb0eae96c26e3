"""PostgreSQL from the system's packages: a server of our own in a temporary folder, on a Unix socket there.

Rows go in and out by binary COPY, from and to Arrow, through Arrow's own driver (ADBC): psycopg would take
longer, as it hands out Python objects or one row at a time. A batch is a transaction that commits
synchronously. The B-tree on (VID, T) answers the statements; BRIN on T is small and serves reads by time.
"""

from __future__ import annotations

import multiprocessing
import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from others.system import Reader, System, UnavailableError, arriving_files, install
from position_reports import PER_SECOND, VEHICLES, batches

_DRIVER = ("adbc-driver-postgresql>=1.8,<2", "adbc-driver-manager>=1.8,<2")
_SETTINGS = {
    "listen_addresses": "''",
    "shared_buffers": "2GB",
    "effective_cache_size": "8GB",
    "work_mem": "64MB",
    "maintenance_work_mem": "1GB",
    "synchronous_commit": "on",
    "fsync": "on",
    "autovacuum": "on",
    # Checkpoints by time, spread out, instead of every gigabyte of log.
    "max_wal_size": "8GB",
    "checkpoint_timeout": "15min",
    "checkpoint_completion_target": "0.9",
    # For solid-state disks.
    "random_page_cost": "1.1",
    "effective_io_concurrency": "200",
    # Compiling takes longer than these statements.
    "jit": "off",
}
_TABLE = "(vid int, spd int, xway int, lane int, dir int, seg int, pos int, t bigint)"
_INDEXES = ("CREATE INDEX ON {0} (vid, t)", "CREATE INDEX ON {0} USING brin (t)")
_START_SECONDS = 60


class PostgreSQL(System):
    """A server with one database, for whichever user may run it."""

    promise = "every committed row is in the fsynced write-ahead log: kept after both kinds of crash"

    def __init__(self, folder: Path) -> None:
        """Make a cluster, start the server."""
        programs = _programs()
        self._driver_folder = _driver()
        self._folder = folder
        identity = _identity(folder)
        made = subprocess.run(
            [programs / "initdb", "-D", folder / "data", "-U", "benchmark", "-A", "trust", "-E", "UTF8"],
            capture_output=True,
            text=True,
            check=False,
            **identity,
        )
        if made.returncode:
            raise UnavailableError(f"initdb failed: {made.stderr.strip().splitlines()[-1]}")
        settings = {**_SETTINGS, "unix_socket_directories": f"'{folder}'"}
        with (folder / "data" / "postgresql.conf").open("a") as file:
            file.writelines(f"{name} = {value}\n" for name, value in settings.items())
        with (folder / "server.log").open("w") as log:
            self._server = subprocess.Popen(
                [programs / "postgres", "-D", folder / "data"], stdout=log, stderr=log, **identity
            )
        self._address = f"postgresql:///postgres?host={folder}&user=benchmark"
        self._connections: list[Any] = []
        self._follower: multiprocessing.process.BaseProcess | None = None
        try:
            self._connection = self._connect_when_up()
            self._poll = self._connect()
            self.version = str(self._ask("SELECT current_setting('server_version')")).split()[0]
        except BaseException:
            self.close()
            raise
        self.unequal = ["PostgreSQL: the size on disk is that of table and indexes, without the recycled log"]

    def _connect(self) -> Any:
        connection = _connect(self._address, self._driver_folder)
        self._connections.append(connection)
        return connection

    def _connect_when_up(self) -> Any:
        end = time.monotonic() + _START_SECONDS
        while True:
            try:
                return self._connect()
            except Exception as failure:
                if self._server.poll() is None and time.monotonic() < end:
                    time.sleep(0.1)
                    continue
                words = (self._folder / "server.log").read_text(errors="replace").strip().splitlines()
                raise UnavailableError(
                    f"the server did not start: {words[-1] if words else failure}"
                ) from failure

    def _execute(self, *statements: str) -> None:
        with self._connection.cursor() as cursor:
            for text in statements:
                cursor.execute(text)

    def _ask(self, text: str) -> Any:
        with self._connection.cursor() as cursor:
            cursor.execute(text)
            return cursor.fetchone()[0]

    def fill(self, rows: int) -> None:
        """Load, make the indexes, gather statistics and mark the pages as visible to all."""
        self._execute(f"CREATE TABLE posreports {_TABLE}")
        for part in batches(rows):
            _copy(self._connection, "posreports", part)
        self._execute(*(text.format("posreports") for text in _INDEXES))
        self._execute("VACUUM (ANALYZE) posreports", "CHECKPOINT")

    def follow(self, spool: Path) -> None:
        """A client in a process of its own, as loaders are."""
        self._follower = multiprocessing.get_context("spawn").Process(
            target=_insert_arriving, args=(self._address, self._driver_folder, str(spool)), daemon=True
        )
        self._follower.start()

    def stop_following(self) -> None:
        """Once all is visible, the client does nothing."""
        if self._follower is None:
            return
        if self._follower.exitcode is not None:
            raise RuntimeError(f"the client that inserts ended with code {self._follower.exitcode}")
        self._follower.terminate()
        self._follower.join()

    def reader(self) -> Reader:
        """A connection of its own."""
        connection = self._connect()

        def ask(text: str) -> pa.Table:
            with connection.cursor() as cursor:
                cursor.execute(text)
                return cursor.fetch_arrow_table()

        return ask

    def visible_rows(self, totals: Sequence[int]) -> int:
        """By the last rows of the batches, through the B-tree: a count would read the whole table."""
        if not totals:
            return 0
        last = {((total - 1) % VEHICLES, (total - 1) // PER_SECOND): total for total in totals}
        keys = ", ".join(f"({vid}, {second})" for vid, second in last)
        with self._poll.cursor() as cursor:
            cursor.execute(f"SELECT vid, t FROM posreports WHERE (vid, t) IN (VALUES {keys})")
            return max((last[vid, second] for vid, second in cursor.fetchall()), default=0)

    def insert(self, folder: Path) -> None:
        """One transaction a file."""
        self._execute(f"CREATE TABLE bulk {_TABLE}", *(text.format("bulk") for text in _INDEXES))
        for path in sorted(folder.glob("*.parquet")):
            _copy(self._connection, "bulk", pq.read_table(path))

    def bytes_on_disk(self) -> int:
        """Table and indexes."""
        return int(self._ask("SELECT pg_total_relation_size('posreports')"))

    def close(self) -> None:
        """A fast shutdown."""
        for connection in self._connections:
            connection.close()
        self._server.send_signal(signal.SIGINT)
        try:
            self._server.wait(_START_SECONDS)
        except subprocess.TimeoutExpired:
            self._server.send_signal(signal.SIGQUIT)
            self._server.wait()


def _programs() -> Path:
    """The folder with `initdb` and `postgres`, the newest version first."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    on_path = shutil.which("initdb")
    if found:
        return found[-1].parent
    if on_path:
        return Path(on_path).resolve().parent
    raise UnavailableError("no server here; on Debian: apt-get install postgresql")


def _driver() -> str:
    """The folder to import the driver from, or nothing where it is installed."""
    if find_spec("adbc_driver_postgresql") is not None:
        return ""
    return str(install("adbc-postgresql", *_DRIVER))


def _identity(folder: Path) -> dict[str, Any]:
    """Who runs the server: root can't, so the packages' user does, and gets the folder."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        os.chown(folder, user.pw_uid, user.pw_gid)
        return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": [], "cwd": folder}
    raise UnavailableError("root can't run the server, and there is no user postgres or nobody")


def _connect(address: str, driver_folder: str) -> Any:
    if driver_folder and driver_folder not in sys.path:
        sys.path.append(driver_folder)
    return import_module("adbc_driver_postgresql.dbapi").connect(address, autocommit=True)


def _copy(connection: Any, table: str, rows: pa.Table) -> None:
    """One COPY, which is a transaction."""
    named = rows.rename_columns([name.lower() for name in rows.schema.names])
    with connection.cursor() as cursor:
        cursor.adbc_ingest(table, named.combine_chunks(), mode="append")


def _insert_arriving(address: str, driver_folder: str, spool: str) -> None:
    connection = _connect(address, driver_folder)
    for files in arriving_files(Path(spool)):
        _copy(connection, "posreports", pa.concat_tables(pq.read_table(path) for path in files))
