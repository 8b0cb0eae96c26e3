"""A workload on disk: what `generate` and `import` leave behind and every later step reads.

    DIR/workload.json              seed, expressways, minutes, counts, program version; written last
    DIR/stream/part-00000.parquet  tuples in time order (CSV instead on request)
    DIR/history/…                  added by `causeway linear-road history`

Each part is in time order by itself (a generated workload has one per expressway), so that a reader
merges parts by time and never sorts. `workload.json` is written last: a folder without it is unfinished.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal, get_args

from causeway import __version__
from causeway.runtime.errors import UserError
from causeway.runtime.output_folder import load_facts, write_json

__all__ = ["StreamFormat", "Workload"]

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
        facts = load_facts(
            path,
            _LAYOUT,
            absent="make a workload with `causeway linear-road generate`",
            without=f"is not a workload, or an unfinished one: it has no {_FILE}. "
            "Make it with `causeway linear-road generate` or `import`.",
        )
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
