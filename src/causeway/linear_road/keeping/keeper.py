"""The keeper: appends the position reports of a spool to a streaming table, each exactly once, in order.

Files of the spool are named by the seconds that they cover, and never change. The last second of an append is
its batch number in the table, so a keeper that was killed goes on after the last second that is there, and a
repeated append changes nothing. The pipeline's source leaves a file in the spool until the mark has passed
it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from causeway.linear_road.driver.spool import BATCH_BYTES, SpoolFile, SpoolGapError, files_between
from causeway.linear_road.keeping.kept_mark import KeptMark
from causeway.linear_road.keeping.reports_table import SPOOL_COLUMNS, report_rows
from causeway.runtime.errors import UserError
from causeway.runtime.output_folder import write_json
from causeway.streaming.delivery import SpoolControl
from causeway.streaming_tables.storage import TableStore, TableWriter

__all__ = ["KeepingRecord", "keep_reports"]

SOURCE: Final = "linear-road"
"""Under this name the table knows how far the spool has been taken."""

_POLL: Final = 0.005
_END_POLL: Final = 0.2
_SAVE_SECONDS: Final = 2.0
_LEASE_SECONDS: Final = 10.0
_LAGS_KEPT: Final = 20_000


@dataclass
class KeepingRecord:
    """What a keeper has done: rows, time, and how long a report took from its release to being readable."""

    path: Path
    rows: int = 0
    appends: int = 0
    append_seconds: float = 0.0
    lags: list[tuple[int, float]] = field(default_factory=list)
    """Last second of an append in real time, and the seconds from its first release to its visibility."""
    saved_at: float = 0.0

    @classmethod
    def continued(cls, path: Path) -> KeepingRecord:
        """The record in `path`, to go on with after a restart; an empty one where there is none."""
        try:
            facts = json.loads(path.read_text())
            lags = [(int(second), float(lag)) for second, lag in facts["lags"]]
            return cls(path, facts["rows"], facts["appends"], facts["append_seconds"], lags)
        except (OSError, ValueError, KeyError, TypeError):
            return cls(path)

    def add(self, rows: int, seconds: float, lag: tuple[int, float] | None) -> None:
        """Count an append."""
        self.rows += rows
        self.appends += 1
        self.append_seconds += seconds
        if lag is not None:
            self.lags.append(lag)
            if len(self.lags) > _LAGS_KEPT:
                self.lags = self.lags[::2]

    def facts(self) -> dict[str, Any]:
        """All of it for JSON."""
        lags = np.array([lag for _, lag in self.lags]) * 1000
        p50, p99 = np.percentile(lags, [50, 99]) if len(lags) else (None, None)
        return {
            "rows": self.rows,
            "appends": self.appends,
            "append_seconds": round(self.append_seconds, 3),
            "cpu_seconds": round(time.process_time(), 3),
            "visible_ms": {
                "appends": len(lags),
                "p50": None if p50 is None else round(float(p50), 1),
                "p99": None if p99 is None else round(float(p99), 1),
                "worst": round(float(lags.max()), 1) if len(lags) else None,
            },
            "lags": [[second, round(lag, 4)] for second, lag in self.lags],
        }

    def save_if_due(self, *, now: bool = False) -> None:
        """Save it every few seconds, or now."""
        if now or time.monotonic() - self.saved_at >= _SAVE_SECONDS:
            self.saved_at = time.monotonic()
            write_json(self.path, self.facts(), durable=False)


def keep_reports(
    store: TableStore, spool: Path, mark: KeptMark, record: KeepingRecord, *, real_time_from: int | None
) -> None:
    """Append what the spool has and gets, until everything has been delivered and is in the table.

    From second `real_time_from` on, the lag of each append is noted; None: there is no real time.
    """
    control = SpoolControl(spool)
    with _writer(store) as writer:
        last = writer.last_batch(SOURCE)
        kept = 0 if last is None else last + 1
        mark.write(kept)
        is_over = _rarely(lambda: _delivered_second(control))
        while True:
            files = _next_files(spool, kept)
            if not files:
                end = is_over()
                if end is not None and end < kept:
                    break
                record.save_if_due()
                time.sleep(_POLL)
                continue
            began = time.perf_counter()
            released = files[0].path.stat().st_mtime
            rows = _append(writer, files)
            kept = files[-1].last + 1
            in_real_time = real_time_from is not None and files[0].first >= real_time_from
            lag = (files[-1].last, time.time() - released) if in_real_time else None
            mark.write(kept)
            record.add(rows, time.perf_counter() - began, lag)
            record.save_if_due()
        writer.close_time()
    record.save_if_due(now=True)


def _writer(store: TableStore) -> TableWriter:
    """Become the table's writer. The keeper of a run that was killed has it until it notices that."""
    give_up = time.monotonic() + _LEASE_SECONDS
    while True:
        try:
            return store.writer("causeway linear-road run")
        except UserError:
            if time.monotonic() > give_up:
                raise
            time.sleep(_END_POLL)


def _next_files(spool: Path, kept: int) -> Sequence[SpoolFile]:
    """The files of one append: all that wait, up to the size of a batch."""
    taken: list[SpoolFile] = []
    size = 0
    for file in files_between(spool, kept):
        size += file.path.stat().st_size
        if taken and size > BATCH_BYTES:
            break
        taken.append(file)
    return taken


def _append(writer: TableWriter, files: Sequence[SpoolFile]) -> int:
    schema = writer.store.definition.arrow_schema()
    rows = pa.concat_tables([report_rows(_read(file.path), schema) for file in files])
    return writer.append(rows, source=SOURCE, batch=files[-1].last).accepted


def _read(path: Path) -> pa.Table:
    try:
        return pq.read_table(path, columns=list(SPOOL_COLUMNS), use_threads=False, memory_map=True)
    except FileNotFoundError:
        raise SpoolGapError(f"{path} was removed before its reports were kept") from None
    except (pa.ArrowException, OSError) as unreadable:
        raise SpoolGapError(f"{path} cannot be read: {unreadable}") from unreadable


def _delivered_second(control: SpoolControl) -> int | None:
    """The last second of all, once everything has been delivered; None before."""
    facts = control.load() or {}
    if facts.get("state") != "finished":
        return None
    last = facts.get("last_second")
    return -1 if last is None else int(last)


def _rarely(ask: Callable[[], int | None]) -> Callable[[], int | None]:
    """The same question, asked a few times a second only."""
    asked_at = -1.0

    def answer() -> int | None:
        nonlocal asked_at
        if time.monotonic() - asked_at < _END_POLL:
            return None
        asked_at = time.monotonic()
        return ask()

    return answer
