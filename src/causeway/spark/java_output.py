"""What Java and its Python workers write to their error output: to a log file, to the terminal, or nowhere.

All sessions of a process share one Java, whose error output is a pipe; each session says where it leads.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from causeway.runtime.errors import UserError
from causeway.spark.internals import launch_java

if TYPE_CHECKING:
    from pyspark import SparkConf

__all__ = ["JavaOutput"]

_KEPT: Final = 4_000
"""Bytes from the end of the output that are remembered, for the reason why Java did not start."""


class JavaOutput:
    """Error output of the Java of this process."""

    def __init__(self) -> None:
        self._log: IO[bytes] | None = None
        self._shown = False
        self._end = bytearray()
        self._reader: threading.Thread | None = None

    def lead_to(self, log_file: Path | None, *, shown: bool) -> None:
        """From now on append it to `log_file`, if one is named, and copy it to the terminal if `shown`."""
        log: IO[bytes] | None = None
        if log_file is not None:
            try:
                log_file.parent.mkdir(parents=True, exist_ok=True)
                log = log_file.open("ab", buffering=0)
            except OSError as failure:
                raise UserError(f"{log_file} cannot be written: {failure.strerror}") from failure
        self._log, self._shown = log, shown

    def launch(self, conf: SparkConf) -> bool:
        """Start Java unless it runs; whether it was started."""
        reading, writing = os.pipe()
        reader = threading.Thread(target=self._copy, args=(reading,), name="java output", daemon=True)
        reader.start()
        self._reader, earlier = reader, self._reader
        try:
            launched = launch_java(conf, writing)
        finally:
            os.close(writing)
        if not launched:
            self._reader = earlier
        return launched

    def last_words(self) -> str:
        """The end of what was written by a Java that has ended."""
        if self._reader is not None:
            self._reader.join(5)
        return bytes(self._end).decode(errors="replace").strip()

    def _copy(self, reading: int) -> None:
        with os.fdopen(reading, "rb", buffering=0) as pipe:
            while piece := pipe.read(1 << 16):
                self._end += piece
                del self._end[:-_KEPT]
                try:
                    if self._log is not None:
                        self._log.write(piece)
                    if self._shown:
                        sys.stderr.write(piece.decode(errors="replace"))
                        sys.stderr.flush()
                except (OSError, ValueError):
                    # A full disk or a closed terminal must not stop Java, which waits for its reader.
                    continue
