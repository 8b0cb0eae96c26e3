"""The statements of the benchmark, from the files beside this one, on a run's warehouse."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Final

import pyarrow as pa

from causeway.streaming_tables import Answer, Connection, split_script
from causeway.streaming_tables.engine.writes.inserts import Inserts

__all__ = ["INPUTS", "STAGES", "begin", "segment_rows"]

_DEFINITIONS: Final = (
    "1_input.sql",
    "2_moves.sql",
    "3_segstat.sql",
    "4_stopped.sql",
    "5_accidents.sql",
    "6_tolls.sql",
    "7_crossings.sql",
)
_FEED: Final = "8_feed.sql"
_SPOOL: Final = "'SPOOL'"

INPUTS: Final = ("POSREPORTS", "REQUESTS")
"""The tables that the driver's tuples enter."""
STAGES: Final = ("POSREPORTS", "MOVES", "TOLLS", "CROSSINGS")
"""The tables that a report passes on its way to an answer, in their order."""


def begin(db: Connection, spool: Path) -> None:
    """Make what is not there yet: tables, views, and the inserts from `spool`.

    Everything that a warehouse has goes on by itself when it is opened, so that this may be called again.
    """
    for name in _DEFINITIONS:
        for statement in split_script(_text(name)):
            db.sql(statement)
    inserts = Inserts(db.warehouse)
    place = "'" + str(spool.resolve()).replace("\\", "\\\\").replace("'", "\\'") + "'"
    for table, statement in zip(INPUTS, split_script(_text(_FEED)), strict=True):
        if not inserts.of_table(table):
            db.sql(statement.text.replace(_SPOOL, place))


def segment_rows(db: Connection) -> pa.Table:
    """The traffic and tolls of every segment and minute so far."""
    (statement,) = split_script(_text("segments.sql"))
    answer = db.sql(statement)
    assert isinstance(answer, Answer)
    return answer.to_arrow()


def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text()
