"""Our side of `nexmark_vs_flink.py`: one query on Spark, warm, its answers discarded.

python -m nexmark_flink.spark_side '{"query": "q5", "folder": …}'
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from causeway.nexmark.events.slices import Slices
from causeway.nexmark.queries import Query, find_query
from causeway.nexmark.queries.answers import discard
from causeway.nexmark.runner.answering import Reading, answering, shards_for
from causeway.spark.session import spark_session
from nexmark_flink.handshake import tell, wait_for_start

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_POLL: Final = 0.02
_LAST_WATERMARK: Final = "9990"
_DELAY: Final = 4_000
"""Milliseconds, as Flink's tables have it."""


def run(spark: SparkSession, query: Query, folder: Path, limit: int) -> tuple[float, list[dict[str, Any]]]:
    """Seconds from the query's start until all is answered, and what Spark offsets of its batches."""
    total = Slices.of(folder, query.model).total
    assert total is not None
    scratch = Path(tempfile.mkdtemp(prefix="causeway-vs-flink-"))
    try:
        began = time.monotonic()
        reading = Reading(limit, spark.sparkContext.defaultParallelism, shards_for(spark), _DELAY)
        with answering(spark, query, folder, scratch, discard, reading) as at_work:
            # One more than there are: the end is a slice of its own.
            while _answered(at_work) <= total:
                time.sleep(_POLL)
            at_work.processAllAvailable()
            while query.ends_by_watermark and not _ended(at_work):
                time.sleep(_POLL)
            seconds = time.monotonic() - began
            return seconds, [json.loads(progress.json) for progress in at_work.recentProgress]
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _answered(at_work: StreamingQuery) -> int:
    if (failure := at_work.exception()) is not None:
        raise failure
    progress = at_work.lastProgress
    if progress is None or not progress["sources"]:
        return 0
    ends = [source["endOffset"] for source in progress["sources"]]
    offsets = [json.loads(end) if isinstance(end, str) else end for end in ends]
    return min(int(end["slice"]) for end in offsets if end)


def _ended(at_work: StreamingQuery) -> bool:
    progress = at_work.lastProgress
    return progress is not None and dict(progress["eventTime"]).get("watermark", "") >= _LAST_WATERMARK


def main() -> None:
    """Warm up, wait, run, tell."""
    settings: dict[str, Any] = json.loads(sys.argv[1])
    query = find_query("modern", settings["query"], settings["rules"])
    with spark_session("nexmark vs flink", master=f"local[{settings['cores']}]") as spark:
        java = spark.sparkContext._jvm.java.lang  # type: ignore[union-attr]
        for _ in range(settings["warm_ups"]):
            run(spark, query, Path(settings["warm_up"]), settings["limit"])
        tell(java=java.ProcessHandle.current().pid())
        wait_for_start()
        seconds, progress = run(spark, query, Path(settings["folder"]), settings["limit"])
        tell(
            seconds=seconds,
            progress=progress,
            spark=spark.version,
            java=java.System.getProperty("java.version"),
        )
        wait_for_start()


if __name__ == "__main__":
    main()
