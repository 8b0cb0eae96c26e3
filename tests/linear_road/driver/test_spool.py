from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from causeway.linear_road.driver.spool import SpoolFile, delivered_until, spool_file_name, spool_files


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
    for name in ("_drive.json", "_start", ".ahead", "seconds-1-2.parquet.part", "x-seconds-1-2.parquet"):
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
