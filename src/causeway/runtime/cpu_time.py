"""CPU time and memory of a tree of processes, from /proc: the driver, its Java, and Java's Python workers."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

__all__ = ["CpuMeter", "cpu_seconds", "memory_bytes"]


class CpuMeter:
    """CPU seconds of this process and its descendants, those that have ended included.

    What a process took is gone with it where nobody waited for it, as Spark's daemon does not always: so it
    is to be read often, and a process counts with what it had taken when it was last seen.
    """

    def __init__(self, without: Collection[int] = ()) -> None:
        """`without` are descendants that do not count."""
        self._without = without
        self._ticks: dict[tuple[int, str], int] = {}

    def read(self) -> float | None:
        """Seconds so far, never less than before. `None` where the system does not tell."""
        for pid, fields in _tree(os.getpid(), self._without):
            # Numbers of processes come again; the moment of the start makes them one of a kind.
            self._ticks[pid, fields[19]] = int(fields[11]) + int(fields[12])
        return sum(self._ticks.values()) / os.sysconf("SC_CLK_TCK") if self._ticks else None


def cpu_seconds(root: int) -> float | None:
    """Seconds that a process, its descendants and those of them that were waited for took so far."""
    ticks = [int(value) for _, fields in _tree(root, ()) for value in fields[11:15]]
    return sum(ticks) / os.sysconf("SC_CLK_TCK") if ticks else None


def memory_bytes(root: int) -> int | None:
    """Memory of a process and its descendants; what several of them share counts once. `None` if unknown."""
    kibibytes = []
    for pid, _ in _tree(root, ()):
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        kibibytes += [int(line.split()[1]) for line in lines if line.startswith("Pss:")]
    return 1024 * sum(kibibytes) if kibibytes else None


def _tree(root: int, without: Collection[int]) -> Iterator[tuple[int, list[str]]]:
    """A process and its descendants, each with its `stat` after the name; nothing where there is no /proc."""
    known, children = {}, dict[int, list[int]]()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        known[int(entry.name)] = fields
        children.setdefault(int(fields[1]), []).append(int(entry.name))
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        if pid in known and pid not in without:
            yield pid, known[pid]
            waiting += children.get(pid, [])
