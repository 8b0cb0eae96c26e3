"""A folder that a command makes: it appears under its name when all of it is written, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from causeway.runtime.errors import UserError
from causeway.runtime.lock import FolderLock
from causeway.runtime.output_folder import (
    begin_folder,
    finish_folder,
    refuse_used_folder,
    remove_unfinished,
)

__all__ = ["new_folder"]


@contextmanager
def new_folder(out: Path, command: str) -> Iterator[Path]:
    """A hidden folder beside `out`, which becomes `out` at the end of the block.

    If the block fails, nothing is left. What a killed process left is removed by the next one with the same
    `out`. A second process with the same `out` is refused; `command` tells it what the first one does.
    """
    out = out.absolute()
    refuse_used_folder(out)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as refused:
        raise UserError(f"{out.parent} cannot be made: {refused.strerror}") from refused
    with FolderLock(out.parent, f"{command}, into {out},", lock_file=out.with_name(f".{out.name}.lock")):
        refuse_used_folder(out)
        unfinished = out.with_name(f".{out.name}.unfinished")
        begin_folder(unfinished)
        try:
            yield unfinished
            if out.exists():
                out.rmdir()
            unfinished.replace(out)
            finish_folder(out)
        except BaseException as failure:
            remove_unfinished(unfinished)
            if isinstance(failure, OSError):
                raise UserError(f"{out} cannot be written: {failure}") from failure
            raise
