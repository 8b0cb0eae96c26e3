"""Parquet: runs of rows of a file, by row groups."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from causeway.streaming_tables.sources.parsing.casts import column_rules, is_readable, plain_value, sql_type
from causeway.streaming_tables.sources.parsing.rows import (
    Reject,
    chosen_tuples,
    convert_columns,
    good_rows,
    rejected_rows,
    with_source,
)
from causeway.streaming_tables.sources.parsing.target import ColumnsError, Match, Reading, match_columns

__all__ = ["check_types", "convert_batch", "match_parquet", "names_to_read", "read_parquet"]

_ROWS_AT_ONCE: Final = 1 << 17


def match_parquet(schema: pa.Schema, reading: Reading, where: str) -> Match:
    """The columns to read. Raises `ColumnsError` where a column is missing or of another kind."""
    match = match_columns(schema.names, reading, where)
    check_types([schema.field(index).type for index in match.indexes], reading, where)
    return match


def check_types(types: Sequence[pa.DataType], reading: Reading, where: str) -> None:
    """Raise `ColumnsError` for a column whose type can never become the table's."""
    for source, rule in zip(types, column_rules(reading), strict=True):
        if not is_readable(source, rule):
            advice = ""
            if pa.types.is_timestamp(rule.type) and pa.types.is_integer(source):
                advice = "; say what its integers count with OPTIONS (time_unit = 's', 'ms' or 'us')"
            raise ColumnsError(
                f"{where}: {rule.name} is of type {source}, which does not become "
                f"{sql_type(rule.type)}{advice}"
            )


def read_parquet(path: Path, start: int, end: int, source: str, reading: Reading) -> Iterator[pa.RecordBatch]:
    """The rows numbered `start` to `end`, not including it, counted from 0."""
    with pq.ParquetFile(path, memory_map=True) as file:
        schema = file.schema_arrow
        match = match_parquet(schema, reading, source)
        names = names_to_read(schema.names, match)
        for first, batch in _batches(file, names, start, end):
            numbers = np.arange(first, first + batch.num_rows)
            rows, rejects = convert_batch(batch, numbers, schema.names, match, reading)
            yield with_source(rows, source, 0, reading)
            yield from rejected_rows(source, rejects, reading)


def names_to_read(names: Sequence[str], match: Match) -> list[str]:
    """The columns of a file that are needed, each once."""
    needed = [*([match.kind] if match.kind is not None else []), *match.indexes]
    return list(dict.fromkeys(names[index] for index in needed))


def convert_batch(
    batch: pa.RecordBatch,
    numbers: NDArray[np.int64],
    names: Sequence[str],
    match: Match,
    reading: Reading,
) -> tuple[pa.RecordBatch, list[Reject]]:
    """The good rows of `batch` and the rejected ones.

    `numbers` are the rows' numbers in the file, from 0; rejects count from 1. `names` are all columns
    of the file, of which `batch` has those that are read.
    """
    rejects: list[Reject] = []
    numbers = numbers + 1
    if match.kind is not None:
        wanted, untyped = chosen_tuples(batch.column(names[match.kind]), reading)
        rejects += [
            (int(numbers[place]), reason, _as_json(batch, place)) for place, reason in untyped.items()
        ]
        if not wanted.all():
            batch, numbers = batch.filter(pa.array(wanted)), numbers[wanted]
    columns = [batch.column(names[index]) for index in match.indexes]
    converted, reasons = convert_columns(columns, column_rules(reading))
    rejects += [(int(numbers[place]), reason, _as_json(batch, place)) for place, reason in reasons.items()]
    return good_rows(converted, reasons, reading, numbers), sorted(rejects)


def _batches(
    file: pq.ParquetFile, names: Sequence[str], start: int, end: int
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Batches of the rows from `start` to `end`, each with the number of its first row."""
    footer = file.metadata
    groups: list[int] = []
    row = at = 0
    for group in range(footer.num_row_groups):
        after = row + footer.row_group(group).num_rows
        if after > start and row < end:
            if not groups:
                at = row
            groups.append(group)
        row = after
    if not groups:
        return
    for batch in file.iter_batches(
        batch_size=_ROWS_AT_ONCE, row_groups=groups, columns=list(names), use_threads=False
    ):
        first, last = max(start, at), min(end, at + batch.num_rows)
        if first < last:
            yield first, batch.slice(first - at, last - first)
        at += batch.num_rows
        if at >= end:
            return


def _as_json(batch: pa.RecordBatch, place: int) -> str:
    row = {name: plain_value(batch.column(name)[place]) for name in batch.schema.names}
    return json.dumps(row, default=str, ensure_ascii=False)
