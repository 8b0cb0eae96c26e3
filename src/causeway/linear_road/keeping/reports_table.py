"""Position reports as rows of a streaming table, with the columns of the paper's POSREPORTS (Table I)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from causeway.linear_road.model.tuples import TupleType
from causeway.runtime.errors import UserError
from causeway.streaming_tables.engine.catalog.warehouse import Warehouse
from causeway.streaming_tables.storage import (
    ColumnDefinition,
    IndexDefinition,
    TableDefinition,
    TableStore,
    TimeDefinition,
    default_compartment,
)

__all__ = ["REPORTS_TABLE", "SPOOL_COLUMNS", "check_table_name", "open_reports_table", "report_rows"]

REPORTS_TABLE: Final = "POSREPORTS"
"""The paper's name of the table, which the statements over streaming tables use."""

_COLUMNS: Final = ("VID", "SPD", "XWAY", "LANE", "DIR", "SEG", "POS")
_INDEXED: Final = "VID"
_RANGE: Final = 14 * 24 * 3600
"""The historical period of Table I (a): two weeks."""

_FIELDS: Final = ("VID", "Spd", "XWay", "Lane", "Dir", "Seg", "Pos", "Time")
SPOOL_COLUMNS: Final = ("Type", *_FIELDS)
"""The columns of an input tuple that are needed."""

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_RESERVED: Final = ("__late", "__rejected")


def check_table_name(name: str) -> None:
    """Refuse a name that cannot be a streaming table's."""
    if not _NAME.fullmatch(name) or name.lower().endswith(_RESERVED):
        raise UserError(
            f"{name!r} cannot be the name of the table that keeps the reports; "
            "give a letter, followed by letters, digits and underscores, as in POSREPORTS"
        )


def open_reports_table(warehouse: Path, name: str) -> TableStore:
    """The table `name` of a warehouse, indexed by vehicle; both are made if they are missing."""
    opened = Warehouse(warehouse)
    store = opened.store(name)
    if store is not None:
        return store
    time = TimeDefinition()
    return opened.create(
        TableDefinition(
            name=name,
            columns=tuple(ColumnDefinition(column, "int") for column in _COLUMNS),
            time=time,
            range=_RANGE,
            slack=0,
            compartment=default_compartment(time, _RANGE),
            indexes=(IndexDefinition(f"IDX_{_INDEXED}", _INDEXED),),
        )
    )


def report_rows(tuples: pa.Table, schema: pa.Schema) -> pa.Table:
    """The position reports among input tuples, as rows with the table's schema, in the same order."""
    is_report = pc.equal(tuples.column("Type"), TupleType.POSITION_REPORT.value)
    if not pc.all(is_report).as_py():
        tuples = tuples.filter(is_report)
    columns = [tuples.column(field).cast(kind) for field, kind in zip(_FIELDS, schema.types, strict=True)]
    return pa.Table.from_arrays(columns, schema=schema)
