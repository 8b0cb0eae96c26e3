"""A child process for tests: does what its arguments say."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from causeway.runtime.child_process import run_as_child


def work(arguments: dict[str, Any]) -> None:
    print("hello from the child")
    if "error" in arguments:
        raise ValueError(arguments["error"])
    if "signal" in arguments:
        os.kill(os.getpid(), arguments["signal"])
    if arguments.get("ignore_sigterm"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "started" in arguments:
        Path(arguments["started"]).write_text(str(os.getpid()))
        time.sleep(600)
    sys.exit(arguments.get("code", 0))


if __name__ == "__main__":
    run_as_child(work)
