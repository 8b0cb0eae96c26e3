"""How fast types 3 and 4 are answered from the prepared history; the floor is direct indexing in memory.

    python benchmarks/linear_road_lookups.py [--expressways 10] [--requests 1000] [--vehicles 150000]

Requests come in batches over all expressways, as a stream's do; the arrays are files that are mapped into
memory, warm as after a first batch. The floor has the same numbers in ordinary arrays of all expressways and
is told where everything is: the row of a vehicle, and each segment and minute that a journey passes. It adds
up what it finds there, and nothing else.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from causeway.linear_road.history.arrays import DailyTolls
from causeway.linear_road.history.prepared import PreparedHistory, save_daily_tolls, save_weekday_sums
from causeway.linear_road.history.weekday_sums import LAV, WEEKDAY_SUMS_SHAPE
from causeway.linear_road.model.calendar import HISTORY_DAYS, MINUTES_PER_DAY, WEEKDAYS
from causeway.linear_road.model.expressway import SEGMENTS

I32 = npt.NDArray[np.int32]


def synthetic_history(folder: Path, expressways: int, vehicles: int) -> PreparedHistory:
    """Free roads with a rush hour here and there; half of all vehicles are known on each expressway."""
    luck = np.random.default_rng(1)
    for xway in range(expressways):
        known = np.sort(luck.choice(2 * vehicles, vehicles, replace=False)).astype(np.int32)
        tolls = luck.integers(0, 40_000, (vehicles, HISTORY_DAYS), np.uint16)
        save_daily_tolls(folder, xway, DailyTolls(known, tolls))
        sums = np.empty(WEEKDAY_SUMS_SHAPE, np.int16)
        sums[..., 0] = luck.integers(250, 700, WEEKDAY_SUMS_SHAPE[:-1])
        sums[..., 1] = 3300 - 4 * sums[..., 0]
        sums[..., 2] = HISTORY_DAYS // WEEKDAYS
        save_weekday_sums(folder, xway, sums)
    all_of_them = frozenset(range(expressways))
    PreparedHistory(folder, "synthetic", all_of_them, all_of_them).save({})
    return PreparedHistory.open(folder)


def toll(lav: I32, cars: I32) -> I32:
    """As costly as a rule set's."""
    return np.where((lav < 40) & (cars > 50), 2 * (cars - 50) ** 2, 0).astype(np.int32)


def best_of(repeat: int, work: Callable[[], object]) -> float:
    """The shortest of several times, in seconds; a first run that maps and compiles does not count."""
    work()
    seconds = []
    for _ in range(repeat):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def main() -> None:
    """Print one line for each type and its floor."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--expressways", type=int, default=10)
    arguments.add_argument("--requests", type=int, default=1000, help="of each type, in a batch")
    arguments.add_argument("--vehicles", type=int, default=150_000, help="for each expressway")
    arguments.add_argument("--repeat", type=int, default=20, help="the best of so many batches counts")
    given = arguments.parse_args()
    luck = np.random.default_rng(2)
    xway, vid, day, sinit, send, dow, tod = (
        luck.integers(least, end, given.requests)
        for least, end in (
            *((0, given.expressways), (0, 2 * given.vehicles), (1, HISTORY_DAYS + 1)),
            *((0, SEGMENTS), (0, SEGMENTS), (1, WEEKDAYS + 1), (1, MINUTES_PER_DAY + 1)),
        )
    )
    with tempfile.TemporaryDirectory(prefix="causeway-lookups-") as scratch:
        history = synthetic_history(Path(scratch), given.expressways, given.vehicles)
        every_toll = np.concatenate([np.load(file) for file in sorted(Path(scratch).glob("*-tolls.npy"))])
        every_sum = np.stack([np.load(file) for file in sorted(Path(scratch).glob("*-segments.npy"))])
        row = xway * given.vehicles + vid // 2
        passed = np.abs(send - sinit)
        journey = np.repeat(np.arange(given.requests), passed)
        segment = np.concatenate([np.arange(*sorted(ends)) for ends in zip(sinit, send, strict=True)])
        # Half a mile a minute, or what else: where a journey is does not matter to the floor.
        minute = np.minimum(tod[journey] - 1 + np.abs(segment - sinit[journey]), MINUTES_PER_DAY - 1)
        place = (xway[journey], (send < sinit)[journey].astype(np.int64), dow[journey] - 1, minute, segment)
        seconds = {
            "daily expenditure": best_of(given.repeat, lambda: history.daily_expenditures(vid, day, xway)),
            "  floor": best_of(given.repeat, lambda: every_toll[row, day - 1]),
            "travel time": best_of(
                given.repeat, lambda: history.travel_times(xway, sinit, send, dow, tod, toll)
            ),
            "  floor ": best_of(
                given.repeat,
                lambda: np.bincount(journey, every_sum[(*place, LAV)], given.requests),
            ),
        }
    print(
        f"{given.requests:,} requests of each type over {given.expressways} expressways, "
        f"{len(segment):,} segments passed, best of {given.repeat}"
    )
    print(f"{'':18}  {'ms':>8}  {'requests/s':>12}")
    for name, taken in seconds.items():
        print(f"{name:18}  {1000 * taken:8.3f}  {given.requests / taken:12,.0f}")


if __name__ == "__main__":
    main()
