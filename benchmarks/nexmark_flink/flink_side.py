"""Flink's side: runs in Flink's own environment, started by `nexmark_vs_flink.py`.

    python -m nexmark_flink.flink_side '{"task": "measure", "query": "q5", "folder": …}'

A session cluster of one task manager is in the gateway's Java, where `TableEnvironment` would start one for
every job: so it is warm, and a job's time is its own. State is on the heap and nothing is checkpointed, which
is the fastest that Flink has.
"""

from __future__ import annotations

import json
import re
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from pyflink.java_gateway import get_gateway  # type: ignore[import-not-found]
from pyflink.table import (  # type: ignore[import-not-found]
    EnvironmentSettings,
    TableDescriptor,
    TableEnvironment,
)

from nexmark_flink.handshake import tell, wait_for_start

_HERE: Final = Path(__file__).parent
_SETTINGS: Final = {
    "pipeline.object-reuse": "true",
    # As nexmark/nexmark has them.
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "2 s",
    "table.exec.mini-batch.size": "50000",
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


@contextmanager
def cluster(slots: int) -> Iterator[dict[str, str]]:
    """A cluster in the gateway's Java, and the settings that lead jobs to it."""
    flink = get_gateway().jvm.org.apache.flink
    settings = flink.configuration.Configuration()
    for name, value in {"rest.address": "localhost", "rest.bind-port": "0"}.items():
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


def tables(settings: dict[str, Any], folder: str, leading: dict[str, str]) -> TableEnvironment:
    """The streams of a folder as tables."""
    environment = TableEnvironment.create(EnvironmentSettings.new_instance().in_streaming_mode().build())
    for name, value in {**_SETTINGS, **leading, "parallelism.default": str(settings["cores"])}.items():
        environment.get_config().set(name, value)
    text = (_HERE / "tables.sql").read_text()
    for statement in text.format(
        folder=folder, format=settings["format"], **_TIMES[settings["format"]]
    ).split(";"):
        if statement.strip():
            environment.execute_sql(statement)
    return environment


def statement(query: str) -> str:
    """The text of `q5`."""
    return (_HERE / "queries" / f"q{int(query[1:]):02d}.sql").read_text()


def run(environment: TableEnvironment, query: str, leading: dict[str, str]) -> float:
    """Answer into nothing. Seconds from the statement until the cluster had finished the job.

    The end is the cluster's own word: the client asks at growing intervals, and learns of it up to 2 s later.
    """
    nothing = TableDescriptor.for_connector("blackhole").build()
    began = time.time()
    submitted = environment.sql_query(statement(query)).execute_insert(nothing)
    submitted.wait()
    job = submitted.get_job_client().get_job_id()
    address = f"http://{leading['rest.address']}:{leading['rest.port']}/jobs/{job}"
    with urllib.request.urlopen(address) as response:
        return float(json.load(response)["end-time"]) / 1000 - began


def measure(settings: dict[str, Any]) -> None:
    """One query, warm."""
    java = get_gateway().jvm.java.lang
    with cluster(settings["cores"]) as leading:
        for _ in range(settings["warm_ups"]):
            run(tables(settings, settings["warm_up"], leading), settings["query"], leading)
        measured = tables(settings, settings["folder"], leading)
        tell(java=java.ProcessHandle.current().pid())
        wait_for_start()
        tell(
            seconds=run(measured, settings["query"], leading),
            flink=get_gateway().jvm.org.apache.flink.runtime.util.EnvironmentInformation.getVersion(),
            java=java.System.getProperty("java.version"),
        )
        wait_for_start()


def answer(settings: dict[str, Any]) -> None:
    """Write what each query's answers amount to: a line for each row, its values as text, and how often."""
    java = get_gateway().jvm.java
    folder = Path(settings["out"])
    with cluster(settings["cores"]) as leading:
        environment = tables(settings, settings["folder"], leading)
        for query in settings["queries"]:
            answers = environment.sql_query(statement(query))
            environment.create_temporary_view(f"{query}_answer", answers)
            names = answers.get_schema().get_field_names()
            values = ", ".join(f"KEY '{name}' VALUE CAST(`{name}` AS STRING)" for name in names)
            # Rows that go through Python one by one take hours, and the sink for files takes no updates.
            printed = java.io.PrintStream(str(folder / f"{query}.txt"))
            java.lang.System.setOut(printed)
            rows = environment.sql_query(f"SELECT JSON_OBJECT({values}) AS row_text FROM {query}_answer")
            rows.execute_insert(TableDescriptor.for_connector("print").build()).wait()
            printed.close()
            left: Counter[str] = Counter()
            with (folder / f"{query}.txt").open() as lines:
                for line in lines:
                    # 1> +I[{…}]; a row may be taken back by -U before its update, or by -D.
                    _, kind, row = re.split(r"([-+][IUD])\[", line.rstrip().removesuffix("]"), maxsplit=1)
                    left[row] += -1 if kind.startswith("-") else 1
            with (folder / f"{query}.jsonl").open("w") as file:
                for row, times in left.items():
                    if times:
                        file.write(f"[{times}, {row}]\n")
            tell(query=query)


if __name__ == "__main__":
    settings: dict[str, Any] = json.loads(sys.argv[1])
    {"measure": measure, "answer": answer}[settings["task"]](settings)
