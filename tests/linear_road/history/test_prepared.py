from __future__ import annotations

import json
import pickle
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causeway.linear_road.history.arrays import DailyTolls
from causeway.linear_road.history.prepared import (
    PreparedHistory,
    save_daily_tolls,
    save_weekday_sums,
    saved_tables,
)
from causeway.linear_road.history.weekday_sums import WEEKDAY_SUMS_SHAPE
from causeway.runtime.errors import UserError

Tolls = Mapping[tuple[int, int, int], int]
"""By (VID, Day, XWay), as in the literal reading."""

_TOLLS: Tolls = {
    (vid, day, xway): 1 + vid * 1000 + day * 10 + xway
    for xway, vehicles in ((0, (0, 1, 5, 9)), (1, (2,)), (12_345, (5, 2**31 - 1)))
    for vid in vehicles
    for day in range(1, 71)
    if vid + day != 10
}


def save(folder: Path, tolls: Tolls = _TOLLS, speeds: Mapping[int, int] | None = None) -> PreparedHistory:
    """Save tolls, and histories in which every segment has the same speed."""
    xways = {xway for _, _, xway in tolls}
    for xway in xways:
        vehicles = np.array(sorted({vid for vid, _, x in tolls if x == xway}), np.int32)
        matrix = [[tolls.get((vid, day, xway), 0) for day in range(1, 71)] for vid in vehicles.tolist()]
        save_daily_tolls(folder, xway, DailyTolls(vehicles, np.array(matrix)))
    for xway, speed in (speeds or {}).items():
        save_weekday_sums(folder, xway, np.full(WEEKDAY_SUMS_SHAPE, (10 * speed, 0, 10), np.int16))
    PreparedHistory(folder, f"history of {folder}", frozenset(xways), frozenset(speeds or {})).save(
        {"rows": {}}
    )
    return PreparedHistory.open(folder)


def no_toll(lav: np.ndarray, cars: np.ndarray) -> np.ndarray:
    return np.zeros_like(lav)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> PreparedHistory:
    return save(tmp_path_factory.mktemp("prepared"), speeds={0: 60, 12_345: 30})


@given(
    st.lists(
        st.tuples(
            st.sampled_from([-1, 0, 1, 2, 3, 5, 9, 10, 2**31 - 1]),
            st.integers(-1, 72) | st.sampled_from([-(2**31), 2**31 - 1]),
            st.sampled_from([-1, 0, 1, 2, 12_345]),
        )
    )
)
def test_daily_expenditures_are_those_of_the_history(
    prepared: PreparedHistory, asked: list[tuple[int, int, int]]
) -> None:
    vid, day, xway = np.array(asked, np.int32).reshape(-1, 3).T
    answers = prepared.daily_expenditures(vid, day, xway)
    assert answers.dtype == np.int64
    assert answers.tolist() == [_TOLLS.get(key, 0) for key in asked]


def test_tables_are_counted_as_they_are_saved(tmp_path: Path) -> None:
    save(tmp_path, tolls={(1, 1, 0): 5, (1, 1, 7): 5}, speeds={0: 60})
    assert saved_tables(tmp_path) == 3


def test_travel_times_by_expressway(prepared: PreparedHistory) -> None:
    xway = [12_345, 0, 1, 0]
    seconds, tolls = prepared.travel_times(xway, [3] * 4, [5, 5, 5, 0], [1] * 4, [1440] * 4, no_toll)
    assert seconds.tolist() == [240, 120, 0, 180]
    assert tolls.tolist() == [0] * 4


def test_a_history_of_nothing_answers_0(tmp_path: Path) -> None:
    nothing = PreparedHistory(tmp_path / "nowhere", "none")
    assert nothing.daily_expenditures([1, 2], [3, 4], [0, 1]).tolist() == [0, 0]
    seconds, tolls = nothing.travel_times([0], [1], [2], [3], [4], no_toll)
    assert (seconds.tolist(), tolls.tolist()) == ([0], [0])


def test_an_expressway_with_a_history_of_nobody(tmp_path: Path) -> None:
    save_daily_tolls(tmp_path, 0, DailyTolls(np.empty(0, np.int32), np.empty((0, 70), np.uint16)))
    nobody = PreparedHistory(tmp_path, "nobody", frozenset([0]))
    assert nobody.daily_expenditures([0, 1], [1, 2], [0, 0]).tolist() == [0, 0]


def test_a_copy_sent_to_a_worker_is_small_and_answers(prepared: PreparedHistory) -> None:
    prepared.daily_expenditures([0], [1], [0])
    sent = pickle.dumps(prepared)
    assert len(sent) < 1000
    received = pickle.loads(sent)
    assert received == prepared
    assert received.daily_expenditures([5], [3], [12_345]).tolist() == [_TOLLS[5, 3, 12_345]]


def test_expressways_are_opened_when_asked_for(tmp_path: Path) -> None:
    prepared = save(tmp_path, speeds={0: 60, 1: 60})
    (tmp_path / "xway-00001-tolls.npy").unlink()
    (tmp_path / "xway-00001-segments.npy").write_bytes(
        (tmp_path / "xway-00001-segments.npy").read_bytes()[:999]
    )
    assert prepared.daily_expenditures([0], [1], [0]).tolist() == [_TOLLS[0, 1, 0]]
    # A worker that does not see the files must not answer 0, as for an expressway without any.
    with pytest.raises(
        UserError, match=r"xway-00001-tolls.npy, of the prepared history, cannot be read here"
    ):
        prepared.daily_expenditures([2], [1], [1])
    with pytest.raises(UserError, match=r"xway-00001-segments.npy, of the prepared history, cannot be read"):
        prepared.travel_times([1], [1], [2], [3], [4], no_toll)


def test_a_history_prepared_anew_is_not_taken_for_the_old_one(tmp_path: Path) -> None:
    old = save(tmp_path, {(1, 1, 0): 5})
    assert old.daily_expenditures([1], [1], [0]).tolist() == [5]
    for file in tmp_path.iterdir():
        file.unlink()
    save(tmp_path, {(1, 1, 0): 6})
    facts = json.loads((tmp_path / "prepared.json").read_text())
    (tmp_path / "prepared.json").write_text(json.dumps(facts | {"history": "another"}))
    assert PreparedHistory.open(tmp_path).daily_expenditures([1], [1], [0]).tolist() == [6]
    assert old.daily_expenditures([1], [1], [0]).tolist() == [5]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "has no prepared.json: prepare the history with `causeway linear-road prepare`"),
        ("[nonsense", "cannot be read"),
        ("[]", "cannot be read"),
        ("{}", "cannot be read"),
        ('{"layout": 99}', "layout 99 is not one that this version reads"),
    ],
)
def test_a_folder_that_is_no_prepared_history(tmp_path: Path, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / "prepared.json").write_text(text)
    with pytest.raises(UserError, match=message):
        PreparedHistory.open(tmp_path)
