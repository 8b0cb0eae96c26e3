"""The same load and the same statements on any system."""

from __future__ import annotations

import multiprocessing
import queue
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from others.system import System
from position_reports import ANSWERS, PER_SECOND, batches, deliver, statement

__all__ = ["Figures", "measure"]

CLIENTS = 4
"""Threads that ask under load, so that a slow statement does not hold up those that come after it."""
REPEATS = 30
_WARM_UPS = 90
"""Statements before the measured ones: Java compiles what runs often."""
_INTERVAL = 0.1
_POLL_PAUSE = 0.01
_LOAD_WARM_UP = 10.0
_CATCH_UP_SECONDS = 60.0
_GRACE_SECONDS = 5.0
"""After the load, for statements that no client has taken yet; what is left then was not answered."""
_BULK_ROWS = 10_000_000


@dataclass
class Figures:
    """What was measured of one system; times in milliseconds, those of reads by rows of the answer."""

    version: str
    promise: str
    unequal: list[str] = field(default_factory=list)
    fill_rate: float = 0.0
    reads: dict[str, list[float]] = field(default_factory=dict)
    loaded: dict[str, list[float]] = field(default_factory=dict)
    delays: list[float] = field(default_factory=list)
    """Arrival to visible, one a batch."""
    unseen_batches: int = 0
    unanswered: int = 0
    delivered_rate: float = 0.0
    insert_rate: float = 0.0
    stored_bytes: int = 0
    stored_rows: int = 0
    answers: list[list[int]] = field(default_factory=list)
    """Rows and sum of POS and T of each answer without load, to compare the systems."""


def measure(system: System, folder: Path, rows: int, seconds: float, rate: int) -> Figures:
    """All figures of a system that is up and empty; `folder` is for the files of the load."""
    figures = Figures(system.version, system.promise)
    _tell("history")
    began = time.perf_counter()
    system.fill(rows)
    figures.fill_rate = rows / (time.perf_counter() - began)
    _tell("reads")
    _measure_reads(system, rows, figures)
    _tell("load")
    _measure_load(system, folder, rows, seconds, rate, figures)
    figures.stored_bytes = system.bytes_on_disk()
    _tell("insert")
    _measure_insert(system, folder, min(rows, _BULK_ROWS), figures)
    figures.unequal = system.unequal
    return figures


def _tell(stage: str) -> None:
    print(f"  {time.strftime('%H:%M:%S')} {stage}", file=sys.stderr, flush=True)


def _measure_reads(system: System, rows: int, figures: Figures) -> None:
    ask, newest = system.reader(), rows // PER_SECOND
    chance = np.random.default_rng(7)
    for number in range(_WARM_UPS):
        ask(statement(chance, ANSWERS[number % len(ANSWERS)], newest))
    for answer in ANSWERS:
        taken = figures.reads[str(answer)] = []
        for _ in range(REPEATS):
            text = statement(chance, answer, newest)
            began = time.perf_counter()
            found = ask(text)
            taken.append(1000 * (time.perf_counter() - began))
            figures.answers.append(_fingerprint(found))


def _fingerprint(answer: pa.Table) -> list[int]:
    table = answer.rename_columns([name.upper() for name in answer.schema.names])
    sums = [pc.sum(table.column(name).cast(pa.int64())).as_py() or 0 for name in ("POS", "T", "VID")]
    return [table.num_rows, *sums]


def _measure_load(
    system: System, folder: Path, rows: int, seconds: float, rate: int, figures: Figures
) -> None:
    spool = folder / "spool"
    spool.mkdir()
    readers = [system.reader() for _ in range(CLIENTS)]
    system.follow(spool)
    spawn = multiprocessing.get_context("spawn")
    receiver, sender = spawn.Pipe(duplex=False)
    delivery = spawn.Process(
        target=deliver, args=(str(spool), rows, seconds + _LOAD_WARM_UP, _INTERVAL, sender, rate), daemon=True
    )
    delivery.start()
    sender.close()
    released: list[tuple[float, int]] = []
    ended = threading.Event()
    freshness = _Freshness(system, released, ended)
    threads = [
        threading.Thread(target=_follow_delivery, args=(receiver, released, ended), daemon=True),
        threading.Thread(target=freshness.follow, daemon=True),
    ]
    for thread in threads:
        thread.start()
    while not released and not ended.is_set():
        time.sleep(0.01)
    time.sleep(_LOAD_WARM_UP)
    figures.loaded, figures.unanswered = _ask_at_random(readers, rows // PER_SECOND, seconds)
    for thread in threads:
        thread.join()
    system.stop_following()
    if freshness.failure is not None:
        raise freshness.failure
    counted = [item for item in released if item[0] >= released[0][0] + _LOAD_WARM_UP]
    figures.delays = [
        1000 * (freshness.seen[total] - moment) for moment, total in counted if total in freshness.seen
    ]
    figures.unseen_batches = sum(total not in freshness.seen for _, total in counted)
    figures.delivered_rate = (released[-1][1] - released[0][1]) / (released[-1][0] - released[0][0])
    figures.stored_rows = max(freshness.seen, default=rows)


def _follow_delivery(receiver: Any, released: list[tuple[float, int]], ended: threading.Event) -> None:
    try:
        while True:
            released.append(receiver.recv())
    except EOFError:
        ended.set()


class _Freshness:
    """Asks again and again how much can be read, and notes when each batch first could."""

    def __init__(self, system: System, released: list[tuple[float, int]], ended: threading.Event) -> None:
        self._system = system
        self._released = released
        self._ended = ended
        self.seen: dict[int, float] = {}
        self.failure: Exception | None = None

    def follow(self) -> None:
        try:
            self._follow()
        except Exception as failure:
            self.failure = failure

    def _follow(self) -> None:
        deadline = None
        position = 0
        while True:
            over = self._ended.is_set()
            pending = [total for _, total in self._released[position:]]
            if over:
                deadline = deadline or time.time() + _CATCH_UP_SECONDS
                if not pending or time.time() > deadline:
                    return
            visible = self._system.visible_rows(pending) if pending else 0
            now = time.time()
            while position < len(self._released) and self._released[position][1] <= visible:
                self.seen[self._released[position][1]] = now
                position += 1
            time.sleep(_POLL_PAUSE)


def _ask_at_random(readers: Sequence[Any], newest: int, seconds: float) -> tuple[dict[str, list[float]], int]:
    """200 statements a minute at random moments; times count from the moment that a statement is due."""
    taken: dict[str, list[float]] = {str(answer): [] for answer in ANSWERS}
    waiting: queue.SimpleQueue[tuple[float, int, str] | None] = queue.SimpleQueue()
    failures: list[Exception] = []
    over = threading.Event()

    def client(ask: Any) -> None:
        while (item := waiting.get()) is not None and not over.is_set():
            due, answer, text = item
            try:
                ask(text)
            except Exception as failure:
                failures.append(failure)
                return
            taken[str(answer)].append(1000 * (time.perf_counter() - due))

    threads = [threading.Thread(target=client, args=(ask,), daemon=True) for ask in readers]
    for thread in threads:
        thread.start()
    chance = np.random.default_rng(11)
    asked = 0
    due = time.perf_counter()
    end = due + seconds
    while (due := due + float(chance.exponential(0.3))) < end:
        answer = int(chance.choice(ANSWERS))
        text = statement(chance, answer, newest)
        time.sleep(max(0.0, due - time.perf_counter()))
        waiting.put((due, answer, text))
        asked += 1
    grace = end + _GRACE_SECONDS
    while not waiting.empty() and time.perf_counter() < grace:
        time.sleep(0.01)
    over.set()
    for _ in threads:
        waiting.put(None)
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return taken, asked - sum(map(len, taken.values()))


def _measure_insert(system: System, folder: Path, rows: int, figures: Figures) -> None:
    source = folder / "bulk"
    source.mkdir()
    for number, part in enumerate(batches(rows, 500_000)):
        pq.write_table(part, source / f"{number:05d}.parquet", compression="lz4")
    began = time.perf_counter()
    system.insert(source)
    figures.insert_rate = rows / (time.perf_counter() - began)
