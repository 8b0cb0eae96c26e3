"""Whether a source's columns match the table's, told when the insert starts."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from causeway.runtime.errors import UserError
from causeway.streaming_tables.sources.feeds.file_list import FileFormat
from causeway.streaming_tables.sources.feeds.files_feed import csv_names
from causeway.streaming_tables.sources.parsing.casts import column_rules, sql_type
from causeway.streaming_tables.sources.parsing.json_rows import first_object, is_json
from causeway.streaming_tables.sources.parsing.parquet_rows import check_types, match_parquet
from causeway.streaming_tables.sources.parsing.target import ColumnsError, Reading, match_columns

__all__ = ["check_file", "check_text_types"]


def check_file(path: Path, file_format: FileFormat, reading: Reading) -> None:
    """Raise `ColumnsError` where the file lacks columns or has others; a damaged file passes.

    It is rejected when it is read, since better ones may follow it.
    """
    where = str(path)
    try:
        if file_format == "parquet":
            try:
                schema = pq.read_schema(path)
            except pa.ArrowException:
                return
            match_parquet(schema, reading, where)
        elif file_format == "json":
            _check_json(path, reading, where)
        else:
            _check_csv(path, file_format, reading, where)
    except OSError as unreadable:
        raise UserError(f"{path} cannot be read: {unreadable.strerror or unreadable}") from unreadable


def check_text_types(reading: Reading, where: str) -> None:
    """Raise `ColumnsError` where a column of the table cannot be made of text."""
    check_types([pa.string()] * len(reading.target.schema), reading, where)


def _check_csv(path: Path, file_format: FileFormat, reading: Reading, where: str) -> None:
    names = csv_names(path, file_format, reading)
    if not any(names):
        return
    try:
        match_columns(names, reading, where)
    except ColumnsError as mismatch:
        if file_format == "csv" and reading.header:
            raise ColumnsError(
                f"{mismatch}. If the file has no line of names, say OPTIONS (header = false)"
            ) from None
        raise
    check_text_types(reading, where)


def _check_json(path: Path, reading: Reading, where: str) -> None:
    sample = first_object(path)
    if not sample:
        return
    keys = list(sample)
    match = match_columns(keys, reading, where)
    # Only integers for a TIMESTAMP are no matter of single rows: the user must say what they count.
    types = [
        pa.int64() if isinstance(sample[keys[index]], int) and pa.types.is_timestamp(rule.type) else rule.type
        for index, rule in zip(match.indexes, column_rules(reading), strict=True)
    ]
    check_types(types, reading, where)
    for rule in column_rules(reading):
        if not is_json(rule):
            raise ColumnsError(
                f"{where}: {rule.name} is of type {sql_type(rule.type)}, which cannot be read from JSON"
            )
