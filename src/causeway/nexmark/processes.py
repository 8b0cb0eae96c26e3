"""CPU time of a tree of processes, from /proc: the driver, its Java, and Java's Python workers."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

__all__ = ["cpu_seconds"]


def cpu_seconds(root: int | None = None, without: Collection[int] = ()) -> float | None:
    """Seconds that a process, its descendants and those of them that have ended took so far.

    `without` are descendants that do not count. `None` where the system does not tell.
    """
    proc = Path("/proc")
    if not (proc / "self" / "stat").exists():
        return None
    parents, ticks = {}, {}
    for entry in proc.iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
            # Of itself, and of children that have ended and been waited for.
            ticks[int(entry.name)] = sum(int(value) for value in fields[11:15])
    mine = {root if root is not None else os.getpid()}
    grown = True
    while grown:
        children = {pid for pid, parent in parents.items() if parent in mine and pid not in without} - mine
        grown = bool(children)
        mine |= children
    return sum(ticks.get(pid, 0) for pid in mine) / os.sysconf("SC_CLK_TCK")
