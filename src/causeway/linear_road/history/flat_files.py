"""The papers' flat history files, in which all expressways stand together, split into Parquet files of each.

A part of a file is read by itself, so that many can be at once, and memory is that of a part.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from causeway.runtime.errors import UserError

__all__ = ["PART_BYTES", "parts_of", "split_part"]

PART_BYTES = 32 << 20


def parts_of(flat_file: Path) -> range:
    """Where the parts of a file begin."""
    return range(0, flat_file.stat().st_size, PART_BYTES)


def split_part(flat_file: Path, begin: int, columns: Sequence[str], folder: Path) -> int:
    """Write the rows whose lines start in a part to `folder/xway-00000.parquet`, …; return how many.

    Rows of an expressway below 0 are passed over, since nobody can ask for them.
    """
    try:
        rows = _read(flat_file, begin, columns)
    except pa.ArrowInvalid as wrong:
        raise UserError(f"{flat_file} is not {','.join(columns)} in whole numbers: {wrong}") from wrong
    folder.mkdir(parents=True, exist_ok=True)
    xway = rows.column("XWay").to_numpy()
    for number in np.unique(xway[xway >= 0]).tolist():
        pq.write_table(rows.filter(pa.array(xway == number)), folder / f"xway-{number:05d}.parquet")
    return int((xway >= 0).sum())


def _read(flat_file: Path, begin: int, columns: Sequence[str]) -> pa.Table:
    with flat_file.open("rb") as file:
        first = _next_line(file, begin)
        text = file.read(max(0, _next_line(file, begin + PART_BYTES) - file.seek(first)))
    schema = pa.schema([pa.field(name, pa.int32(), nullable=False) for name in columns])
    if not text.strip():
        return schema.empty_table()
    rows = pyarrow.csv.read_csv(
        pa.BufferReader(text),
        pyarrow.csv.ReadOptions(column_names=list(columns)),
        # Else a quote would open a field that ends who knows where.
        pyarrow.csv.ParseOptions(quote_char=False),
        pyarrow.csv.ConvertOptions(column_types=schema, null_values=[""]),
    )
    for name in columns:
        if rows.column(name).null_count:
            raise pa.ArrowInvalid(f"{name} is empty in {rows.column(name).null_count} row(s)")
    return rows


def _next_line(file: BinaryIO, place: int) -> int:
    """Where the first line starts that does so at `place` or after it."""
    if place == 0:
        return 0
    file.seek(place - 1)
    file.readline()
    return file.tell()
