"""The keeper, without Spark: every report once, whenever it is killed, and what the spool keeps for it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from causeway.linear_road.driver.spool import SpoolGapError, spool_file_name, spool_files
from causeway.linear_road.keeping.keep_process import KeepProcess
from causeway.linear_road.keeping.keeper import KeepingRecord, keep_reports
from causeway.linear_road.keeping.kept_mark import KeptMark
from causeway.linear_road.keeping.reports_table import check_table_name, open_reports_table, report_rows
from causeway.linear_road.model.tuples import INPUT_SCHEMA
from causeway.linear_road.pipeline.spool_source import _SpoolReader
from causeway.runtime.errors import CausewayError, UserError
from causeway.streaming.delivery import SpoolControl

SECONDS = 40
Row = tuple[int, ...]


def tuples_of(second: int) -> pa.Table:
    """Two reports and a request."""
    rows = [
        (0, second, 7 + second % 5, 50, 0, 1, 0, 5, 26_400 + second, *[-1] * 6),
        (2, second, 7, *[-1] * 6, 100 + second, *[-1] * 5),
        (0, second, 900, 30, 1, 2, 1, 6, 31_680 + second, *[-1] * 6),
    ]
    return pa.table([list(column) for column in zip(*rows, strict=True)], schema=INPUT_SCHEMA)


def release(spool: Path, second: int) -> None:
    pq.write_table(tuples_of(second), spool / ".next")
    (spool / ".next").rename(spool / spool_file_name(second, second))


def finish(spool: Path) -> None:
    SpoolControl(spool).save("finished", last_second=SECONDS - 1)


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    folder = tmp_path / "spool"
    folder.mkdir()
    return folder


def kept_rows(warehouse: Path) -> Counter[Row]:
    rows = open_reports_table(warehouse, "POSREPORTS").snapshot().scan()
    return Counter(zip(*(column.to_pylist() for column in rows.columns), strict=True))


def expected() -> Counter[Row]:
    return Counter(
        row
        for second in range(SECONDS)
        for row in (
            (7 + second % 5, 50, 0, 1, 0, 5, 26_400 + second, second),
            (900, 30, 1, 2, 1, 6, 31_680 + second, second),
        )
    )


def test_only_reports_become_rows(tmp_path: Path) -> None:
    schema = open_reports_table(tmp_path, "POSREPORTS").definition.arrow_schema()
    assert report_rows(tuples_of(3), schema).to_pylist() == [
        {"VID": 10, "SPD": 50, "XWAY": 0, "LANE": 1, "DIR": 0, "SEG": 5, "POS": 26_403, "T": 3},
        {"VID": 900, "SPD": 30, "XWAY": 1, "LANE": 2, "DIR": 1, "SEG": 6, "POS": 31_683, "T": 3},
    ]


@pytest.mark.parametrize("name", ["", "1st", "a.b", "reports__late", "x y", "reports__Rejected"])
def test_names_that_no_table_can_have(name: str) -> None:
    with pytest.raises(UserError, match="as in POSREPORTS"):
        check_table_name(name)


def test_all_that_is_delivered_is_kept_and_the_time_is_closed(tmp_path: Path, spool: Path) -> None:
    for second in range(SECONDS):
        release(spool, second)
    finish(spool)
    store = open_reports_table(tmp_path / "warehouse", "POSREPORTS")
    mark, record = KeptMark(spool / "_kept"), KeepingRecord(tmp_path / "keeping.json")
    keep_reports(store, spool, mark, record, real_time_from=10)
    assert kept_rows(tmp_path / "warehouse") == expected()
    assert mark.read() == SECONDS
    assert store.snapshot().ended
    recorded = json.loads((tmp_path / "keeping.json").read_text())
    assert recorded["rows"] == 2 * SECONDS
    # Again: nothing is taken twice.
    keep_reports(store, spool, mark, KeepingRecord.continued(record.path), real_time_from=10)
    assert kept_rows(tmp_path / "warehouse") == expected()
    assert json.loads((tmp_path / "keeping.json").read_text())["rows"] == 2 * SECONDS


_KEEPER = """
import sys
from pathlib import Path
from causeway.linear_road.keeping import keeper
from causeway.linear_road.keeping.kept_mark import KeptMark
from causeway.linear_road.keeping.reports_table import open_reports_table
keeper.BATCH_BYTES = 1
folder = Path(sys.argv[1])
store = open_reports_table(folder / "warehouse", "POSREPORTS")
spool = folder / "spool"
record = keeper.KeepingRecord.continued(folder / "keeping.json")
keeper.keep_reports(store, spool, KeptMark(spool / "_kept"), record, real_time_from=None)
"""


def test_killed_at_any_moment_it_keeps_each_report_once(tmp_path: Path, spool: Path) -> None:
    mark = KeptMark(spool / "_kept")
    for second in range(SECONDS):
        release(spool, second)
    for number in range(4):
        process = subprocess.Popen([sys.executable, "-c", _KEEPER, str(tmp_path)])
        while mark.read() < 8 * (number + 1):
            assert process.poll() is None
            time.sleep(0.0002)
        process.send_signal(signal.SIGKILL)
        process.wait()
        # The mark is never ahead of what is kept.
        assert sum(kept_rows(tmp_path / "warehouse").values()) >= 2 * mark.read()
    finish(spool)
    subprocess.run([sys.executable, "-c", _KEEPER, str(tmp_path)], check=True)
    assert kept_rows(tmp_path / "warehouse") == expected()


def test_files_stay_in_the_spool_until_they_are_kept(spool: Path) -> None:
    for second in range(6):
        release(spool, second)
    mark = KeptMark(spool / "_kept")
    reader = _SpoolReader(spool, [0], mark)
    reader.commit({"second": 5})
    assert len(spool_files(spool)) == 6
    mark.write(3)
    reader.commit({"second": 5})
    assert [file.first for file in spool_files(spool)] == [3, 4, 5]
    mark.write(6)
    reader.commit({"second": 4})
    assert [file.first for file in spool_files(spool)] == [4, 5]


def test_a_missing_file_is_no_gap_in_the_history(tmp_path: Path, spool: Path) -> None:
    release(spool, 0)
    release(spool, 2)
    store = open_reports_table(tmp_path / "warehouse", "POSREPORTS")
    record = KeepingRecord(tmp_path / "keeping.json")
    with pytest.raises(SpoolGapError, match="lacks the seconds 1 to 1"):
        keep_reports(store, spool, KeptMark(spool / "_kept"), record, real_time_from=None)
    assert not kept_rows(tmp_path / "warehouse")


def test_the_process_tells_when_a_second_is_kept_and_why_it_failed(tmp_path: Path, spool: Path) -> None:
    def process() -> KeepProcess:
        return KeepProcess(
            spool,
            tmp_path / "warehouse",
            "POSREPORTS",
            record=tmp_path / "keeping.json",
            log=tmp_path / "log.txt",
            real_time_from=0,
        )

    keeper = process()
    try:
        release(spool, 0)
        keeper.wait_until_kept(0)
        assert sum(kept_rows(tmp_path / "warehouse").values()) == 2
        release(spool, 2)
        with pytest.raises(CausewayError, match=r"keeps the position reports ended .* lacks the seconds 1"):
            keeper.wait_until_kept(2)
    finally:
        keeper.stop()
    release(spool, 1)
    keeper = process()
    try:
        keeper.wait_until_kept(2)
        SpoolControl(spool).save("finished", last_second=2)
        keeper.finish()
    finally:
        keeper.stop()
    recorded = json.loads((tmp_path / "keeping.json").read_text())
    assert recorded["visible_ms"]["appends"] >= 2
    assert sum(kept_rows(tmp_path / "warehouse").values()) == 6


@pytest.mark.parametrize("content", [b"", b"123", bytes(9)])
def test_a_mark_that_is_cut_off_says_nothing(tmp_path: Path, content: bytes) -> None:
    mark = KeptMark(tmp_path / "mark")
    assert mark.read() == 0
    mark.path.write_bytes(content)
    assert mark.read() == 0
    mark.path.unlink()
    mark.write(7)
    assert mark.read() == 7
