"""Flink's side: runs in Flink's own environment, started by `nexmark_vs_flink.py`.

    python -m nexmark_flink.flink_side '{"task": "measure", "queries": [{"query": "q5", …}], …}'

State is on the heap and nothing is checkpointed while throughput is measured, which is the fastest that Flink
has. Latency is measured with checkpoints: a file of answers can be read when a checkpoint has committed it.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from pyflink.table import TableDescriptor  # type: ignore[import-not-found]

from nexmark_flink.flink_cluster import cluster, finished_at, java, statement, tables, versions
from nexmark_flink.handshake import tell, wait_for_word, warm_up, work_as_told


def measure(settings: dict[str, Any]) -> None:
    """Query after query on one cluster, each warm, as often as the benchmark asks; answers to nothing."""
    with cluster(settings["cores"]) as leading:
        for_jobs = leading | {"parallelism.default": str(settings["cores"])}

        def run(query: str, folder: str) -> float:
            environment = tables(folder, settings["format"], for_jobs)
            nothing = TableDescriptor.for_connector("blackhole").build()
            began = time.time()
            submitted = environment.sql_query(statement(query)).execute_insert(nothing)
            return finished_at(submitted, leading) - began

        for work in settings["queries"]:
            few = partial(run, work["query"], work["warm_up"])
            warm_up(few, partial(run, work["query"], work["folder"]), *work["warm_ups"])
            tidy = java().java.lang.System.gc
            tidy()
            tell(java=java().java.lang.ProcessHandle.current().pid(), versions=versions())
            work_as_told(partial(_measured, run, work), tidy)


def _measured(run: Callable[[str, str], float], work: dict[str, Any]) -> dict[str, Any]:
    return {"seconds": run(work["query"], work["folder"])}


def answer(settings: dict[str, Any]) -> None:
    """Print each query's answers to a file: `2> +I[{…}]` for a row, `-U` or `-D` to take it back.

    Rows that go through Python one by one take hours, and the sink for files takes no updates.
    """
    with cluster(settings["cores"]) as leading:
        for_jobs = leading | {"parallelism.default": str(settings["cores"])}
        environment = tables(settings["folder"], settings["format"], for_jobs)
        for query in settings["queries"]:
            view = f"{query.replace('.', '_')}_answer"
            answers = environment.sql_query(statement(query))
            environment.create_temporary_view(view, answers)
            names = answers.get_schema().get_field_names()
            values = ", ".join(f"KEY '{name}' VALUE CAST(`{name}` AS STRING)" for name in names)
            rows = environment.sql_query(f"SELECT JSON_OBJECT({values}) AS row_text FROM {view}")
            files = java().java.io
            file = files.FileOutputStream(str(Path(settings["out"]) / f"{query}.txt"))
            printed = files.PrintStream(files.BufferedOutputStream(file, 1 << 20))
            java().java.lang.System.setOut(printed)
            rows.execute_insert(TableDescriptor.for_connector("print").build()).wait()
            printed.close()
            tell(query=query)


def steady(settings: dict[str, Any]) -> None:
    """One query over files that appear while it runs, until it is told to stop; answers to files.

    Each answer says when the event that completed it happened, and when it came to the sink: the latter is
    what a sink without commits would have. Mini-batches, which wait for rows, are off.

    The sink commits closed files only, and a checkpoint does not close a file of JSON: left to its defaults,
    the sink would close one after 30 minutes.
    """
    query = settings["query"]
    with cluster(settings["cores"]) as leading:
        environment = tables(
            settings["folder"],
            settings["format"],
            leading
            | {
                "parallelism.default": str(settings["cores"]),
                "execution.checkpointing.interval": settings["checkpoint_interval"],
                "execution.checkpointing.dir": Path(settings["checkpoints"]).as_uri(),
                "table.exec.mini-batch.enabled": "false",
            },
            source=f", 'source.monitor-interval' = '{settings['monitor_interval']}'",
            delay=settings["delay"],
        )
        files = TableDescriptor.for_connector("filesystem").option("path", settings["out"]).format("json")
        for name, value in settings["sink"].items():
            files = files.option(name, value)
        submitted = environment.sql_query(statement(f"{query}.steady")).execute_insert(files.build())
        client = submitted.get_job_client()
        while str(client.get_job_status().result()) not in ("2", "JobStatus.RUNNING"):
            time.sleep(0.05)
        tell(java=java().java.lang.ProcessHandle.current().pid(), versions=versions())
        wait_for_word()
        client.cancel().result()


if __name__ == "__main__":
    settings: dict[str, Any] = json.loads(sys.argv[1])
    {"measure": measure, "answer": answer, "steady": steady}[settings["task"]](settings)
