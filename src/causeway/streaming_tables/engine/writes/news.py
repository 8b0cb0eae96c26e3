"""Tells the threads of a connection that one of its writers has added rows, so that they need not look."""

from __future__ import annotations

import threading

__all__ = ["News"]


class News:
    """A counter that threads wait for. Who reads it before it looks at tables misses nothing."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._count = 0

    @property
    def count(self) -> int:
        """How often something has happened so far."""
        return self._count

    def spread(self) -> None:
        """Something has happened: wake everyone who waits."""
        with self._changed:
            self._count += 1
            self._changed.notify_all()

    def wait(self, seen: int, seconds: float) -> None:
        """Wait until more has happened than `seen`, or so long."""
        with self._changed:
            self._changed.wait_for(lambda: self._count != seen, seconds)
