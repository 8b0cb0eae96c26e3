"""Streets of a file that cannot be used: where each is, and why."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Final, NamedTuple

__all__ = ["REJECTS_FILE", "Reject", "write_rejects"]

REJECTS_FILE: Final = "rejects.csv"


class Reject(NamedTuple):
    """A street that was left out."""

    file: str
    place: str
    """`line 12`, `record 3` or `way 4711`, whatever the file has."""
    reason: str

    def __str__(self) -> str:
        return f"{self.file}, {self.place}: {self.reason}"


def write_rejects(path: Path, rejects: list[Reject]) -> None:
    """Write a line for each reject."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Reject._fields)
        writer.writerows(rejects)
