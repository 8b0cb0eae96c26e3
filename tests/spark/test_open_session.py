"""The session of a library function, without starting Spark."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from causeway.runtime.errors import UserError
from causeway.spark import session as sessions
from causeway.spark.open_session import SparkOptions, check_options, open_session


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """How sessions were started; the last entry of each is added when it is stopped."""
    starts: list[dict[str, Any]] = []

    @contextlib.contextmanager
    def session(application: str, master: str, settings: dict[str, str], **more: Any) -> Iterator[str]:
        start = {"application": application, "master": master, "settings": settings, **more}
        starts.append(start)
        yield "own session"
        start["stopped"] = True

    monkeypatch.setattr(sessions, "spark_session", session)
    return starts


def test_the_callers_session_is_used_and_left(started: list[dict[str, Any]]) -> None:
    theirs: Any = object()
    with open_session(theirs, "test") as session:
        assert session is theirs
    assert started == []


def test_a_session_of_its_own_is_stopped(started: list[dict[str, Any]], tmp_path: Path) -> None:
    options = SparkOptions("local[3]", {"spark.driver.memory": "1g"}, log_level="WARN")
    with open_session(options, "test", log_file=tmp_path) as session:
        assert session == "own session"  # type: ignore[comparison-overlap]
    (start,) = started
    assert start == {
        "application": "test",
        "master": "local[3]",
        "settings": {"spark.driver.memory": "1g"},
        "log_file": tmp_path,
        "log_level": "WARN",
        "stopped": True,
    }


def test_the_default_is_this_machine(started: list[dict[str, Any]]) -> None:
    with open_session(None, "test"):
        assert (started[0]["master"], started[0]["log_level"]) == ("local[*]", "OFF")


def test_options_that_cannot_work_are_refused_without_spark() -> None:
    check_options(None)
    check_options(SparkOptions("local[2]"))
    with pytest.raises(UserError, match="master nonsense"):
        check_options(SparkOptions("nonsense"))
    with pytest.raises(UserError, match=r"begin with `spark\.`"):
        check_options(SparkOptions(settings={"driver.memory": "1g"}))
