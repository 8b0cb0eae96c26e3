"""Where Spark runs: a master that cannot work is refused before Spark looks for it for minutes."""

from __future__ import annotations

import os
import re
import socket
from typing import Final

from causeway.runtime.errors import UserError

__all__ = ["check_master", "is_local"]

_MASTERS: Final = re.compile(
    r"local(\[(\*|[1-9]\d*)(\s*,\s*[1-9]\d*)?\])?"
    r"|local-cluster\[\s*\d+\s*,\s*\d+\s*,\s*\d+\s*\]"
    r"|spark://[^\s,/]+:\d+(,[^\s,/]+:\d+)*"
    r"|k8s://\S+"
    r"|yarn"
)
_CONNECT_SECONDS: Final = 5


def is_local(master: str) -> bool:
    """Whether Spark's workers are on this machine and start from this process."""
    return master.startswith("local")


def check_master(master: str) -> None:
    """Refuse a master that Spark cannot know, or a standalone one where nobody answers.

    Spark would look for the latter for minutes, and report both in a stack trace.
    """
    if not _MASTERS.fullmatch(master):
        raise UserError(f"master {master}: expected local[*], local[N], spark://HOST:PORT, k8s://URL or yarn")
    if master == "yarn" and not (os.environ.get("HADOOP_CONF_DIR") or os.environ.get("YARN_CONF_DIR")):
        raise UserError("master yarn: set HADOOP_CONF_DIR to the folder of the cluster's configuration")
    if master.startswith("spark://"):
        refused = []
        for address in master.removeprefix("spark://").split(","):
            host, _, port = address.rpartition(":")
            try:
                socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_SECONDS).close()
                return
            except (OSError, OverflowError, UnicodeError) as failure:
                refused.append(f"{address} ({getattr(failure, 'strerror', None) or failure})")
        raise UserError(f"master {master}: no Spark master answers at {', '.join(refused)}")
