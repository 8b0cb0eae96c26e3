"""A session of queries on a small run: answers, figures, tables, and a wrong answer that is noticed."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console
from tests.linear_road.queries.kept_run import kept_run, small_traffic

from causeway import linear_road
from causeway.cli import main as cli
from causeway.linear_road.queries.record import load_sessions
from causeway.linear_road.report.history_tables import history_tables
from causeway.linear_road.workload.workload import Workload
from causeway.runtime.errors import UserError
from causeway.spark import session as sessions
from causeway.streaming_tables.storage import TableStore

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def store(tmp_path: Path) -> TableStore:
    return kept_run(tmp_path / "run", small_traffic(tmp_path / "workload"))


def test_a_session_on_a_run_that_has_ended(store: TableStore, tmp_path: Path, spark: SparkSession) -> None:
    run = tmp_path / "run"
    result = linear_road.query(run, rate=600, seconds=1.5, check=6, seed=4, spark=spark)
    assert result.wrong == []
    asked = result.session["queries"]
    assert result.session["checked"] >= 1
    assert sum(cell["count"] for cell in result.session["cells"].values()) == len(asked) >= 1
    # Small traffic: every query asks for a good part of the vehicles in a good part of the time.
    assert all(0 < rows <= 60 * 30 for *_, rows, _, _ in asked)
    assert (result.session["live"], result.session["just_arrived"]) == (False, [])
    assert result.session["scans"]["files"] == 1

    second = linear_road.query(run, rate=300, seconds=1, selectivity="low", index=False, check=1, spark=spark)
    assert second.wrong == []
    assert list(second.session["cells"]) == ["low"]
    assert load_sessions(run) == [result.session, second.session]

    console = Console(record=True, width=160)
    for table in history_tables(run):
        console.print(table)
    text = console.export_text()
    for words in ("Table III", "Table IV", "Table V", "Table VI", "paper, L2++", "ours, L1++, no index"):
        assert words in text
    page = result.report.read_text()
    assert "answers were compared with the workload; all are right" in page
    assert "paper&#x27;s mean" in page


def test_a_wrong_answer_is_noticed(
    store: TableStore,
    tmp_path: Path,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Every vehicle loses a row: each answer is short."""
    rows = store.snapshot().scan(["VID"], with_seq=True).to_pandas()
    with store.writer("test") as writer:
        writer.delete(rows.groupby("VID")["__seq"].nth(5).to_numpy())
        writer.delete(rows.groupby("VID")["__seq"].nth(-5).to_numpy())
    from contextlib import nullcontext

    monkeypatch.setattr(sessions, "spark_session", lambda *_, **__: nullcontext(spark))
    arguments = ["--rate", "600", "--seconds", "1", "--check", "100", "--selectivity", "low"]
    monkeypatch.setattr(sys, "argv", ["causeway", "linear-road", "query", str(tmp_path / "run"), *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 1
    lines = capsys.readouterr().out.splitlines()
    assert "rows where the workload has" in " ".join(" ".join(lines).split())
    # No cell is broken, however narrow the terminal.
    assert any("0.108 / 0.266 / 0.132" in line for line in lines)
    assert any("streaming tables (paper)" in line for line in lines)
    assert load_sessions(tmp_path / "run")[0]["wrong"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rate": 0}, "0 queries a minute are not possible"),
        ({"rate": float("nan")}, "queries a minute are not possible"),
        ({"seconds": 0}, "a session of 0 seconds"),
        ({"check": -1}, "-1 answers cannot be checked"),
        ({"selectivity": "huge"}, "there is no selectivity huge; there are high, medium, low"),
    ],
)
def test_settings_that_are_not_possible(tmp_path: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        linear_road.query(tmp_path, **options)  # type: ignore[arg-type]


def test_runs_that_cannot_be_asked(tmp_path: Path, store: TableStore, spark: SparkSession) -> None:
    with pytest.raises(UserError, match="no such folder"):
        linear_road.query(tmp_path / "nowhere")
    run = tmp_path / "run"
    with pytest.raises(UserError, match="the run will not come to minute 15"):
        linear_road.query(run, from_minute=15)
    # As a process leaves it that was killed: nobody works on it any more.
    facts = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(facts | {"state": "running"}))
    replace(Workload.load(tmp_path / "workload"), minutes=30).save()
    with pytest.raises(UserError, match="has ended at minute 14, before minute 20"):
        linear_road.query(run, from_minute=20, spark=spark)
    (run / "queries.json").write_text("[]")
    with pytest.raises(UserError, match="is not what `causeway linear-road query`"):
        load_sessions(run)
    (run / "run.json").write_text(json.dumps(facts | {"history_table": None}))
    with pytest.raises(UserError, match="keeps no history: it was begun without `keep`"):
        linear_road.query(run)
