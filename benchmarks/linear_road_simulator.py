"""How fast the traffic simulator is on one core: its kernel, its writing, and the floor below it.

The floor is the same number of vehicle-seconds through the cheapest step there could be (one addition for
each vehicle and second, with NumPy), and the same rows through pyarrow's Parquet writer alone.

    python benchmarks/linear_road_simulator.py [--minutes 180] [--seed 1]
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from causeway.linear_road.model.expressway import EAST, WEST
from causeway.linear_road.simulator.demand import draw_accidents, draw_trips
from causeway.linear_road.simulator.generate import simulate_direction, write_expressway
from causeway.linear_road.simulator.recording import Direction, Recording
from causeway.linear_road.simulator.road import empty_road, no_reports
from causeway.linear_road.simulator.traffic import simulate_minute
from causeway.linear_road.simulator.vehicles import deal_vehicles


def main() -> None:
    """Simulate one expressway in this process and print where the time goes."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--minutes", type=int, default=180)
    arguments.add_argument("--seed", type=int, default=1)
    chosen = arguments.parse_args()
    compile_seconds = _compile()
    directions = [Direction(0, EAST), Direction(0, WEST)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        before = time.perf_counter()
        for direction in directions:
            simulate_direction(Recording(folder, direction), direction, chosen.seed, chosen.minutes)
        simulated = time.perf_counter() - before

        before = time.perf_counter()
        _deal(folder, directions, chosen.seed)
        part = folder / "part.parquet"
        counts = write_expressway(folder, directions, chosen.seed, part, "parquet")
        written = time.perf_counter() - before

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        rows = pq.read_table(part)
        before = time.perf_counter()
        pq.write_table(rows, folder / "floor.parquet", compression="snappy", row_group_size=100_000)
        write_floor = time.perf_counter() - before
        size = part.stat().st_size
    vehicle_seconds = 30 * counts[0]
    move_floor = _move_floor(vehicle_seconds)

    table = Table(title=f"one expressway, {chosen.minutes} minutes, one core, seed {chosen.seed}")
    for column in ("step", "seconds", "rate", "floor", "ratio"):
        table.add_column(column, justify="left" if column == "step" else "right")
    table.add_row("compile (once per machine)", f"{compile_seconds:.1f}", "", "", "")
    table.add_row(
        "simulate",
        f"{simulated:.1f}",
        f"{vehicle_seconds / simulated / 1e6:.1f} M vehicle-seconds/s",
        f"{move_floor:.1f} s, one NumPy addition each",
        f"{simulated / move_floor:.1f}",
    )
    table.add_row(
        "deal vehicles, write Parquet",
        f"{written:.1f}",
        f"{sum(counts) / written / 1e6:.1f} M rows/s",
        f"{write_floor:.1f} s, pyarrow alone",
        f"{written / write_floor:.1f}",
    )
    table.add_row("both", f"{simulated + written:.1f}", f"{sum(counts):,} rows, {size / 1e6:.0f} MB", "", "")
    Console().print(table)
    Console().print(f"peak memory {peak / 1024:.0f} MiB")


def _compile() -> float:
    before = time.perf_counter()
    simulate_minute(empty_road(1), draw_trips(1, 0, EAST, 1), draw_accidents(1, 0, EAST, 1), 0, no_reports())
    one = np.zeros(1, np.int32)
    deal_vehicles(one, one, 1)
    return time.perf_counter() - before


def _deal(folder: Path, directions: list[Direction], seed: int) -> None:
    recordings = [Recording(folder, direction) for direction in directions]
    trips = [recording.trips() for recording in recordings]
    first, last = (np.concatenate([times[side] for times in trips]) for side in (0, 1))
    vehicle = np.full(first.size, -1, np.int32)
    travelled = first >= 0
    vehicle[travelled] = deal_vehicles(first[travelled], last[travelled], seed)
    for recording, mine in zip(recordings, np.split(vehicle, [trips[0][0].size]), strict=True):
        recording.save_vehicles(mine)


def _move_floor(vehicle_seconds: int) -> float:
    position, speed = np.zeros(17_000), np.ones(17_000)
    steps = vehicle_seconds // position.size
    before = time.perf_counter()
    for _ in range(steps):
        position += speed
    return time.perf_counter() - before


if __name__ == "__main__":
    main()
