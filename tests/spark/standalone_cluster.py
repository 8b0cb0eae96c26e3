"""A standalone cluster of Spark on the loopback interface: a master, and workers of one core each."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyspark

from causeway.spark.java import ensure_java

__all__ = ["StandaloneCluster", "standalone_cluster"]

_PACKAGE = Path(pyspark.__file__).parent
_PATIENCE = 120


@dataclass(frozen=True)
class StandaloneCluster:
    master: str
    workers: list[subprocess.Popen[bytes]]
    folder: Path

    def executors(self) -> list[int]:
        """The processes of the executors: children of the workers."""
        workers = {worker.pid for worker in self.workers}
        found = []
        for status in Path("/proc").glob("[0-9]*/stat"):
            try:
                parent = int(status.read_text().rpartition(")")[2].split()[1])
                if parent in workers and b"Executor" in (status.parent / "cmdline").read_bytes():
                    found.append(int(status.parent.name))
            except (OSError, IndexError):
                continue
        return found


@contextmanager
def standalone_cluster(
    folder: Path, workers: int = 2, environment: Mapping[str, str] | None = None
) -> Iterator[StandaloneCluster]:
    """Start the cluster and wait until all its workers have registered; `environment` is the workers'."""
    folder.mkdir(parents=True, exist_ok=True)
    port = _free_port()
    master = f"spark://127.0.0.1:{port}"
    started = [
        _start(
            "master.Master", folder / "master.log", {}, "--port", str(port), "--webui-port", str(_free_port())
        )
    ]
    try:
        _wait_for(folder / "master.log", "I have been elected leader", 1)
        for number in range(workers):
            place = folder / f"worker-{number}"
            started.append(
                _start(
                    "worker.Worker",
                    folder / f"worker-{number}.log",
                    environment or {},
                    *("-c", "1", "-m", "1g", "-d", str(place), "--webui-port", str(_free_port()), master),
                )
            )
        _wait_for(folder / "master.log", "Registering worker", workers)
        yield StandaloneCluster(master, started[1:], folder)
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _start(name: str, log: Path, environment: Mapping[str, str], *arguments: str) -> subprocess.Popen[bytes]:
    home = {"JAVA_HOME": ensure_java(), "SPARK_HOME": str(_PACKAGE), "SPARK_NO_DAEMONIZE": "1"}
    with log.open("wb") as output:
        return subprocess.Popen(
            [
                str(_PACKAGE / "bin" / "spark-class"),
                f"org.apache.spark.deploy.{name}",
                *("--host", "127.0.0.1"),
                *arguments,
            ],
            env=os.environ | home | dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )


def _wait_for(log: Path, words: str, times: int) -> None:
    give_up = time.monotonic() + _PATIENCE
    while log.read_text().count(words) < times:
        assert time.monotonic() < give_up, f"{log} does not say {words!r}: {log.read_text()}"
        time.sleep(0.05)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
