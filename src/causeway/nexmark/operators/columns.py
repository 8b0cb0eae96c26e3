"""Queries that answer each event by itself: a function from an Arrow table of events to one of answers.

The task that reads a slice answers it. Its answers travel through Spark in cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

from causeway.nexmark.operators.answer_cells import ANSWER_CELLS, ANSWER_CELLS_DDL, cells_of
from causeway.nexmark.operators.kernels import Longs
from causeway.nexmark.operators.slice_reader import SliceReader

__all__ = ["Answers", "ColumnSource", "answers_named"]

Answers = Callable[[pa.Table], pa.Table]
"""From events of one stream to the answers; it also gets tables without a row."""

_CELLS: Final = pa.schema(list(zip(ANSWER_CELLS, (pa.int32(), pa.binary()), strict=True)))


class ColumnSource(DataSource):
    """The answers to the events of one stream; a part is a slice.

    Options: those of `SliceReader`, `stream`, `columns` (with commas between them) and `answers`, the
    function as `module:name`.
    """

    @classmethod
    def name(cls) -> str:
        return "nexmark-columns"

    def schema(self) -> str:
        return ANSWER_CELLS_DDL

    def streamReader(self, schema: Any) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        return _ColumnReader(dict(self.options))


class _ColumnReader(SliceReader):
    @property
    def _streams(self) -> Sequence[str]:
        return [self._options["stream"]]

    @cached_property
    def _columns(self) -> Mapping[str, Sequence[str]]:
        return {self._options["stream"]: self._options["columns"].split(",")}

    def _late_from(self, stream: str, events: pa.Table) -> Longs | None:
        return None

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        answers = answers_named(self._options["answers"])
        ((stream, names),) = self._columns.items()
        streams = self._model.streams[stream]
        nothing = pa.schema([streams.field(name) for name in names]).empty_table()
        for number, tables, _ in self._read_slices(*partition.value):
            # The end has no events; its cell still says which columns an answer has.
            answered = answers(nothing if tables is None else tables[stream])
            for cell in cells_of(answered):
                yield pa.record_batch([[number], [cell]], schema=_CELLS)


def answers_named(name: str) -> Answers:
    """The function `module:name` of this package, for tasks that get its name only."""
    module, _, made = name.partition(":")
    if not module.startswith("causeway.nexmark."):
        raise ValueError(f"{name} is no function of this program")
    answers: Answers = getattr(import_module(module), made)
    return answers
