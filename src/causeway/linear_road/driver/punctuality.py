"""How late the driver released files, over all attempts of a delivery.

    SPOOL/_lateness.json   lateness so far; gone when the delivery is finished

The file is replaced about every second, and at once after a late release, so that even a driver that is
killed leaves its lateness to the one that resumes.
"""

from __future__ import annotations

import json
import math
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

__all__ = ["PROMISED_LATENESS_MS", "Punctuality", "PunctualityFile"]

PROMISED_LATENESS_MS: Final = 100.0

_BUCKET_MS: Final = 0.1
_FILE: Final = "_lateness.json"
_SAVE_SECONDS: Final = 1.0


class Punctuality:
    """The lateness of releases. Worst and mean are exact, percentiles are rounded up to 0.1 ms."""

    def __init__(self) -> None:
        self.worst_ms = 0.0
        self._total_ms = 0.0
        self._releases = 0
        self._buckets: dict[int, int] = {}

    def add(self, lateness_ms: float) -> None:
        """Count a release that was `lateness_ms` late."""
        self.worst_ms = max(self.worst_ms, lateness_ms)
        self._total_ms += lateness_ms
        self._releases += 1
        bucket = math.ceil(lateness_ms / _BUCKET_MS)
        self._buckets[bucket] = self._buckets.get(bucket, 0) + 1

    @property
    def mean_ms(self) -> float:
        """The mean; 0 where nothing was released."""
        return self._total_ms / self._releases if self._releases else 0.0

    @property
    def p99_ms(self) -> float:
        """99 of 100 releases were at most so late."""
        enough = math.ceil(0.99 * self._releases)
        counted = 0
        for bucket in sorted(self._buckets):
            counted += self._buckets[bucket]
            if counted >= enough:
                return min(bucket * _BUCKET_MS, self.worst_ms)
        return 0.0

    def facts(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {
            "worst_ms": self.worst_ms,
            "total_ms": self._total_ms,
            "releases": self._releases,
            # Copied in one step: the releasing thread may add meanwhile.
            "buckets": sorted(self._buckets.copy().items()),
        }

    @classmethod
    def from_facts(cls, facts: dict[str, Any]) -> Punctuality:
        """What `facts` has described."""
        punctuality = cls()
        punctuality.worst_ms = facts["worst_ms"]
        punctuality._total_ms = facts["total_ms"]
        punctuality._releases = facts["releases"]
        punctuality._buckets = dict(facts["buckets"])
        return punctuality


class PunctualityFile:
    """Saves a delivery's punctuality inside the block, from a thread of its own.

    The file is not forced to disk: on many file systems that would make the renames of other threads wait.
    """

    def __init__(self, spool: Path, *, resume: bool) -> None:
        self._path = spool / _FILE
        self._saved: dict[str, Any] | None = None
        self._wake = threading.Event()
        self._done = False
        self._thread = threading.Thread(target=self._run, name="punctuality", daemon=True)
        self.punctuality = self._load() if resume else Punctuality()

    def __enter__(self) -> PunctualityFile:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done = True
        self._wake.set()
        self._thread.join()
        self._save()

    def add(self, lateness_ms: float) -> None:
        """Count a release."""
        self.punctuality.add(lateness_ms)
        if lateness_ms > PROMISED_LATENESS_MS:
            self._wake.set()

    def remove(self) -> None:
        """Remove the file: there will be nothing to resume."""
        self._path.unlink(missing_ok=True)

    def _load(self) -> Punctuality:
        try:
            return Punctuality.from_facts(json.loads(self._path.read_text()))
        except FileNotFoundError:
            return Punctuality()

    def _run(self) -> None:
        while not self._done:
            self._wake.wait(_SAVE_SECONDS)
            self._wake.clear()
            self._save()

    def _save(self) -> None:
        facts = self.punctuality.facts()
        if facts == self._saved or not facts["releases"]:
            return
        # A full disk fails the delivery elsewhere, with a reason.
        with suppress(OSError):
            unfinished = self._path.with_name(f".{_FILE}")
            unfinished.write_text(json.dumps(facts))
            unfinished.replace(self._path)
            self._saved = facts
