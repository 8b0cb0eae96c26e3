"""A run on disk: its settings and facts, who works on it, and its log.

    RUN/<facts>.json   settings, machine, versions, figures, state; replaced whole
    RUN/log.txt        when it was begun and how it ended; what Spark and its workers wrote
    RUN/.lock          held while a process works on the run

States: new → running → finished, or stopped (by the user) or failed; all but finished can be resumed.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from causeway.runtime.errors import UserError
from causeway.runtime.lock import FolderLock
from causeway.runtime.output_folder import load_facts, refuse_used_folder, write_json

__all__ = ["RunFolder", "refuse_other_settings"]

_LOG: Final = "log.txt"


class RunFolder:
    """A run's folder, whose facts are in the file `facts_name`, with the layout number `layout`."""

    facts_name: str = "run.json"
    layout: int = 1
    command: str = "causeway"
    """The command that makes such a run, for error messages."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def facts_file(self) -> Path:
        return self.path / self.facts_name

    @property
    def log(self) -> Path:
        return self.path / _LOG

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes away from the run; a second one gets an error that names the first."""
        with FolderLock(self.path, self.command):
            # Left by a process that was killed while it saved.
            for unfinished in self.path.glob(f".{self.facts_name}-*"):
                unfinished.unlink(missing_ok=True)
            yield

    def is_locked(self) -> bool:
        """Whether a process works on the run."""
        return FolderLock(self.path, self.command).is_held()

    def begin(self, facts: Mapping[str, Any]) -> None:
        """Make the folder of a new run and write its first facts.

        Done before Spark takes its seconds to start, so that a run that is killed meanwhile can be resumed.
        """
        refuse_used_folder(self.path, replaces=(".lock",))
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as refused:
            raise UserError(f"{self.path} cannot be made: {refused.strerror}") from refused
        self.save({"state": "new", **facts})

    def facts(self) -> dict[str, Any]:
        """Read the facts; a folder without them is the user's mistake."""
        return load_facts(
            self.facts_file,
            self.layout,
            absent=f"make a run with `{self.command}`",
            without=f"is not a run: it has no {self.facts_name}. Make one with `{self.command}`.",
        )

    def resumable_facts(self) -> dict[str, Any]:
        """The facts of a run that is not finished."""
        facts = self.facts()
        if facts.get("state") == "finished":
            raise UserError(f"{self.path} is finished; there is nothing to resume")
        return facts

    def save(self, facts: Mapping[str, Any], *, durable: bool = True) -> None:
        """Replace the facts, whole; see `write_json` for `durable`."""
        write_json(self.facts_file, dict(facts) | {"layout": self.layout}, durable=durable)

    @contextmanager
    def recorded(self, facts: dict[str, Any]) -> Iterator[None]:
        """Save `facts` as those of a running run, and at the block's end again with how it ended."""
        facts["state"] = "running"
        self.save(facts)
        try:
            yield
            facts["state"] = "finished"
        except KeyboardInterrupt:
            facts["state"] = "stopped"
            raise
        except BaseException:
            facts["state"] = "failed"
            raise
        finally:
            self.save(facts)

    @contextmanager
    def logged(self, attempt: str) -> Iterator[None]:
        """Append to the log that `attempt` begins and how it ends, a failure with its traceback."""
        self._append_to_log(f"{attempt} begins, process {os.getpid()}")
        try:
            yield
        except KeyboardInterrupt:
            self._append_to_log(f"{attempt} was interrupted")
            raise
        except BaseException:
            self._append_to_log(f"{attempt} failed\n{traceback.format_exc()}")
            raise
        self._append_to_log(f"{attempt} is finished")

    def _append_to_log(self, text: str) -> None:
        # A full disk must not hide the failure that is being logged.
        with suppress(OSError), self.log.open("a", encoding="utf-8", errors="replace") as log:
            log.write(f"{datetime.now().astimezone().isoformat(timespec='seconds')} {text.rstrip()}\n")


def refuse_other_settings(requested: Mapping[str, Any], kept: Mapping[str, Any], run: Path) -> None:
    """Refuse settings that the user gave to resume a run and that disagree with the run's own."""
    for name, value in requested.items():
        if value is not None and value != kept.get(name):
            raise UserError(
                f"{run} was begun with {name.replace('_', ' ')} {kept.get(name)!r}; "
                f"it cannot be resumed with {value!r}"
            )
