"""A workload on disk: what `generate` and `import` leave behind and every later step reads.

    DIR/workload.json              seed, expressways, minutes, counts, program version; written last
    DIR/stream/part-00000.parquet  tuples in time order (CSV instead on request)
    DIR/history/…                  added by `causeway linear-road history`

Each part is in time order by itself (a generated workload has one per expressway), so that a reader
merges parts by time and never sorts. `workload.json` is written last: a folder without it is unfinished.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from causeway import __version__
from causeway.errors import UserError

__all__ = ["StreamFormat", "Workload", "prepare_folder", "refuse_used_folder", "write_json"]

StreamFormat = Literal["parquet", "csv"]

_FILE = "workload.json"
_LAYOUT = 1


@dataclass(frozen=True)
class Workload:
    """The plain facts of a workload folder."""

    folder: Path
    source: Literal["generated", "imported"]
    format: StreamFormat
    expressways: float
    """L; 0.5 is the eastern direction of one expressway."""
    minutes: int
    seed: int | None
    counts: dict[str, int] = field(default_factory=dict)
    """`reports`, `vehicles`, `type_2`, `type_3`, `type_4`; generated: `trips`; imported: `rejected`."""
    version: str = __version__

    @property
    def stream(self) -> Path:
        """Folder of the tuples."""
        return self.folder / "stream"

    @property
    def history(self) -> Path:
        """Folder of TollHistory and SegmentHistory."""
        return self.folder / "history"

    @property
    def parts(self) -> list[Path]:
        """The files of the stream, each in time order."""
        return sorted(self.stream.glob(f"part-*.{self.format}"))

    def save(self) -> None:
        """Write `workload.json`, whole or not at all."""
        facts = asdict(self) | {"layout": _LAYOUT}
        del facts["folder"]
        write_json(self.folder / _FILE, facts)

    @classmethod
    def load(cls, folder: Path) -> Workload:
        """Read a workload's facts; a folder that is none is the user's mistake."""
        path = folder / _FILE
        if not folder.is_dir():
            raise UserError(
                f"{folder}: no such folder; make a workload with `causeway linear-road generate --out`"
            )
        try:
            facts = json.loads(path.read_text())
        except FileNotFoundError:
            raise UserError(
                f"{folder} is not a workload, or an unfinished one: it has no {_FILE}. "
                "Make it with `causeway linear-road generate` or `import`."
            ) from None
        except (ValueError, OSError) as unreadable:
            raise UserError(f"{path} cannot be read: {unreadable}") from unreadable
        layout = facts.pop("layout", None) if isinstance(facts, dict) else None
        if layout != _LAYOUT:
            raise UserError(f"{path}: layout {layout} is not one that this version reads ({_LAYOUT})")
        try:
            workload = cls(folder=folder, **facts)
        except TypeError as wrong:
            raise UserError(f"{path}: {wrong}") from wrong
        if workload.format not in get_args(StreamFormat):
            raise UserError(
                f"{path}: format {workload.format!r} is none of {', '.join(get_args(StreamFormat))}"
            )
        if not workload.parts:
            raise UserError(f"{workload.stream}: the stream's files (part-*.{workload.format}) are gone")
        return workload


def refuse_used_folder(folder: Path, replaces: Sequence[str] = ()) -> None:
    """Tell the user if `folder` cannot take fresh output: it is a file, or has more in it than `replaces`."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file; give a folder")
    if folder.is_dir():
        there = sorted(entry.name for entry in folder.iterdir() if entry.name not in replaces)
        if there:
            raise UserError(
                f"{folder} is not empty (it has {there[0]}); give a new folder, or remove it first"
            )


def prepare_folder(folder: Path, replaces: Sequence[str] = ()) -> None:
    """Make `folder` for fresh output; refuse one that has something else in it.

    Of a finished or broken-off earlier output, only the names in `replaces` may be there.
    """
    refuse_used_folder(folder, replaces)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as refused:
        raise UserError(f"{folder} cannot be made: {refused.strerror}") from refused


def write_json(path: Path, facts: dict[str, Any]) -> None:
    """Write JSON that appears whole, by rename."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}-", delete=False) as fresh:
        json.dump(facts, fresh, indent=2)
        fresh.write("\n")
        fresh.flush()
        os.fsync(fresh.fileno())
    Path(fresh.name).chmod(0o644)
    Path(fresh.name).replace(path)
