"""Flink as its own environment runs it: a cluster in this process's Java, tables over a folder, statements.

A session cluster of one task manager is in the gateway's Java, where `TableEnvironment` would start one for
every job: so it is warm, and a job's time is its own.
"""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from pyflink.java_gateway import get_gateway  # type: ignore[import-not-found]
from pyflink.table import EnvironmentSettings, TableEnvironment  # type: ignore[import-not-found]

__all__ = ["cluster", "finished_at", "java", "statement", "tables", "versions"]

_HERE: Final = Path(__file__).parent
_CLUSTER: Final = {
    "rest.address": "localhost",
    "rest.bind-port": "0",
    # Buffers of windows and sorts are outside of the heap; the default of an embedded cluster is 128 MB.
    "taskmanager.memory.managed.size": "1g",
}
_SETTINGS: Final = {
    "pipeline.object-reuse": "true",
    # The next four are those of nexmark/nexmark.
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "2 s",
    "table.exec.mini-batch.size": "50000",
    "table.optimizer.distinct-agg.split.enabled": "true",
    "table.local-time-zone": "UTC",
}
_TIMES: Final = {
    "json": {
        "time": "BIGINT",
        "happened": "TO_TIMESTAMP_LTZ(`dateTime`, 3)",
        "expired": "TO_TIMESTAMP_LTZ(expires, 3)",
    },
    "parquet": {
        "time": "TIMESTAMP(3)",
        "happened": "CAST(`dateTime` AS TIMESTAMP_LTZ(3))",
        "expired": "CAST(expires AS TIMESTAMP_LTZ(3))",
    },
}


def java() -> Any:
    """The packages of the gateway's Java."""
    return get_gateway().jvm


def versions() -> dict[str, str]:
    """Flink's and Java's."""
    flink = java().org.apache.flink.runtime.util.EnvironmentInformation.getVersion()
    return {"flink": str(flink), "java": str(java().java.lang.System.getProperty("java.version"))}


@contextmanager
def cluster(slots: int) -> Iterator[dict[str, str]]:
    """A cluster in the gateway's Java, and the settings that lead jobs to it."""
    flink = java().org.apache.flink
    settings = flink.configuration.Configuration()
    for name, value in _CLUSTER.items():
        settings.setString(name, value)
    mini = flink.runtime.minicluster
    shape = mini.MiniClusterConfiguration.Builder().setConfiguration(settings)
    running = mini.MiniCluster(shape.setNumTaskManagers(1).setNumSlotsPerTaskManager(slots).build())
    running.start()
    try:
        address = running.getRestAddress().get()
        yield {
            "execution.target": "remote",
            "rest.address": address.getHost(),
            "rest.port": str(address.getPort()),
        }
    finally:
        running.close()


def tables(
    folder: str, file_format: str, settings: dict[str, str], *, source: str = "", delay: str = "4"
) -> TableEnvironment:
    """The streams of a folder as tables, with more `settings` of Flink.

    `source` has more options of the tables, as SQL; `delay` is the watermark's, in seconds.
    """
    environment = TableEnvironment.create(EnvironmentSettings.new_instance().in_streaming_mode().build())
    for name, value in {**_SETTINGS, **settings}.items():
        environment.get_config().set(name, value)
    text = (_HERE / "tables.sql").read_text()
    shaped = text.format(folder=folder, format=file_format, source=source, delay=delay, **_TIMES[file_format])
    for one in shaped.split(";"):
        if one.strip():
            environment.execute_sql(one)
    return environment


def statement(query: str) -> str:
    """The text of `q5`, or of another way to write it, such as `q5.top_n`."""
    number, _, way = query[1:].partition(".")
    return (_HERE / "queries" / f"q{int(number):02d}{f'.{way}' if way else ''}.sql").read_text()


def finished_at(submitted: Any, leading: dict[str, str]) -> float:
    """Wait for a job; when the cluster had finished it, in seconds since 1970.

    The end is the cluster's own word: the client asks at growing intervals, and learns of it up to 2 s later.
    """
    submitted.wait()
    job = submitted.get_job_client().get_job_id()
    address = f"http://{leading['rest.address']}:{leading['rest.port']}/jobs/{job}"
    with urllib.request.urlopen(address) as response:
        return float(json.load(response)["end-time"]) / 1000
