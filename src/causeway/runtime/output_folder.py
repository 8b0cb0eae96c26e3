"""What commands leave: folders that were new or empty, files that appear whole, facts to read again.

A folder that may have to be removed again has a marker while it is unfinished. A folder without the marker is
the user's, and never removed.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from causeway.runtime.errors import UserError
from causeway.runtime.lock import LOCK_FILE

__all__ = [
    "UNFINISHED",
    "begin_folder",
    "finish_folder",
    "is_replaceable",
    "load_facts",
    "prepare_folder",
    "read_json",
    "refuse_used_folder",
    "remove_unfinished",
    "scratch_folder",
    "write_json",
]

UNFINISHED: Final = ".made-by-causeway-unfinished"
"""Name of the marker in a folder that is not finished."""
_MARKER_TEXT: Final = "Causeway made this folder and has not finished it. It may be removed.\n"


def is_replaceable(folder: Path) -> bool:
    """Whether `folder` may be begun anew: it is missing, empty, or was begun here and not finished."""
    if folder.is_symlink() or not folder.is_dir():
        return not folder.is_symlink() and not folder.exists()
    return (folder / UNFINISHED).is_file() or all(entry.name == LOCK_FILE for entry in folder.iterdir())


def begin_folder(folder: Path) -> None:
    """Make `folder`, empty but for the marker; replaces one that was not finished, refuses any other."""
    if not is_replaceable(folder):
        raise UserError(f"{folder} is in the way: it was not made by this command. Move or remove it.")
    remove_unfinished(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / UNFINISHED).write_text(_MARKER_TEXT)
    except OSError as refused:
        raise UserError(f"{folder} cannot be made: {refused.strerror}") from refused


def finish_folder(folder: Path) -> None:
    """Take the marker away: from now on the folder is the user's, and stays."""
    (folder / UNFINISHED).unlink(missing_ok=True)


def remove_unfinished(folder: Path) -> None:
    """Remove `folder` if it has the marker; leave any other as it is.

    The marker goes last, so that a removal that was broken off can be done again.
    """
    if folder.is_symlink() or not (folder / UNFINISHED).is_file():
        return
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        elif entry.name != UNFINISHED:
            with suppress(OSError):
                entry.unlink()
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def scratch_folder(folder: Path) -> Iterator[Path]:
    """A folder for the block only; what a process that was killed left in it goes first."""
    begin_folder(folder)
    try:
        yield folder
    finally:
        remove_unfinished(folder)


def refuse_used_folder(folder: Path, replaces: Sequence[str] = ()) -> None:
    """Raise a UserError if `folder` is a file or has more in it than `replaces`."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file; give a folder")
    if folder.is_dir():
        # Who writes to a folder locks it first.
        others = sorted(entry.name for entry in folder.iterdir() if entry.name not in (*replaces, LOCK_FILE))
        if others:
            raise UserError(
                f"{folder} is not empty (it has {others[0]}); give a new folder, or remove it first"
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


def write_json(path: Path, facts: dict[str, Any], *, durable: bool = True) -> None:
    """Write JSON that appears whole, by rename.

    It survives the end of this process in any case, a power failure only if it is `durable`: that waits for
    the disk, and on many file systems makes other processes' renames wait too.
    """
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}-", delete=False) as fresh:
        try:
            json.dump(facts, fresh, indent=2)
            fresh.write("\n")
            fresh.flush()
            if durable:
                os.fsync(fresh.fileno())
            Path(fresh.name).chmod(0o644)
            Path(fresh.name).replace(path)
        except BaseException:
            Path(fresh.name).unlink(missing_ok=True)
            raise


def read_json(path: Path) -> dict[str, Any] | None:
    """The facts that `write_json` left in a file; `None` where there is no such file."""
    try:
        facts = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    except (ValueError, OSError) as unreadable:
        raise UserError(f"{path} cannot be read: {unreadable}") from unreadable
    if not isinstance(facts, dict):
        raise UserError(f"{path} cannot be read: it has no facts by name")
    return facts


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
