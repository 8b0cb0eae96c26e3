"""The warm-up, with a query that is not Spark's."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.linear_road.validation.made_workload import write_workload

from causeway.linear_road.history.prepared import PreparedHistory
from causeway.linear_road.pipeline.query import Shards
from causeway.linear_road.runner import engine
from causeway.linear_road.runner.engine import ColumnarEngine
from causeway.linear_road.runner.run_folder import RunFolder
from causeway.linear_road.runner.warm_up import warm_up
from causeway.linear_road.workload.workload import Workload
from causeway.streaming.watch import QueryFailedError


class EndedQuery:
    """A query that somebody has stopped: it has no failure, and will answer nothing."""

    isActive = False  # noqa: N815 - Spark's name

    lastProgress = None  # noqa: N815 - Spark's name

    def exception(self) -> None:
        return None


@pytest.fixture
def workload(tmp_path: Path) -> Workload:
    reports = [(0, time, time, 50, 0, 1, 0, 5, 26_400, *[-1] * 6) for time in range(20)]
    made = replace(write_workload(tmp_path / "workload", reports), minutes=1)
    made.save()
    return made


def test_it_does_not_wait_for_a_query_that_has_ended(
    monkeypatch: pytest.MonkeyPatch, workload: Workload, tmp_path: Path
) -> None:
    def ended(*_: Any, **__: Any) -> contextlib.nullcontext[EndedQuery]:
        return contextlib.nullcontext(EndedQuery())

    monkeypatch.setattr(engine, "answering", ended)
    history = PreparedHistory(tmp_path, "none")
    folder = RunFolder(tmp_path / "run")
    columnar = ColumnarEngine(None, Shards((0,), 1), "vldb2004", history, folder.log)  # type: ignore[arg-type]
    folder.path.mkdir()
    with pytest.raises(QueryFailedError, match=r"ended before all was answered \(the log is .*log\.txt"):
        warm_up(folder, workload, columnar)
    assert not list(folder.path.iterdir())
