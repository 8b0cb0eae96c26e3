"""DuckDB, in one process, as its guides advise: Parquet read by DuckDB itself, one transaction a batch."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import duckdb
import numpy as np

from others.system import Reader, System, arriving_files, folder_bytes
from position_reports import ANSWERS, PER_SECOND, batches, statement

_TABLE = "(VID INT, SPD INT, XWAY INT, LANE INT, DIR INT, SEG INT, POS INT, T BIGINT)"
_INDEX = "CREATE INDEX vid_{0} ON {0} (VID)"
_TRIALS = 10
_WORTH_ITS_INSERTS = 0.9
"""The index costs inserts time, so reads must take no more than this share of the time without it."""


class DuckDB(System):
    """A database file; rows are in time order, so its zone maps answer the time predicate."""

    promise = "every committed row is in the fsynced write-ahead log: kept after both kinds of crash"

    def __init__(self, folder: Path) -> None:
        """Open a new database."""
        self._folder = folder
        self._database = duckdb.connect(str(folder / "reports.duckdb"))
        # The default of 16 MB would stop inserts for a checkpoint every few seconds.
        self._database.execute("SET checkpoint_threshold = '256MB'")
        self.version = duckdb.__version__
        self.unequal = [
            "DuckDB: readers must be in the writer's process; another process can't read meanwhile"
        ]
        self._poll = self._database.cursor()
        self._failure: Exception | None = None
        self._ended = threading.Event()
        self._follower: threading.Thread | None = None
        self._indexed = False

    def fill(self, rows: int) -> None:
        """Load, then keep the index on the vehicle only if reads are faster with it."""
        self._database.execute(f"CREATE TABLE posreports {_TABLE}")
        for part in batches(rows):
            self._database.register("part", part)
            self._database.execute("INSERT INTO posreports SELECT * FROM part")
        self._database.unregister("part")
        self._database.execute("CHECKPOINT")
        without = self._trial(rows)
        self._database.execute(_INDEX.format("posreports"))
        indexed = self._trial(rows)
        self._indexed = indexed < _WORTH_ITS_INSERTS * without
        if not self._indexed:
            self._database.execute("DROP INDEX vid_posreports")
        self._database.execute("CHECKPOINT")
        self.unequal.append(
            f"DuckDB: {'with' if self._indexed else 'without'} an ART index on VID, the better of both "
            f"(reads took {indexed:.1f} ms with, {without:.1f} ms without)"
        )

    def _trial(self, rows: int) -> float:
        ask, chance, taken = self.reader(), np.random.default_rng(5), []
        for _ in range(2 * _TRIALS):
            text = statement(chance, ANSWERS[0], rows // PER_SECOND)
            began = time.perf_counter()
            ask(text)
            taken.append(1000 * (time.perf_counter() - began))
        return statistics.median(taken[_TRIALS:])

    def follow(self, spool: Path) -> None:
        """A thread with a cursor of its own."""
        self._follower = threading.Thread(target=self._insert_arriving, args=(spool,), daemon=True)
        self._follower.start()

    def _insert_arriving(self, spool: Path) -> None:
        try:
            with self._database.cursor() as cursor:
                for files in arriving_files(spool, self._ended):
                    cursor.execute(
                        "INSERT INTO posreports SELECT * FROM read_parquet(?)",
                        [[str(path) for path in files]],
                    )
        except Exception as failure:
            self._failure = failure

    def stop_following(self) -> None:
        """Let the last transaction end."""
        self._ended.set()
        if self._follower is not None:
            self._follower.join()
        if self._failure is not None:
            raise self._failure

    def reader(self) -> Reader:
        """A cursor of its own."""
        cursor = self._database.cursor()
        return lambda text: cursor.execute(text).to_arrow_table()

    def visible_rows(self, totals: Sequence[int]) -> int:
        """A count, which DuckDB has at hand."""
        found = self._poll.execute("SELECT count(*) FROM posreports").fetchone()
        assert found is not None
        return int(found[0])

    def insert(self, folder: Path) -> None:
        """One transaction a file."""
        self._database.execute(f"CREATE TABLE bulk {_TABLE}")
        if self._indexed:
            self._database.execute(_INDEX.format("bulk"))
        for path in sorted(folder.glob("*.parquet")):
            self._database.execute("INSERT INTO bulk SELECT * FROM read_parquet(?)", [str(path)])

    def bytes_on_disk(self) -> int:
        """The database and its write-ahead log."""
        return folder_bytes(self._folder)

    def close(self) -> None:
        """The file is removed with its folder."""
        self._database.close()
