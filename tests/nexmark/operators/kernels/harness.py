"""Kernels without Spark: dealt to shards, step by step, their state written down and read again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pyarrow as pa
from tests.nexmark.judge.batch.tables import Event

from causeway.nexmark.model import ARRIVAL, MODELS
from causeway.nexmark.operators.kernels import END_OF_TIME, Watermark, split_late
from causeway.nexmark.operators.source import deal
from causeway.nexmark.queries import Query
from causeway.streaming.cells import pack_table, unpack_table


class KeptState:
    """A shard's tables as bytes, as Spark keeps them."""

    def __init__(self) -> None:
        self.cells: dict[str, bytes] = {}
        self.late: list[tuple[str, dict[str, Any]]] = []

    def get(self, name: str) -> pa.Table | None:
        return unpack_table(self.cells[name]) if name in self.cells else None

    def put(self, name: str, table: pa.Table) -> None:
        self.cells[name] = pack_table(table)

    def remove(self, name: str) -> None:
        self.cells.pop(name, None)

    def keep_late(self, stream: str, late: pa.Table) -> None:
        self.late += [(stream, row) for row in late.to_pylist()]


def stepwise(
    query: Query,
    events: Sequence[Event],
    cuts: Sequence[int],
    shards: int,
    delay: int,
    *,
    end_apart: bool = True,
) -> tuple[list[dict[str, Any]], list[KeptState]]:
    """All answers to events that arrive in batches cut at `cuts`, and the states in the end.

    The end of the streams comes with the last batch, or in one of its own (`end_apart`).
    Late events are in the states, wherever they were found late.
    """
    kernel = query.make_kernel()
    model = MODELS[query.model]
    shards = 1 if kernel.dealt_by is None else shards
    states = [KeptState() for _ in range(shards)]
    answers: list[dict[str, Any]] = []
    before, newest = -(1 << 62), -(1 << 62)
    edges = sorted({0, *cuts, len(events)})
    batches = [*pairwise(edges), (len(events), len(events) + 1)]
    if not end_apart and len(batches) > 1:
        batches[-2:] = [(batches[-2][0], len(events) + 1)]
    for first, last in batches:
        tables = {}
        for stream, names in kernel.reads.items():
            rows = [
                {**row, ARRIVAL: at}
                for at, (name, row) in enumerate(events[first:last], first)
                if name == stream
            ]
            newest = max([newest, *(row[model.time[stream]] for row in rows)])
            fields = [model.streams[stream].field(name) for name in {*names, model.time[stream]}]
            table = pa.Table.from_pylist(rows, schema=pa.schema([*fields, (ARRIVAL, pa.int64())]))
            tables[stream], late = split_late(table, kernel.late_from(stream, table), before)
            if late is not None:
                states[0].keep_late(stream, late)
        shares: list[dict[str, pa.Table]] = [{} for _ in range(shards)]
        for stream, combined in kernel.combine_all(tables).items():
            column = None if kernel.dealt_by is None else kernel.dealt_by[stream]
            for share, cell in zip(shares, deal(combined, column, shards), strict=True):
                share[stream] = unpack_table(cell)
        now = END_OF_TIME if last > len(events) else newest - delay
        watermark = Watermark(before, max(before, now))
        for share, state in zip(shares, states, strict=True):
            answers += _milliseconds(query.make_kernel().step(share, watermark, state)).to_pylist()
        before = watermark.now
    return answers, states


def final(query: Query, answers: Sequence[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
    """What the answers amount to, in the columns of the query."""
    if query.final is not None:
        selected = re.search(r"SELECT (.*?)\s+FROM answer", query.final, re.DOTALL)
        assert selected is not None
        columns = [column.strip().split(" AS ") for column in selected[1].split(",")]
        answers = [{column[-1]: answer[column[0]] for column in columns} for answer in answers]
    if query.keys:
        answers = list({tuple(answer[key] for key in query.keys): answer for answer in answers}.values())
    return Counter(tuple(answer.values()) for answer in answers)


def _milliseconds(table: pa.Table) -> pa.Table:
    return table.cast(
        pa.schema(
            [
                (field.name, pa.int64() if pa.types.is_timestamp(field.type) else field.type)
                for field in table.schema
            ]
        )
    )
