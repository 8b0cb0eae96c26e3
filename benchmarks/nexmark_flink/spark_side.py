"""The Spark sides of `nexmark_vs_flink.py`: queries on either engine, warm, their answers discarded.

python -m nexmark_flink.spark_side '{"engine": "columnar", "queries": [{"query": "q5", …}], …}'
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from causeway.nexmark.events.slices import Slices
from causeway.nexmark.queries import FEED, Query, find_query
from causeway.nexmark.runner.answering import Reading, answering, shards_for, until_the_end
from causeway.runtime.machine import versions
from causeway.runtime.progress import progress_bar
from causeway.spark.session import spark_session
from nexmark_flink.handshake import tell, warm_up, work_as_told

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_DELAY: Final = 4_000
"""Milliseconds, as Flink's tables have it."""


def run(spark: SparkSession, query: Query, folder: Path, limit: int) -> tuple[float, list[dict[str, Any]]]:
    """Seconds from the query's start until all is answered, and what Spark reports of its batches."""
    slices = Slices.of(folder, query.model)
    scratch = Path(tempfile.mkdtemp(prefix="causeway-vs-flink-"))
    try:
        if query.engine == "spark":
            # Links to the files, for Spark's own file source.
            query.feed(folder, scratch / FEED)
        began = time.monotonic()
        reading = Reading(limit, spark.sparkContext.defaultParallelism, shards_for(spark), _DELAY)
        with (
            progress_bar(query.name, 0, "slices") as bar,
            answering(spark, query, folder, scratch, None, reading) as at_work,
        ):
            until_the_end(at_work, query, slices, None, look=lambda _: None, bar=bar, folder=scratch)
            seconds = time.monotonic() - began
            return seconds, [json.loads(progress.json) for progress in at_work.recentProgress]
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _measured(spark: SparkSession, query: Query, work: dict[str, Any]) -> dict[str, Any]:
    seconds, progress = run(spark, query, Path(work["folder"]), work["limit"])
    return {"seconds": seconds, "progress": progress}


def main() -> None:
    """Query after query in one session, each warm, as often as the benchmark asks."""
    settings: dict[str, Any] = json.loads(sys.argv[1])
    master = f"local[{settings['cores']}]"
    with spark_session("nexmark vs flink", master=master, settings=settings["conf"]) as spark:
        java = spark.sparkContext._jvm.java.lang  # type: ignore[union-attr]
        for work in settings["queries"]:
            query = find_query("modern", work["query"], work["rules"], settings["engine"])
            few = partial(run, spark, query, Path(work["warm_up"]), work["limit"])
            whole = partial(_measured, spark, query, work)
            warm_up(few, whole, *work["warm_ups"])
            java.System.gc()
            tell(java=java.ProcessHandle.current().pid(), versions=versions(spark))
            work_as_told(whole, java.System.gc)


if __name__ == "__main__":
    main()
