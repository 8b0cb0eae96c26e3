"""A query at work, watched: reported once, in order, and never waited for in vain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from causeway.streaming.watch import QueryFailedError, QueryWatch


class FakeQuery:
    """What the watch asks of a query of Spark's."""

    def __init__(self) -> None:
        self.isActive = True
        self.failure: Exception | None = None
        self.recentProgress: list[dict[str, Any]] = []

    def exception(self) -> Exception | None:
        return self.failure

    @property
    def lastProgress(self) -> dict[str, Any] | None:  # noqa: N802 - Spark's name
        return self.recentProgress[-1] if self.recentProgress else None

    def end_batch(self, number: int, *positions: int, rows: int = 1) -> None:
        ends: list[Any] = [{"second": position} for position in positions]
        if ends:
            ends[0] = f'{{"second": {positions[0]}}}'  # Spark gives a source's offset as text or parsed
        sources = [{"endOffset": end} for end in ends]
        self.recentProgress.append({"batchId": number, "numInputRows": rows, "sources": sources})


@pytest.fixture
def query() -> FakeQuery:
    return FakeQuery()


def watch(query: FakeQuery, **arguments: Any) -> QueryWatch:
    return QueryWatch(query, "second", **arguments)  # type: ignore[arg-type]


def test_each_batch_is_reported_once(query: FakeQuery) -> None:
    watcher = watch(query)
    assert watcher.new_progress() == []
    query.end_batch(0, 10)
    query.end_batch(1, 20)
    assert [one["batchId"] for one in watcher.new_progress()] == [0, 1]
    assert watcher.new_progress() == []
    query.end_batch(2, 30)
    assert [one["batchId"] for one in watcher.new_progress()] == [2]
    assert watcher.answered == 30


def test_a_report_without_input_is_of_the_batch_to_come(query: FakeQuery) -> None:
    watcher = watch(query)
    query.end_batch(0, 10)
    query.end_batch(1, 10, rows=0)
    assert [one["batchId"] for one in watcher.new_progress()] == [0]
    query.end_batch(1, 20)
    assert [one["batchId"] for one in watcher.new_progress()] == [1]


def test_what_is_answered_is_the_slowest_sources_position(query: FakeQuery) -> None:
    watcher = watch(query)
    query.end_batch(0, 10, 7)
    watcher.new_progress()
    assert watcher.answered == 7


def test_waiting_ends_when_the_query_fails(query: FakeQuery, tmp_path: Path) -> None:
    query.isActive, query.failure = False, ValueError("no such second")
    with pytest.raises(QueryFailedError, match=r"no such second.*log\.txt"):
        watch(query, log=tmp_path / "log.txt").wait_until(lambda: False)


def test_waiting_ends_when_the_query_ends_without_a_failure(query: FakeQuery) -> None:
    query.isActive = False
    with pytest.raises(QueryFailedError, match="ended before all was answered"):
        watch(query).wait_until(lambda: False)


def test_waiting_ends_when_it_is_done(query: FakeQuery) -> None:
    answers = iter([False, False, True])
    watch(query).wait_until(lambda: next(answers))
