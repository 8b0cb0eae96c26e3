"""Latency at a rate: from when an event was due until an answer that needs it could be read.

An answer is complete with the event that it passes on (q0), or when its window ends (q5, q7): from then on it
is due. Windows that the end of the stream closes before their time do not count. An answer can be read when
it is in a file that is whole: on Spark when the batch's answers are readable, in Flink's file sink when a
checkpoint has committed the file. When an answer came to Flink's sink is noted too: the latency that a sink
without commits (`print`, `blackhole`) would have, and that nobody can read.

Spark's events come from the firehose, which makes them meanwhile. Flink's are made before, and a slice each
100 ms is linked into the folder that it watches, on cores that do nothing else.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final

import numpy as np

from causeway import nexmark
from causeway.nexmark.events.firehose_process import FirehoseClock
from causeway.nexmark.generator.encoding import write_file
from causeway.nexmark.generator.scale import scaled_firehose
from causeway.runtime.errors import UserError
from causeway.spark.session import spark_session
from nexmark_flink.records import Records
from nexmark_flink.sides import CORES, Side, SideProcess

__all__ = ["measure_latency"]

_SLICE_SECONDS: Final = 0.1
_WARM_UP_SECONDS: Final = 15
_CHECKPOINT_INTERVAL: Final = "500 ms"
_FILE_SINK: Final = {
    "sink.rolling-policy.rollover-interval": "50 ms",
    "sink.rolling-policy.check-interval": "50 ms",
}
"""How soon Flink closes a file of answers, which the next checkpoint then commits."""
_MONITOR_INTERVAL: Final = "50 ms"
_WATERMARK_DELAY: Final = "1"
"""Seconds. Flink hands out files in no order; with less, a file that is behind would be late."""
_Q7_WINDOW: Final = 10_000
"""Milliseconds. Its answers tell the time of the bid; they are complete when its window ends."""
_LOOK_SECONDS: Final = 0.01
_LAST_SECONDS: Final = 5
_STREAMS: Final = ("person", "auction", "bid")


def measure_latency(
    query: str, side: Side, rate: int, duration: int, scratch: Path, records: Records
) -> None:
    """One query on one side; its latencies go into the side's records."""
    if side.system == "flink":
        found, versions = _flink(query, side, rate, duration, scratch)
    else:
        found, versions = _spark(query, side, rate, duration, scratch)
    for name, latency in found.items():
        words = ", ".join(f"{part} {latency[part]:.3f}" for part in ("p50", "p99", "max"))
        print(f"{query} {side.name} {name}: {words} s, {latency['answers']:,} answers", file=sys.stderr)
    records.add_latency(side, query, found["readable"] | {"others": found}, versions)


def _spark(
    query: str, side: Side, rate: int, duration: int, scratch: Path
) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    import pyarrow.parquet as pq

    out = scratch / f"{side.name.replace(':', '-')}-{query}-steady"
    master = f"local[{CORES}]"
    with spark_session("nexmark vs flink", master=master, settings=side.settings()["conf"]) as spark:
        result = nexmark.run(
            out,
            queries=query,
            engine=side.system,
            rate=rate,
            duration=duration,
            warm_up=_WARM_UP_SECONDS,
            spark=spark,
        )
    facts = result[query].facts
    clock = FirehoseClock(**facts["clock"])
    completed, readable = [], []
    for batch in facts["batches"]:
        folder = out / query / "answers" / f"batch-{batch['batch']:09d}.parquet"
        if not any(folder.glob("*.parquet")):
            continue  # a batch without answers
        rows = pq.read_table(folder, columns=["endtime" if query == "q5" else "dateTime"])
        times = rows.column(0).cast("timestamp[ms]").cast("int64").to_numpy()
        if query == "q7":
            times = (times // _Q7_WINDOW + 1) * _Q7_WINDOW
        completed.append(times)
        readable.append(np.full(len(times), float(batch["readable"])))
    shutil.rmtree(out)
    found = {"readable": _latency(clock, np.concatenate(completed), np.concatenate(readable))}
    return found, dict(result.facts["versions"])


def _flink(
    query: str, side: Side, rate: int, duration: int, scratch: Path
) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    firehose = scaled_firehose("modern", events=rate * duration, rate=rate)
    per_slice = round(rate * _SLICE_SECONDS)
    slices = firehose.events // per_slice
    made, watched, out = (scratch / f"flink-{name}" for name in ("made", "watched", "answers"))
    for folder in (made, watched, out):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    for stream in _STREAMS:
        (made / stream).mkdir()
        (watched / stream).mkdir()
    for number in range(slices):
        delivered = firehose.deliver_encoded(number * per_slice, (number + 1) * per_slice)
        for stream in _STREAMS:
            write_file(delivered[stream], made / stream / f"{number:06d}.jsonl", "json", stream)
    settings = side.settings() | {
        "task": "steady",
        "query": query,
        "folder": str(watched),
        "format": "json",
        "out": str(out),
        "checkpoints": str(scratch / "flink-checkpoints"),
        "checkpoint_interval": _CHECKPOINT_INTERVAL,
        "monitor_interval": _MONITOR_INTERVAL,
        "sink": _FILE_SINK,
        "delay": _WATERMARK_DELAY,
    }
    command, variables = side.command("json", (), scratch)
    with SideProcess.started(command, variables, settings, scratch / "flink-errors.txt") as process:
        process.wait_until_warm()
        with _Watch(out) as watch:
            clock = _feed(made, watched, slices, per_slice, rate, firehose.first_time)
            time.sleep(_LAST_SECONDS)
        process.say("next")
    completed, readable, at_sink = _read_answers(watch.seen)
    found = {
        "readable": _latency(clock, completed, readable),
        "at the sink": _latency(clock, completed, at_sink),
    }
    return found, process.ready["versions"]


def _feed(
    made: Path, watched: Path, slices: int, per_slice: int, rate: int, first_time: int
) -> FirehoseClock:
    """Link each slice into the watched folder when it is due."""
    clock = FirehoseClock(
        started=time.time(),
        interval=_SLICE_SECONDS,
        slice_events=per_slice,
        slices=slices,
        first_time=first_time,
        time_per_second=1000 * per_slice / _SLICE_SECONDS / rate,
    )
    for number in range(slices):
        time.sleep(max(0.0, clock.due(number + 1) - time.time()))
        for stream in _STREAMS:
            name = f"{number:06d}.jsonl"
            (watched / stream / name).hardlink_to(made / stream / name)
    return clock


class _Watch:
    """Notes when each file of answers can be read: its name has no dot in front from then on."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ended = Event()
        self._thread = Thread(target=self._look, daemon=True)
        self.seen: dict[Path, float] = {}

    def __enter__(self) -> _Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(_LOOK_SECONDS):
            now = time.time()
            for file in self._folder.glob("[!.]*"):
                self.seen.setdefault(file, now)


def _read_answers(files: Mapping[Path, float]) -> tuple[Any, Any, Any]:
    completed, readable, at_sink = [], [], []
    for file, seen in files.items():
        with file.open() as lines:
            for line in lines:
                row = json.loads(line)
                completed.append(_milliseconds(row["completed"]))
                at_sink.append(_milliseconds(row["at_sink"]) / 1000)
                readable.append(seen)
    return np.array(completed), np.array(readable), np.array(at_sink)


def _milliseconds(text: str) -> int:
    """Of Flink's text for a time, 2015-07-15 00:00:01.5Z."""
    moment = datetime.fromisoformat(text.replace(" ", "T").removesuffix("Z")).replace(tzinfo=UTC)
    return round(1000 * moment.timestamp())


def _latency(clock: FirehoseClock, completed: Any, seen: Any) -> dict[str, Any]:
    """Of answers that were due after the warm-up, but not at the end, which closes all windows."""
    due = np.array([clock.wall(float(moment)) for moment in completed])
    counts = (due - clock.started >= _WARM_UP_SECONDS) & (due < clock.due(clock.slices))
    seconds = (seen - due)[counts]
    if not len(seconds):
        raise UserError(f"none of {len(due):,} answers was due after the warm-up of {_WARM_UP_SECONDS} s")
    parts = {f"p{part}": float(np.percentile(seconds, part)) for part in (50, 95, 99)}
    whole = {"min": float(seconds.min()), "mean": float(seconds.mean()), "max": float(seconds.max())}
    return whole | parts | {"answers": len(seconds)}
