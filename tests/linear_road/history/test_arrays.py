from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causeway.linear_road.history import arrays as history_arrays
from causeway.linear_road.history.arrays import daily_tolls, weekday_sums
from causeway.runtime.errors import UserError

TOLL_COLUMNS = ("VID", "Day", "XWay", "Tolls")
SEGMENT_COLUMNS = ("Day", "Min", "XWay", "Dir", "Seg", "Lav", "Cnt", "Toll")

Rows = Sequence[tuple[int, ...]]


def write(path: Path, columns: Sequence[str], rows: Rows, kind: pa.DataType | None = None) -> Path:
    arrays = [pa.array([row[i] for row in rows], kind or pa.int32()) for i in range(len(columns))]
    pq.write_table(pa.table(arrays, names=list(columns)), path)
    return path


def write_tolls(folder: Path, *files: Rows) -> list[Path]:
    return [write(folder / f"tolls-{n}.parquet", TOLL_COLUMNS, rows) for n, rows in enumerate(files)]


def write_segments(folder: Path, *files: Rows) -> list[Path]:
    return [write(folder / f"segments-{n}.parquet", SEGMENT_COLUMNS, rows) for n, rows in enumerate(files)]


days = st.integers(1, 70) | st.sampled_from([-1, 0, 71, 1000])
toll_rows = st.lists(st.tuples(st.integers(0, 9), days, st.just(3), st.integers(0, 100_000)), max_size=30)


@settings(max_examples=60)
@given(st.lists(toll_rows, min_size=1, max_size=3), st.sampled_from([1, 3, 1 << 20]))
def test_tolls_are_those_of_the_rows_in_any_order(files: list[Rows], rows_at_a_time: int) -> None:
    expected: defaultdict[tuple[int, int], int] = defaultdict(int)
    for vid, day, _, tolls in (row for rows in files for row in rows):
        expected[vid, day] += tolls
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(history_arrays, "_ROWS_AT_A_TIME", rows_at_a_time)
        made = daily_tolls(write_tolls(Path(folder), *files))
    assert made.vehicles.tolist() == sorted({vid for vid, _ in expected})
    for row, vid in enumerate(made.vehicles.tolist()):
        assert made.tolls[row].tolist() == [expected.get((vid, day), 0) for day in range(1, 71)]


segment_row = st.tuples(
    days,
    st.integers(1, 1440) | st.sampled_from([0, 1441]),
    st.just(3),
    st.sampled_from([0, 1, 2, -1]),
    st.integers(0, 99) | st.sampled_from([-1, 100]),
    st.integers(-1, 100),
    st.integers(0, 300),
    st.just(0),
)


@settings(max_examples=30)
@given(st.lists(segment_row, max_size=40, unique_by=lambda row: row[:5]), st.integers(0, 40))
def test_sums_are_those_of_the_rows_in_any_order(rows: list[tuple[int, ...]], cut: int) -> None:
    expected: defaultdict[tuple[int, ...], list[int]] = defaultdict(lambda: [0, 0, 0])
    for day, minute, _, direction, segment, lav, cnt, _ in rows:
        if 1 <= day <= 70 and 1 <= minute <= 1440 and direction in (0, 1) and 0 <= segment <= 99:
            sums = expected[direction, 1 + (70 - day) % 7, minute, segment]
            for i, value in enumerate((lav, cnt, 1)):
                sums[i] += value
    with TemporaryDirectory() as folder:
        made = weekday_sums(write_segments(Path(folder), rows[:cut], rows[cut:]))
    for (direction, dow, minute, segment), sums in expected.items():
        assert made[direction, dow - 1, minute - 1, segment].tolist() == sums
    assert made[..., 2].sum() == sum(sums[2] for sums in expected.values())


def test_each_weekday_has_its_ten_days(tmp_path: Path) -> None:
    rows = [(day, 5, 0, 0, 7, day, 100 * day, 0) for day in range(1, 71)]
    made = weekday_sums(write_segments(tmp_path, rows))
    for dow in range(1, 8):
        # Yesterday was a Sunday, the day before it a Saturday.
        of_weekday = [day for day in range(1, 71) if (8 - day - dow) % 7 == 0]
        assert len(of_weekday) == 10
        assert made[0, dow - 1, 4, 7].tolist() == [sum(of_weekday), 100 * sum(of_weekday), 10]


def test_arrays_are_as_narrow_as_their_values_allow(tmp_path: Path) -> None:
    for tolls, kind in (
        ([65_535], np.uint16),
        ([65_536], np.int32),
        ([-1], np.int32),
        ([2**31 - 1] * 2, np.int64),
    ):
        made = daily_tolls(write_tolls(tmp_path, [(5, 1, 0, toll) for toll in tolls]))
        assert made.tolls.dtype == kind
        assert made.tolls[0, 0] == sum(tolls)
    for cnt, kind in ((32_767, np.int16), (32_768, np.int32), (2**31 - 1, np.int32)):
        made_sums = weekday_sums(write_segments(tmp_path, [(1, 1, 0, 0, 0, 60, cnt, 0)]))
        assert made_sums.dtype == kind
        assert made_sums[0, 6, 0, 0].tolist() == [60, cnt, 1]


def test_an_expressway_where_nobody_drove(tmp_path: Path) -> None:
    made = daily_tolls(write_tolls(tmp_path, []))
    assert (made.vehicles.shape, made.tolls.shape) == ((0,), (0, 70))


def test_a_history_that_says_things_twice_is_told(tmp_path: Path) -> None:
    rows = [(day, 5, 0, 0, 7, 60, 10, 0) for day in range(1, 71)]
    with pytest.raises(UserError, match="SegmentHistory says something twice: it has 11 rows for a weekday"):
        weekday_sums(write_segments(tmp_path, rows, rows[3:4]))


def test_longer_integers_are_read(tmp_path: Path) -> None:
    made = daily_tolls([write(tmp_path / "tolls.parquet", TOLL_COLUMNS, [(5, 1, 0, 7)], pa.int64())])
    assert (made.vehicles.tolist(), made.tolls[0, 0]) == ([5], 7)


@pytest.mark.parametrize(
    ("rows", "kind", "told"),
    [
        ([(5, 1, 0, None)], pa.int32(), "Tolls is empty in 1 row"),
        ([(2**31, 1, 0, 3)], pa.int64(), "2147483648"),
        ([("x", "1", "0", "3")], pa.string(), "x"),
    ],
)
def test_what_is_no_history_is_told(tmp_path: Path, rows: Rows, kind: pa.DataType, told: str) -> None:
    file = write(tmp_path / "tolls.parquet", TOLL_COLUMNS, rows, kind)
    with pytest.raises(UserError, match=rf"tolls.parquet cannot be read as history: .*{told}"):
        daily_tolls([file])


def test_a_file_without_the_columns_or_of_another_kind_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"tolls.parquet cannot be read as history: .*VID"):
        daily_tolls([write(tmp_path / "tolls.parquet", ["Vehicle"], [(1,)])])
    (tmp_path / "tolls.parquet").write_bytes(b"nonsense")
    with pytest.raises(UserError, match=r"tolls.parquet cannot be read as history"):
        daily_tolls([tmp_path / "tolls.parquet"])
