"""How fast BerlinMOD is generated: whole, on all cores, beside its parts on one core.

The floor is the kernel alone: the same drives through Algorithm 1, nothing planned, routed or written.

    python benchmarks/berlinmod_generator.py [--scale 0.05] [--map DIR] [--mode network] [--seed 1]
"""

from __future__ import annotations

import argparse
import os
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from causeway import berlinmod
from causeway.berlinmod.dataset import Dataset
from causeway.berlinmod.generator.part import City, city_of, find_routes, plan_vehicles, write_part
from causeway.berlinmod.model.parameters import Parameters
from causeway.berlinmod.trips.history import Routes, drive_history
from causeway.berlinmod.trips.vehicles import describe_vehicles, trip_keys
from causeway.runtime.machine import local_cores

_SAMPLE_FILES = 4
"""Files that are made again on one core, to see where the time goes."""


def main() -> None:
    """Generate with Spark, then some of the files again in this process, and print where the time goes."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--scale", type=float, default=0.05)
    arguments.add_argument("--map", type=Path, default=None)
    arguments.add_argument("--mode", choices=("network", "region"), default="network")
    arguments.add_argument("--seed", type=int, default=1)
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        with _PeakMemory() as memory:
            before = time.perf_counter()
            dataset = berlinmod.generate(
                Path(name) / "data", scale=chosen.scale, map=chosen.map, mode=chosen.mode, seed=chosen.seed
            )
            whole = time.perf_counter() - before
        size = sum(path.stat().st_size for path in dataset.folder.rglob("*") if path.is_file())
        console = Console()
        console.print(
            f"scale {chosen.scale:g}: {dataset.counts['vehicles']:,} vehicles, "
            f"{dataset.parameters.days} days, {dataset.counts['trips']:,} trips, "
            f"{dataset.counts['units']:,} units, {size / 1e6:,.0f} MB"
        )
        console.print(
            f"generated in {whole:.1f} s on {local_cores()} cores, Spark's start included; "
            f"peak memory of all processes {memory.peak / 1e9:.2f} GB"
        )
        console.print(_parts_table(dataset, Path(name)))


def _parts_table(dataset: Dataset, scratch: Path) -> Table:
    parameters = dataset.parameters
    city = city_of(dataset.road_map(), parameters.distance)
    for relation in ("dataScar", "dataMtrip", "legs"):
        (scratch / relation).mkdir()
    write_part(city, parameters, scratch, 0)  # compiles
    files = list(range(min(_SAMPLE_FILES, dataset.cut.files)))
    before = time.perf_counter()
    units = sum(write_part(city, parameters, scratch, file).units for file in files)
    all_of_it = time.perf_counter() - before
    planning, routing, driving = _kernel_seconds(city, parameters, dataset, files)
    table = Table(title=f"one core, {units:,} units")
    for column in ("step", "seconds", "µs a unit", "floors"):
        table.add_column(column, justify="left" if column == "step" else "right")
    rows = {
        "plan": planning,
        "routes (scipy's Dijkstra)": routing,
        "drive: the floor": driving,
        "cut, lengths, boxes, write": all_of_it - planning - routing - driving,
        "all": all_of_it,
    }
    for step, seconds in rows.items():
        table.add_row(step, f"{seconds:.2f}", f"{seconds / units * 1e6:.2f}", f"{seconds / driving:.1f}")
    return table


def _kernel_seconds(
    city: City, parameters: Parameters, dataset: Dataset, files: list[int]
) -> tuple[float, float, float]:
    planning = routing = driving = 0.0
    for file in files:
        for first, end in dataset.cut.group_ranges(file):
            before = time.perf_counter()
            vehicles = describe_vehicles(city.road_map, parameters, first, end)
            keys = trip_keys(parameters, first, end)
            plans = plan_vehicles(city, parameters, vehicles, keys)
            planned = time.perf_counter()
            offsets, edges = find_routes(city.network, vehicles.home, plans)
            routed = time.perf_counter()
            begin = 0
            for i, plan in enumerate(plans):
                home = int(vehicles.home[i])
                drive_history(
                    city.streets,
                    plan,
                    Routes(offsets[begin : begin + plan.day.size + 1], edges),
                    np.uint64(keys[i]),
                    city.road_map.node_x[home],
                    city.road_map.node_y[home],
                    parameters.first_ms,
                    parameters.last_ms,
                    parameters.gps_interval_ms,
                )
                begin += plan.day.size
            driven = time.perf_counter()
            planning, routing = planning + planned - before, routing + routed - planned
            driving += driven - routed
    return planning, routing, driving


class _PeakMemory:
    """Most memory (proportional set size) that this process and its descendants had at a time."""

    def __enter__(self) -> _PeakMemory:
        self.peak = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.5):
            self.peak = max(self.peak, _memory_of_tree())


def _memory_of_tree() -> int:
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    mine = {os.getpid()}
    for _ in range(8):
        mine |= {pid for pid, parent in parents.items() if parent in mine}
    total = 0
    for pid in mine:
        try:
            lines = (Path("/proc") / str(pid) / "smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total


if __name__ == "__main__":
    main()
