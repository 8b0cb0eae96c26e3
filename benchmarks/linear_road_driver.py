"""How much the driver delivers in real time on one core, while something else uses the other.

    python benchmarks/linear_road_driver.py [--rate 300000] [--parts 20] [--seconds 20] [--highest]

Makes a synthetic workload, burns the other core, pins the driver to one, and prints what the driver kept;
before it the floor: the same tables written by pyarrow without merge, read-ahead or clock. `--highest` then
doubles the rate (by more parts, since a higher speed would only shorten a run that the read-ahead covers)
until the promise breaks.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import resource
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from causeway.linear_road.driver.deliver import DriveResult, drive
from causeway.linear_road.model.tuples import ABSENT, INPUT_SCHEMA
from causeway.linear_road.workload.workload import Workload


@dataclass(frozen=True)
class Drive:
    """A drive as its process saw it."""

    delivery: DriveResult
    wall_seconds: float
    cpu_seconds: float
    peak_mib: float


def synthetic_workload(folder: Path, parts: int, seconds: int, rate: int) -> Workload:
    """Make `parts` expressways of together `rate` tuples a second, without a simulation's meaning."""
    rng = np.random.default_rng(1)
    minutes = math.ceil(seconds / 60)
    rows = rate // parts
    (folder / "stream").mkdir(parents=True)
    for part in range(parts):
        with pq.ParquetWriter(folder / "stream" / f"part-{part:05d}.parquet", INPUT_SCHEMA) as writer:
            for minute in range(minutes):
                times = np.arange(60 * minute, min(60 * minute + 60, seconds))
                count = rows * len(times)
                columns = {name: np.full(count, ABSENT) for name in INPUT_SCHEMA.names}
                position = rng.integers(0, 528_000, count)
                columns |= {
                    "Type": np.zeros(count),
                    "Time": np.repeat(times, rows),
                    "VID": rng.integers(0, 150_000, count) + part * 150_000,
                    "Spd": rng.integers(0, 101, count),
                    "XWay": np.full(count, part),
                    "Lane": rng.integers(0, 5, count),
                    "Dir": rng.integers(0, 2, count),
                    "Seg": position // 5280,
                    "Pos": position,
                }
                arrays = [pa.array(columns[name].astype(np.int32)) for name in INPUT_SCHEMA.names]
                writer.write_table(pa.Table.from_arrays(arrays, schema=INPUT_SCHEMA))
    workload = Workload(
        folder=folder, source="generated", format="parquet", expressways=parts, minutes=minutes, seed=1
    )
    workload.save()
    return workload


def double_parts(workload: Workload) -> None:
    """Double the rate by linking every part once more; what the tuples say does not matter here."""
    parts = workload.parts
    for number, part in enumerate(parts, start=len(parts)):
        part.with_name(f"part-{number:05d}.parquet").hardlink_to(part)


def measured_drive(workload: Workload, spool: Path, core: int) -> Drive:
    """Drive in a process of its own, so that its memory and its time are its own."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(_drive_pinned, (workload, spool, core))


def _drive_pinned(workload: Workload, spool: Path, core: int) -> Drive:
    os.sched_setaffinity(0, {core})
    wall, cpu = time.monotonic(), time.process_time()
    delivery = drive(workload, spool)
    return Drive(
        delivery=delivery,
        wall_seconds=time.monotonic() - wall,
        cpu_seconds=time.process_time() - cpu,
        peak_mib=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )


def floor_rate(workload: Workload, folder: Path, core: int) -> float:
    """Tuples per CPU second of reading the parts and writing the tables again, with nothing in between."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(_copy_pinned, (workload, folder, core))


def _copy_pinned(workload: Workload, folder: Path, core: int) -> float:
    os.sched_setaffinity(0, {core})
    folder.mkdir()
    cpu = time.process_time()
    rows = 0
    for part in workload.parts:
        with pq.ParquetFile(part) as stream:
            for batch in stream.iter_batches(batch_size=300_000, use_threads=False):
                pq.write_table(
                    pa.Table.from_batches([batch]),
                    folder / f"{part.stem}-{rows}.parquet",
                    compression="lz4",
                    use_dictionary=False,
                    write_statistics=False,
                )
                rows += batch.num_rows
    return rows / (time.process_time() - cpu)


def _burn(core: int) -> None:
    os.sched_setaffinity(0, {core})
    while True:
        pass


@contextmanager
def busy(core: int) -> Iterator[None]:
    """Keep `core` busy inside the block."""
    process = multiprocessing.get_context("spawn").Process(target=_burn, args=(core,), daemon=True)
    process.start()
    try:
        yield
    finally:
        process.kill()
        process.join()


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rate", type=int, default=300_000, help="tuples a second")
    parser.add_argument("--parts", type=int, default=20)
    parser.add_argument("--seconds", type=int, default=20, help="at speed 1, both simulated and real")
    parser.add_argument("--highest", action="store_true", help="find the highest rate, too")
    options = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(prefix="linear-road-driver-") as scratch, busy(cores[0]):
        folder = Path(scratch)
        workload = synthetic_workload(folder / "workload", options.parts, options.seconds, options.rate)
        floor = floor_rate(workload, folder / "floor", cores[-1])
        print(f"floor: {floor:,.0f} tuples per CPU second")
        doubled = 0
        while True:
            drove = measured_drive(workload, folder / f"spool-{doubled}", cores[-1])
            delivery = drove.delivery
            print(
                f"{options.rate << doubled:,} tuples/s ({len(workload.parts)} parts): "
                f"worst {delivery.worst_lateness_ms:.1f} ms, p99 {delivery.p99_lateness_ms:.1f} ms, "
                f"mean {delivery.mean_lateness_ms:.1f} ms late; "
                f"{drove.cpu_seconds / drove.wall_seconds:.0%} of a core, "
                f"{delivery.tuples / drove.cpu_seconds:,.0f} tuples per CPU second, "
                f"peak {drove.peak_mib:,.0f} MiB; "
                f"{'kept' if delivery.kept_promise else 'BROKEN'}",
                flush=True,
            )
            if not (options.highest and delivery.kept_promise):
                break
            shutil.rmtree(folder / f"spool-{doubled}")
            doubled += 1
            double_parts(workload)


if __name__ == "__main__":
    main()
