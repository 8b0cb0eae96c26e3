"""Folders that the benchmarks of this package leave, known by their files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from causeway.runtime.errors import UserError

__all__ = ["NEXMARK_TIMES", "NexmarkStream", "nexmark_stream", "workload_parts"]

_WORKLOAD: Final = "workload.json"
_STREAM: Final = "stream"
_NEXMARK: Final = "nexmark.json"

NEXMARK_TIMES: Final = ("dateTime", "bidTime", "time")
"""The names of the time column in the streams of both models."""


@dataclass(frozen=True)
class NexmarkStream:
    """The files of one stream."""

    folder: Path
    format: str


def workload_parts(place: Path) -> list[Path] | None:
    """The parts of a Linear Road workload's stream; None for another folder.

    `place` is the workload's folder or its `stream`.
    """
    if (place / _WORKLOAD).is_file() and (place / _STREAM).is_dir():
        folder = place
    elif place.name == _STREAM and (place.parent / _WORKLOAD).is_file():
        folder = place.parent
    else:
        return None
    kind = _facts(folder / _WORKLOAD).get("format")
    parts = sorted((folder / _STREAM).glob(f"part-*.{kind}")) if kind in ("parquet", "csv") else []
    if not parts:
        raise UserError(f"{folder / _STREAM}: the files of the workload's stream are gone")
    return parts


def nexmark_stream(place: Path, stream: str | None) -> NexmarkStream | None:
    """One stream of a folder of `causeway nexmark generate`; None for another folder.

    `place` is the whole folder, of which `stream` names one stream, or a stream's own folder.
    """
    if (place / _NEXMARK).is_file():
        facts = _facts(place / _NEXMARK)
        streams = list(facts.get("counts", {}))
        if stream is None:
            raise UserError(
                f"{place} has several streams; choose one with OPTIONS (stream = '…'): {', '.join(streams)}"
            )
        wanted = stream.casefold()
        # The paper's bids may be several streams, bid-1 and so on.
        chosen = [name for name in streams if name.casefold() == wanted] or [
            name for name in streams if name.partition("-")[0].casefold() == wanted
        ]
        if len(chosen) != 1:
            word = "no stream" if not chosen else "several streams"
            raise UserError(f"{place} has {word} {stream}; it has {', '.join(streams)}")
        folder = place / chosen[0]
    elif (place.parent / _NEXMARK).is_file() and place.is_dir():
        facts = _facts(place.parent / _NEXMARK)
        folder = place
    else:
        return None
    kind = str(facts.get("format"))
    if kind not in ("parquet", "json"):
        raise UserError(f"{place}: events in the format {kind} cannot be read; generate Parquet or JSON")
    if not folder.is_dir():
        raise UserError(f"{folder} is gone; generate the events again")
    return NexmarkStream(folder, kind)


def _facts(path: Path) -> dict[str, Any]:
    try:
        facts = json.loads(path.read_text())
    except (OSError, ValueError) as unreadable:
        raise UserError(f"{path} cannot be read: {unreadable}") from unreadable
    if not isinstance(facts, dict):
        raise UserError(f"{path} does not hold the facts of a folder")
    return facts
