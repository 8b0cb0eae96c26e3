"""Queries of one's own: run, measured and checked like the others, with errors that name file and line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from causeway import nexmark
from causeway.nexmark.events.dataset import write_dataset
from causeway.nexmark.generator.firehose import Firehose
from causeway.nexmark.queries import own_query
from causeway.runtime.errors import UserError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COUNTS = """-- How many bids each auction gets in ten seconds.
SELECT auction, window.start AS starttime, count(*) AS bids
FROM bid
GROUP BY auction, window(dateTime, '10 seconds')
"""
BATCH = """SELECT auction, timestamp_millis(unix_millis(dateTime) DIV 10000 * 10000) AS starttime,
       count(*) AS bids
FROM bid
GROUP BY ALL
"""
PROCESSOR = '''"""A processor of the file's own, which Python workers can't import."""
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

KEYS = ("bidder",)
OUTPUT_MODE = "append"
STATE_STORE = "rocksdb"


class Sum(StatefulProcessor):
    def init(self, handle):
        self.total = handle.getValueState("total", "total LONG")

    def handleInputRows(self, key, rows, timerValues):
        (total,) = self.total.get() or (0,)
        total += sum(row.price for row in rows)
        self.total.update((total,))
        yield Row(bidder=key[0], total=total)

    def close(self):
        pass


def answers(bid):
    return bid.groupBy("bidder").transformWithState(Sum(), "bidder LONG, total LONG", "append", "none")
'''


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("events") / "modern"
    write_dataset(Firehose("modern", events=2_000, rate=50), folder, slice_events=1_000)
    return folder


def test_a_text_is_measured_and_checked(spark: SparkSession, events: Path, tmp_path: Path) -> None:
    (tmp_path / "counts.sql").write_text(COUNTS)
    (tmp_path / "counts.batch.sql").write_text(BATCH)
    done = nexmark.run(tmp_path / "run", source=events, query_file=tmp_path / "counts.sql", spark=spark)
    one = done["counts"]
    assert one.check is not None and one.check.passed, one.check
    assert one.check.rows > 0
    assert one.events == 1_840
    assert one.events_per_second is not None and one.events_per_second > 0
    assert one.facts["engine"] == "spark"
    assert done.report.exists()


def test_a_wrong_batch_statement_fails_the_check(spark: SparkSession, events: Path, tmp_path: Path) -> None:
    (tmp_path / "cheap.sql").write_text("SELECT auction, price FROM bid WHERE price < 1000")
    (tmp_path / "cheap.batch.sql").write_text("SELECT auction, price FROM bid WHERE price <= 2000")
    done = nexmark.run(tmp_path / "run", source=events, query_file=tmp_path / "cheap.sql", spark=spark)
    check = done["cheap"].check
    assert check is not None and not check.passed
    assert check.missing > 0 and check.extra == 0


def test_a_module_brings_its_own_processor(spark: SparkSession, events: Path, tmp_path: Path) -> None:
    (tmp_path / "totals.py").write_text(PROCESSOR)
    (tmp_path / "totals.batch.sql").write_text("SELECT bidder, sum(price) AS total FROM bid GROUP BY bidder")
    done = nexmark.run(tmp_path / "run", source=events, query_file=tmp_path / "totals.py", spark=spark)
    check = done["totals"].check
    assert check is not None and check.passed and check.rows > 0, check


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("typo.sql", "-- A comment.\nSELECT auction\nFRM bid", r"typo\.sql, line 3: \[PARSE_SYNTAX_ERROR\]"),
        ("column.sql", "SELECT auction,\n  prize\nFROM bid", r"column\.sql, line 2: \[UNRESOLVED_COLUMN"),
        ("mode.sql", "SELECT bidder, count(*) FROM bid GROUP BY bidder", r"mode\.sql: \[STREAMING_OUTPUT"),
        ("code.py", "def answers(bid):\n    return bid.where(nothing)", r"code\.py, line 2: NameError"),
        ("spark.py", "def answers(bid):\n    return bid.select('prize')", r"spark\.py, line 2: \[UNRESOLV"),
    ],
)
def test_a_mistake_is_told_with_its_line(
    spark: SparkSession, events: Path, tmp_path: Path, name: str, text: str, message: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UserError, match=message) as told:
        nexmark.run(tmp_path / "run", source=events, query_file=tmp_path / name, spark=spark)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("none.sql", "SELECT 1", "selects from none of the streams person, auction, bid"),
        ("wrong.sql", "-- reads: bid(prize)\nSELECT prize FROM bid", "there is no column prize"),
        ("store.sql", "-- state store: disk\nSELECT * FROM bid", "write one of memory, rocksdb"),
        ("broken.py", "def answers(bid)\n    return bid", r"broken\.py, line 1: "),
        ("empty.py", "", "define `answers"),
        ("stream.py", "def answers(item):\n    return item", "the modern model has person, auction, bid"),
        ("q5.sql", "SELECT * FROM bid", "no query of the benchmark"),
        ("notes.txt", "SELECT * FROM bid", r"a query is a file \*\.sql or \*\.py"),
    ],
)
def test_what_is_no_query_is_refused_before_spark_starts(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UserError, match=message):
        own_query("modern", tmp_path / name)


def test_settings_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.sql").write_text("SELECT * FROM bid")
    run, file = tmp_path / "run", tmp_path / "mine.sql"
    with pytest.raises(UserError, match="not both"):
        nexmark.run(run, query_file=file, queries="q5")
    with pytest.raises(UserError, match="runs on the Spark engine"):
        nexmark.run(run, query_file=file, engine="columnar")
    with pytest.raises(UserError, match=r"write the batch statement in .*mine\.batch\.sql"):
        nexmark.run(run, query_file=file, check=True)
    with pytest.raises(UserError, match="there is no file"):
        nexmark.run(run, query_file=tmp_path / "other.sql")
    assert not run.exists()
