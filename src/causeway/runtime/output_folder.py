"""What commands leave: folders that were new or empty, files that appear whole, facts to read again."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from causeway.runtime.errors import UserError
from causeway.runtime.lock import LOCK_FILE

__all__ = ["load_facts", "prepare_folder", "refuse_used_folder", "write_json"]


def refuse_used_folder(folder: Path, replaces: Sequence[str] = ()) -> None:
    """Tell the user if `folder` cannot take fresh output: it is a file, or has more in it than `replaces`."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file; give a folder")
    if folder.is_dir():
        # Who writes to a folder locks it first.
        there = sorted(entry.name for entry in folder.iterdir() if entry.name not in (*replaces, LOCK_FILE))
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


def load_facts(path: Path, layout: int, *, absent: str, without: str) -> dict[str, Any]:
    """The facts in `path`, whose folder the user gave, without their layout.

    `absent` says what to do where there is no such folder, `without` what a folder without the file is.
    """
    folder = path.parent
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder; {absent}")
    try:
        facts = json.loads(path.read_text())
    except FileNotFoundError:
        raise UserError(f"{folder} {without}") from None
    except (ValueError, OSError) as unreadable:
        raise UserError(f"{path} cannot be read: {unreadable}") from unreadable
    found = facts.pop("layout", None) if isinstance(facts, dict) else None
    if found != layout:
        raise UserError(f"{path}: layout {found} is not one that this version reads ({layout})")
    return dict(facts)
