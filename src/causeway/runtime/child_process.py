"""What a process does that works for another one, and must not outlive it."""

from __future__ import annotations

import os
import signal
import threading
import time

__all__ = ["end_with"]


def end_with(parent: int) -> None:
    """From now on, end when the process that started this one is gone, however it went."""
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGKILL)
