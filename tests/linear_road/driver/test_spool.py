from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from causeway.linear_road.driver import spool as spool_module
from causeway.linear_road.driver.spool import (
    SpoolFile,
    SpoolGapError,
    delivered_until,
    files_between,
    spool_file_name,
    spool_files,
)


def test_names_tell_the_seconds(tmp_path: Path) -> None:
    assert spool_file_name(30, 31) == "seconds-000000000030-000000000031.parquet"
    path = tmp_path / spool_file_name(30, 31)
    path.touch()
    assert spool_files(tmp_path) == [SpoolFile(30, 31, path)]


@given(st.lists(st.tuples(st.integers(0, 10**11), st.integers(0, 10**6)), min_size=2, max_size=9))
def test_names_sort_by_time(spans: list[tuple[int, int]]) -> None:
    files = sorted((first, first + length) for first, length in spans)
    names = [spool_file_name(first, last) for first, last in files]
    assert names == sorted(names)


def test_files_come_in_the_order_of_time_and_nothing_else_is_one(tmp_path: Path) -> None:
    for name in ("_delivery.json", "_start", ".ahead", "seconds-1-2.parquet.part", "x-seconds-1-2.parquet"):
        (tmp_path / name).touch()
    for first in (120, 0, 60):
        (tmp_path / spool_file_name(first, first + 59)).touch()
    assert [(file.first, file.last) for file in spool_files(tmp_path)] == [(0, 59), (60, 119), (120, 179)]


def test_how_far_delivery_has_got(tmp_path: Path) -> None:
    assert delivered_until(tmp_path) == 0
    for first, last in ((0, 59), (60, 118)):
        (tmp_path / spool_file_name(first, last)).touch()
    assert delivered_until(tmp_path) == 119
    # The newest is enough, as a reader leaves it.
    (tmp_path / spool_file_name(0, 59)).unlink()
    assert delivered_until(tmp_path) == 119


def make_files(spool: Path, *spans: tuple[int, int]) -> None:
    for first, last in spans:
        (spool / spool_file_name(first, last)).touch()


@pytest.mark.parametrize(
    ("start", "end", "found"),
    [
        (0, None, [0, 60, 61]),
        (60, None, [60, 61]),
        (100, None, []),
        (0, 60, [0]),
        (60, 61, [60]),
        (60, 60, []),
        (0, 100, [0, 60, 61]),
    ],
)
def test_files_between_two_seconds(tmp_path: Path, start: int, end: int | None, found: list[int]) -> None:
    make_files(tmp_path, (0, 59), (60, 60), (61, 99))
    assert [file.first for file in files_between(tmp_path, start, end)] == found


@pytest.mark.parametrize(
    ("spans", "start", "end", "message"),
    [
        ([(0, 59), (70, 99)], 0, None, "lacks the seconds 60 to 69"),
        ([(0, 59), (70, 99)], 0, 100, "lacks the seconds 60 to 69"),
        ([(70, 99)], 60, None, "lacks the seconds 60 to 69"),
        ([(0, 59)], 0, 100, "lacks the seconds 60 to 99"),
        ([], 20, 30, "lacks the seconds 20 to 29"),
        ([(0, 59), (60, 119)], 0, 100, "does not end with second 99"),
        ([(0, 59), (60, 119)], 30, None, "does not begin with second 30"),
    ],
)
def test_missing_seconds_are_named(
    tmp_path: Path, spans: list[tuple[int, int]], start: int, end: int | None, message: str
) -> None:
    make_files(tmp_path, *spans)
    with pytest.raises(SpoolGapError, match=message):
        files_between(tmp_path, start, end)


def test_a_listing_that_missed_a_file_is_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that is listed while files appear may show a later one without an earlier one."""
    make_files(tmp_path, (0, 9), (10, 19), (20, 29))
    listings = [[file for file in spool_files(tmp_path) if file.first != 10], spool_files(tmp_path)]
    monkeypatch.setattr(spool_module, "spool_files", lambda _: listings.pop(0))
    assert [file.first for file in files_between(tmp_path, 0)] == [0, 10, 20]
    assert not listings
