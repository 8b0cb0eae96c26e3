"""What the tests of sources share: tables to feed, and a reader that does what Spark does, without Spark."""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from causeway.streaming_tables.sources import Source, TargetColumns, open_source
from causeway.streaming_tables.sources.feeds.making import make_feed
from causeway.streaming_tables.sources.source import FedSource

REPORTS = TargetColumns(
    pa.schema([("VID", pa.int32()), ("SPD", pa.int32()), ("XWAY", pa.int32()), ("T", pa.int64())]), "seconds"
)


@dataclass
class Drained:
    """What came out of a source."""

    rows: list[tuple[Any, ...]] = field(default_factory=list)
    rejects: list[tuple[str, int, str, str]] = field(default_factory=list)
    offset: dict[str, int] | None = None
    traces: list[tuple[str, int]] = field(default_factory=list)
    """Source and line of each row, if the rows are traced."""
    batches: list[int] = field(default_factory=list)
    """Rows of each batch, rejected ones included."""

    @property
    def reject_lines(self) -> list[int]:
        return [line for _, line, _, _ in self.rejects]


def drain(source: Source, *, offset: Mapping[str, int] | None = None, tasks: int = 2) -> Drained:
    """Everything from `offset` on, batch by batch, as Spark would read it in processes of its own."""
    assert isinstance(source, FedSource)
    limits = source._limits
    spec = json.loads(json.dumps(source._feed.spec()))
    planner = make_feed(spec)
    drained = Drained()
    start = dict(offset) if offset is not None else planner.initial()
    schema = None
    while True:
        end = planner.next(start, limits)
        assert not planner.before(end, start)
        if end == start:
            break
        count = 0
        parts = planner.partitions(start, end, tasks)
        assert len(parts) <= tasks
        for part in parts:
            for batch in make_feed(spec).read(pickle.loads(pickle.dumps(part))):
                schema = schema or batch.schema
                assert batch.schema == schema
                count += batch.num_rows
                _take(batch, drained)
        drained.batches.append(count)
        planner.forget(end)
        start = end
    drained.offset = start
    return drained


def _take(batch: pa.RecordBatch, drained: Drained) -> None:
    columns = [column.to_pylist() for column in batch.columns]
    for row in zip(*columns, strict=True):
        values, facts = row[:-4], row[-4:]
        if facts[2] is None:
            if facts[0] is not None:
                drained.traces.append(facts[:2])
            assert facts[2:] == (None, None) and (facts[0] is None) == (facts[1] is None)
            drained.rows.append(values)
        else:
            assert set(values) == {None}
            drained.rejects.append(facts)


def opened(place: Path | str, state: Path, target: TargetColumns = REPORTS, **options: str) -> Source:
    """The source at `place`, with what `INSERT … OPTIONS` would say."""
    return open_source(str(place), options, target, state, Path.cwd())


def csv_text(rows: Sequence[Sequence[object]], header: str | None = "vid,spd,xway,time") -> str:
    lines = [header] if header is not None else []
    return "".join(f"{line}\n" for line in [*lines, *(",".join(map(str, row)) for row in rows)])
