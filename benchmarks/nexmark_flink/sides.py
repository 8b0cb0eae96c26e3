"""The systems that are compared, each in processes of its own, with the same Java options."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from causeway.runtime.cpu_time import cpu_seconds
from causeway.runtime.errors import UserError
from nexmark_flink.environment import flink_python, flink_variables
from nexmark_flink.handshake import heard

__all__ = ["CORES", "SIDES", "Attempt", "Side", "SideProcess", "parse_sides"]

CORES: Final = 2
SIDES: Final = ("flink", "spark", "columnar")
_USUAL_COLLECTORS: Final = {"flink": "parallel", "spark": "parallel", "columnar": "parallel"}
"""The better one for Flink and columnar in q0 to q3 (`--sides flink:g1,flink:parallel` tells).

Plain Spark was not tried with G1.
"""
_COLLECTORS: Final = {"g1": "-XX:+UseG1GC", "parallel": "-XX:+UseParallelGC"}
_PACKAGE: Final = Path(__file__).resolve().parent
_PATIENCE_SECONDS: Final = 60


@dataclass(frozen=True)
class Side:
    """A system with a garbage collector."""

    system: str
    """flink, spark (plain Structured Streaming) or columnar (Causeway's operators on Spark)."""
    collector: str
    heap: str
    name: str
    """As the user wrote it."""

    @property
    def rules(self) -> str:
        """Whose reading of the queries: plain Spark has ours alone."""
        return "ours" if self.system == "spark" else "flink"

    @property
    def java_options(self) -> str:
        """Flink has no use for what Arrow is told, but the options are to be the same."""
        arrow = "-Darrow.enable_unsafe_memory_access=true -Darrow.enable_null_check_for_get=false"
        return f"{_COLLECTORS[self.collector]} {arrow}"

    def command(self, file_format: str, jars: Sequence[Path], logs: Path) -> tuple[list[str], dict[str, str]]:
        """What starts it, and its environment variables."""
        if self.system == "flink":
            java = f"-Xmx{self.heap} {self.java_options}"
            return [str(flink_python()), "-m", "nexmark_flink.flink_side"], flink_variables(
                file_format, jars, java, logs
            )
        return [sys.executable, "-m", "nexmark_flink.spark_side"], dict(os.environ)

    def settings(self) -> dict[str, Any]:
        """What a process of it is told besides its work."""
        return {
            "engine": self.system,
            "cores": CORES,
            "conf": {"spark.driver.memory": self.heap, "spark.driver.extraJavaOptions": self.java_options},
        }


def parse_sides(text: str, heap: str) -> list[Side]:
    """Sides as the user writes them: flink,spark,columnar, or flink:g1,flink:parallel."""
    sides = []
    for name in text.split(","):
        system, _, collector = name.strip().partition(":")
        collector = collector or _USUAL_COLLECTORS.get(system, "")
        if system not in SIDES or collector not in _COLLECTORS:
            raise UserError(
                f"--sides: {name!r} is none of {', '.join(SIDES)}, with :g1 or :parallel behind it or not"
            )
        sides.append(Side(system, collector, heap, name.strip()))
    return sides


@dataclass(frozen=True)
class Attempt:
    """A measured run."""

    seconds: float
    cpu: float
    java_cpu: float
    """Of `cpu`, what Java itself took; the rest is Python's."""
    others: float
    """Cores that other processes of the machine took meanwhile."""
    report: dict[str, Any]


class SideProcess:
    """A side at work."""

    def __init__(self, process: subprocess.Popen[str], errors: Path) -> None:
        self._process = process
        self._errors = errors
        self.ready: dict[str, Any] = {}

    @staticmethod
    @contextmanager
    def started(
        command: Sequence[str], variables: Mapping[str, str], settings: Mapping[str, Any], errors: Path
    ) -> Iterator[SideProcess]:
        """A process with its descendants in a group of their own; all of them end with the block."""
        with errors.open("w") as output:
            process = subprocess.Popen(
                [*command, json.dumps(dict(settings))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                text=True,
                env={**variables, "PYTHONPATH": os.pathsep.join(_python_path(variables))},
                start_new_session=True,
            )
        try:
            yield SideProcess(process, errors)
            assert process.stdin is not None
            process.stdin.close()
            process.wait(_PATIENCE_SECONDS)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def wait_until_warm(self) -> None:
        """Wait until it says that it is ready; `ready` is what it said."""
        self.ready = self.next_report()

    def measure(self) -> Attempt:
        """Let it work once, and note what that took."""
        before, java_before, all_before = self._cpu()
        began = time.monotonic()
        self.say("run")
        report = self.next_report()
        passed = time.monotonic() - began
        after, java_after, all_after = self._cpu()
        self.say("tidy")
        self.next_report()
        others = max(0.0, (all_after - all_before) - (after - before)) / passed
        seconds = report.pop("seconds")
        return Attempt(seconds, after - before, java_after - java_before, round(others, 2), report)

    def _cpu(self) -> tuple[float, float, float]:
        """CPU seconds so far: of the process and all below it, of its Java alone, of the machine."""
        own = cpu_seconds(self._process.pid)
        assert own is not None
        return own, _own_cpu(self.ready["java"]), _machine_cpu()

    def say(self, word: str) -> None:
        """Give it the word that it waits for."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{word}\n")
        self._process.stdin.flush()

    def next_report(self) -> dict[str, Any]:
        """Wait for what it says next; a process that ends instead is an error with its last words."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if (report := heard(line)) is not None:
                return report
        self._process.wait()
        shown = self._errors.read_text(errors="replace").strip()[-3000:]
        command = shlex.join(map(str, self._process.args))  # type: ignore[arg-type]
        raise RuntimeError(f"{command} ended without a result:\n{shown}")


def _python_path(variables: Mapping[str, str]) -> list[str]:
    """Flink's Python must not see the packages of this one: only those of the benchmark."""
    ours = variables.get("PYTHONPATH", "")
    return [str(_PACKAGE.parent), *([ours] if ours else [])]


def _machine_cpu() -> float:
    """CPU seconds of all processes: of users and of the system, not idle, not stolen by the host."""
    user, nice, system = Path("/proc/stat").read_text().split()[1:4]
    return (int(user) + int(nice) + int(system)) / os.sysconf("SC_CLK_TCK")


def _own_cpu(pid: int) -> float:
    """CPU seconds of one process, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
