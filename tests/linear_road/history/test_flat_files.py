from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causeway.linear_road.history import flat_files as flat_history
from causeway.linear_road.history.flat_files import parts_of, split_part
from causeway.runtime.errors import UserError

COLUMNS = ("VID", "Day", "XWay", "Tolls")

Row = tuple[int, int, int, int]


def split(flat_file: Path, part_bytes: int) -> list[Row]:
    """All rows, as they come back from the files of all parts."""
    rows: list[Row] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flat_history, "PART_BYTES", part_bytes)
        for begin in parts_of(flat_file):
            folder = flat_file.parent / f"part-{begin:06d}"
            count = split_part(flat_file, begin, COLUMNS, folder)
            files = sorted(folder.iterdir())
            tables = [pq.read_table(file) for file in files]
            for file, table in zip(files, tables, strict=True):
                assert {file.name} == {f"xway-{xway:05d}.parquet" for xway in table["XWay"].to_pylist()}
                rows += zip(*table.to_pydict().values(), strict=True)
            assert count == sum(table.num_rows for table in tables)
    return rows


@given(
    st.lists(
        st.tuples(st.integers(0, 2**31 - 1), st.integers(1, 70), st.integers(0, 3), st.integers(-9, 99_999)),
        max_size=20,
    ),
    st.integers(20, 400),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_every_line_is_in_one_part(rows: list[Row], part_bytes: int, newline: str, ends: bool) -> None:
    text = newline.join(",".join(map(str, row)) for row in rows) + newline * ends
    with TemporaryDirectory() as folder:
        flat_file = Path(folder) / "TollHistory.csv"
        flat_file.write_bytes(text.encode())
        assert sorted(split(flat_file, part_bytes)) == sorted(rows)


def test_blank_lines_and_roads_that_nobody_can_ask_for_do_not_count(tmp_path: Path) -> None:
    flat_file = tmp_path / "TollHistory.csv"
    flat_file.write_text("\n1,2,0,4\n\n\n1,2,-1,4\n\n")
    for part_bytes in (1, 7, 1000):
        assert split(flat_file, part_bytes) == [(1, 2, 0, 4)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1,1,0,nonsense", "'nonsense'"),
        ("VID,Day,XWay,Tolls", "'VID'"),
        ("1,2,0", "Expected 4 columns, got 3: 1,2,0"),
        ("1,2,0,5,6", "Expected 4 columns, got 5: 1,2,0,5,6"),
        ("1,2,,5", r"XWay is empty in 1 row"),
        ("2147483648,2,0,5", "'2147483648'"),
        ('"1",2,0,5', '"1"'),
        ("1,2,0,5.0", "'5.0'"),
    ],
)
def test_what_is_no_history_is_told(tmp_path: Path, line: str, message: str) -> None:
    flat_file = tmp_path / "TollHistory.csv"
    flat_file.write_text(f"1,1,0,5\n{line}\n1,2,0,5\n")
    with pytest.raises(
        UserError, match=r"TollHistory.csv is not VID,Day,XWay,Tolls in whole numbers"
    ) as raised:
        split_part(flat_file, 0, COLUMNS, tmp_path / "part")
    assert message in str(raised.value)
    assert not (tmp_path / "part").exists()
