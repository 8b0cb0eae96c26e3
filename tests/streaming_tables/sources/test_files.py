"""Files and growing folders: what is found, in which order, and what offsets mean after a restart."""

from __future__ import annotations

import gzip
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.streaming_tables.sources.feeding import REPORTS, csv_text, drain, opened

from causeway.runtime.errors import UserError
from causeway.streaming_tables.sources import TargetColumns, stream_columns


def _row(number: int) -> tuple[int, int, int, int]:
    return (number, 50, 0, number)


def _write_csv(path: Path, *numbers: int, moment: int | None = None) -> None:
    path.write_text(csv_text([_row(number) for number in numbers]))
    if moment is not None:
        os.utime(path, (moment, moment))


def _write_parquet(path: Path, *numbers: int, row_group_size: int = 1000) -> None:
    table = pa.table(
        {
            name: [_row(number)[index] for number in numbers]
            for index, name in enumerate(["vid", "Spd", "XWay", "T"])
        }
    )
    pq.write_table(table, path, row_group_size=row_group_size)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "in"
    path.mkdir()
    return path


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def frequent_switches() -> Iterator[None]:
    """Threads take turns so often that what they must not do at once goes wrong."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("frequent_switches")
def test_threads_that_ask_at_once_list_each_file_once(folder: Path, state: Path) -> None:
    files = 300
    source, other = opened(folder, state), opened(folder, state)
    threads = 4
    ready = threading.Barrier(threads)
    failures: list[BaseException] = []

    def ask() -> None:
        try:
            ready.wait()
            while source.available()["file"] < files:
                assert not source.ends
        except BaseException as failure:
            failures.append(failure)
            raise

    asking = [threading.Thread(target=ask) for _ in range(threads)]
    for thread in asking:
        thread.start()
    for number in range(files):
        _write_csv(folder / f".{number}", number)
        (folder / f".{number}").rename(folder / f"{number}.csv")
        # What another reader has listed is what all threads see at once.
        other.available()
    for thread in asking:
        thread.join()
    assert not failures
    listed = [json.loads(line)["path"] for line in (state / "files.jsonl").read_text().splitlines()]
    assert sorted(listed) == sorted(str(folder / f"{number}.csv") for number in range(files))
    assert sorted(drain(opened(folder, state)).rows) == [_row(number) for number in range(files)]


def test_a_folder_is_read_by_time_of_change_then_name(folder: Path, state: Path) -> None:
    _write_csv(folder / "b.csv", 1, moment=1000)
    _write_csv(folder / "a.csv", 3, moment=3000)
    _write_csv(folder / "d.csv", 2, moment=2000)
    _write_csv(folder / "c.csv", 4, moment=3000)
    drained = drain(opened(folder, state))
    assert drained.rows == [_row(1), _row(2), _row(3), _row(4)]
    assert drained.offset == {"file": 4, "position": 0}


def test_a_folder_grows(folder: Path, state: Path) -> None:
    source = opened(folder, state)
    assert source.available() == {"file": 0, "position": 0}
    first = drain(source)
    assert first.rows == []
    _write_csv(folder / "new.csv", 1)
    goal = source.available()
    assert goal == {"file": 1, "position": 0}
    assert not source.reached(first.offset, goal)
    assert not source.reached(None, goal)
    second = drain(source, offset=first.offset)
    assert second.rows == [_row(1)]
    assert source.reached(second.offset, goal)
    assert not source.ends
    assert not source.finished(second.offset)


def test_a_file_added_to_a_folder_that_was_looked_at_long_after_its_last_change_is_found(
    folder: Path, state: Path
) -> None:
    _write_csv(folder / "a.csv", 1)
    os.utime(folder, (1000, 1000))
    source = opened(folder, state)
    for _ in range(3):
        assert source.available()["file"] == 1
    _write_csv(folder / "b.csv", 2)
    assert source.available()["file"] == 2


def test_a_file_added_within_the_same_tick_of_the_clock_is_found(folder: Path, state: Path) -> None:
    """File systems note changes in ticks: a folder that was changed just now may change again unseen."""
    tick = time.time_ns() + 3_600_000_000_000
    _write_csv(folder / "a.csv", 1)
    os.utime(folder, ns=(tick, tick))
    source = opened(folder, state)
    for _ in range(2):
        assert source.available()["file"] == 1
    _write_csv(folder / "b.csv", 2)
    os.utime(folder, ns=(tick, tick))
    assert source.available()["file"] == 2


def test_hidden_unfinished_and_other_files_are_passed_over(folder: Path, state: Path) -> None:
    for name in (".a.csv", "_b.csv", "c.csv.tmp", "d.csv.part", "e.csv~", "README.md", "_SUCCESS"):
        _write_csv(folder / name, 9)
    (folder / "f.csv").mkdir()
    _write_csv(folder / "good.csv", 1)
    assert drain(opened(folder, state)).rows == [_row(1)]


def test_offsets_mean_the_same_after_a_restart(folder: Path, state: Path) -> None:
    _write_csv(folder / "m.csv", 1, 2, moment=2000)
    _write_csv(folder / "n.csv", 3, moment=3000)
    before = drain(opened(folder, state))
    # Older than the others, and first by name: but it is found last.
    _write_csv(folder / "a.csv", 4, moment=1000)
    os.utime(folder / "m.csv", (9000, 9000))
    again = opened(folder, state)
    assert drain(again, offset=before.offset).rows == [_row(4)]
    assert drain(again).rows == [_row(number) for number in (1, 2, 3, 4)]


def test_an_unfinished_line_of_the_list_of_files_is_written_again(folder: Path, state: Path) -> None:
    _write_csv(folder / "a.csv", 1)
    drain(opened(folder, state))
    _write_csv(folder / "b.csv", 2)
    with (state / "files.jsonl").open("a") as listed:
        listed.write('{"path": "/half/a/line' + "x" * 5000)
    assert drain(opened(folder, state)).rows == [_row(1), _row(2)]
    assert drain(opened(folder, state)).rows == [_row(1), _row(2)]


def test_two_readers_that_look_for_files_agree(folder: Path, state: Path) -> None:
    one, other = opened(folder, state), opened(folder, state)
    for number in range(6):
        _write_csv(folder / f"{number}.csv", number)
        for source in (one, other) if number % 2 else (other, one):
            assert source.available() == {"file": number + 1, "position": 0}
    assert drain(one).rows == drain(other).rows == [_row(number) for number in range(6)]


@pytest.mark.parametrize("tasks", [1, 3])
def test_a_large_file_is_several_batches(folder: Path, state: Path, tasks: int) -> None:
    _write_parquet(folder / "a.parquet", *range(100_000), row_group_size=7000)
    drained = drain(opened(folder, state, batch_rows="30000"), tasks=tasks)
    assert drained.rows == [_row(number) for number in range(100_000)]
    # They end with row groups.
    assert drained.batches == [28_000, 28_000, 28_000, 16_000]


def test_a_row_group_larger_than_a_batch_is_cut(folder: Path, state: Path) -> None:
    _write_parquet(folder / "a.parquet", *range(1000), row_group_size=1000)
    drained = drain(opened(folder, state, batch_rows="300"))
    assert drained.rows == [_row(number) for number in range(1000)]
    assert drained.batches == [300, 300, 300, 100]


@pytest.mark.parametrize("tasks", [1, 3])
def test_a_large_text_is_several_batches(folder: Path, state: Path, tasks: int) -> None:
    _write_csv(folder / "a.csv", *range(100_000))
    drained = drain(opened(folder, state, batch_bytes="600000"), tasks=tasks)
    assert drained.rows == [_row(number) for number in range(100_000)]
    assert 3 <= len(drained.batches) <= 4


def test_small_files_are_taken_many_at_once(folder: Path, state: Path) -> None:
    for number in range(50):
        _write_csv(folder / f"{number:02d}.csv", number, moment=1000)
    assert drain(opened(folder, state)).batches == [50]


def test_a_rejected_line_has_its_number_in_the_file(folder: Path, state: Path) -> None:
    lines = [f"{number},1,1,{number}" for number in range(50_000)]
    lines[40_000] = "x,1,1,1"
    (folder / "a.csv").write_text("\n".join(["VID,SPD,XWAY,Time", *lines]) + "\n")
    drained = drain(opened(folder, state, batch_rows="9000"))
    assert drained.rejects == [("a.csv", 40_002, "VID is x, not a whole number", "x,1,1,1")]
    assert len(drained.rows) == 49_999


def test_packed_text_is_read(folder: Path, state: Path) -> None:
    (folder / "a.csv.gz").write_bytes(gzip.compress(csv_text([_row(1), ("x", 1, 1, 1), _row(2)]).encode()))
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(b'{"Vid":3,"spd":50,"xway":0,"t":3}\n'))
    drained = drain(opened(folder, state))
    assert sorted(drained.rows) == [_row(1), _row(2), _row(3)]
    assert drained.reject_lines == [3]


def test_large_packed_text_is_several_batches(folder: Path, state: Path) -> None:
    random = np.random.default_rng(1)
    rows = [
        (int(vid), int(spd), 0, second)
        for second, (vid, spd) in enumerate(random.integers(0, 2**30, (400_000, 2)))
    ]
    text = csv_text(rows[:100]) + "x\n" + csv_text(rows[100:], header=None)
    (folder / "a.csv.gz").write_bytes(gzip.compress(text.encode(), 1))
    source = opened(folder, state, batch_rows="150000")
    drained = drain(source)
    assert drained.rows == rows
    assert [reject[:2] for reject in drained.rejects] == [("a.csv.gz", 102)]
    assert len(drained.batches) == 3
    assert list((state / "unpacked").iterdir()) == []
    assert [path.name for path in folder.iterdir()] == ["a.csv.gz"]
    assert source.available() == drained.offset


def test_a_single_file_ends(folder: Path, state: Path) -> None:
    _write_csv(folder / "a.csv", 1)
    source = opened(folder / "a.csv", state)
    assert source.ends
    assert not source.finished(None)
    drained = drain(source)
    assert source.finished(drained.offset)


def test_a_file_that_has_been_read_may_be_gone_after_a_restart(folder: Path, state: Path) -> None:
    _write_csv(folder / "a.csv", 1)
    drained = drain(opened(folder / "a.csv", state))
    (folder / "a.csv").unlink()
    assert opened(folder / "a.csv", state).finished(drained.offset)
    with pytest.raises(UserError, match="there is no such file"):
        opened(folder / "a.csv", state / "another")


def test_once_is_what_is_there_at_the_start(folder: Path, state: Path) -> None:
    _write_csv(folder / "a.csv", 1)
    source = opened(folder, state, once="true")
    assert source.ends
    _write_csv(folder / "b.csv", 2)
    drained = drain(opened(folder, state, once="true"))
    assert drained.rows == [_row(1)]
    assert source.finished(drained.offset)


def test_a_damaged_file_is_one_rejected_row(folder: Path, state: Path) -> None:
    _write_parquet(folder / "a.parquet", 1)
    source = opened(folder, state)
    drain(source)
    (folder / "b.parquet").write_bytes(b"PAR1 this is not a table PAR1")
    (folder / "c.csv.gz").write_bytes(b"\x1f\x8bnothing")
    _write_parquet(folder / "d.parquet", 2)
    drained = drain(opened(folder, state))
    assert sorted(drained.rows) == [_row(1), _row(2)]
    assert [(name, line) for name, line, _, _ in sorted(drained.rejects)] == [
        ("b.parquet", 0),
        ("c.csv.gz", 0),
    ]
    assert all("cannot be read" in reason for _, _, reason, _ in drained.rejects)


def test_a_file_that_is_gone_before_it_is_read_is_rejected(folder: Path, state: Path) -> None:
    _write_csv(folder / "a.csv", 1)
    source = opened(folder, state)
    source.available()
    (folder / "a.csv").unlink()
    _write_csv(folder / "b.csv", 2)
    drained = drain(source)
    assert drained.rows == [_row(2)]
    assert [reject[:3] for reject in drained.rejects] == [
        ("a.csv", 0, "the file was removed before it was read")
    ]


def test_a_later_file_without_a_column_is_one_rejected_row(folder: Path, state: Path) -> None:
    _write_csv(folder / "a.csv", 1)
    source = opened(folder, state, batch_rows="1")
    drain(source)
    (folder / "b.csv").write_text("vid,speed,xway,t\n1,2,3,4\n5,6,7,8\n9,9,9,9\n")
    drained = drain(source)
    assert drained.rows == [_row(1)]
    assert [(name, line) for name, line, _, _ in drained.rejects] == [("b.csv", 0)]
    assert "lacks the column SPD" in drained.rejects[0][2]
    assert "speed" in drained.rejects[0][2]


def test_text_without_a_header(folder: Path, state: Path) -> None:
    (folder / "a.csv").write_text("1,50,0,7\n")
    assert drain(opened(folder, state, header="false")).rows == [(1, 50, 0, 7)]


def test_text_with_columns_named_by_the_user(folder: Path, state: Path) -> None:
    (folder / "a.csv").write_text("7;x;0;50;1\n")
    options = {"columns": "moment, other, xway, spd, vid", "timestamp": "moment", "delimiter": ";"}
    assert drain(opened(folder, state, **options)).rows == [(1, 50, 0, 7)]


def test_times_become_seconds(folder: Path, state: Path) -> None:
    target = TargetColumns(pa.schema([("x", pa.int32()), ("T", pa.int64())]), "seconds")
    moments = pa.array([1500, -1, None], pa.timestamp("ms", tz="UTC"))
    pq.write_table(pa.table({"x": [1, 2, 3], "time": moments}), folder / "a.parquet")
    drained = drain(opened(folder, state, target))
    assert drained.rows == [(1, 1)]
    assert drained.reject_lines == [2, 3]


def test_a_rejected_row_of_parquet_is_shown_as_json(folder: Path, state: Path) -> None:
    pq.write_table(
        pa.table({"VID": [1, 2**40], "SPD": [1, 1], "XWAY": [1, 1], "Time": [1, 1]}), folder / "a.parquet"
    )
    drained = drain(opened(folder, state))
    reason = "VID is 1099511627776, which does not fit in INT"
    text = '{"VID": 1099511627776, "SPD": 1, "XWAY": 1, "Time": 1}'
    assert drained.rejects == [("a.parquet", 2, reason, text)]


def test_a_long_rejected_line_is_cut(folder: Path, state: Path) -> None:
    (folder / "a.csv").write_text("vid,spd,xway,t\n" + "x" * 5000 + "\n")
    ((_, _, _, text),) = drain(opened(folder, state)).rejects
    assert len(text) == 1000


def test_the_users_files_stay_as_they_are(folder: Path, state: Path) -> None:
    _write_csv(folder / "a.csv", 1, moment=1000)
    before = (folder / "a.csv").read_bytes()
    drain(opened(folder, state))
    assert sorted(path.name for path in folder.iterdir()) == ["a.csv"]
    assert (folder / "a.csv").read_bytes() == before
    assert REPORTS.schema.names[-1] == "T"


def test_few_rows_are_read_here_and_many_are_left_to_tasks(folder: Path, state: Path) -> None:
    _write_csv(folder / "a.csv", 1, 2, moment=1000)
    (folder / "b.csv").write_text(csv_text([_row(3), ("no number", 50, 0, 4)]))
    _write_parquet(folder / "c.parquet", *range(100_000), row_group_size=10_000)
    for number, name in enumerate(("b.csv", "c.parquet"), 2):
        os.utime(folder / name, (1000 * number, 1000 * number))
    source = opened(folder, state)
    end = source.available()
    rows = source.read_here(None, {"file": 2, "position": 0})
    assert rows is not None
    assert rows.column("VID").to_pylist() == [1, 2, 3, None]
    assert rows.column("__reason").null_count == 3
    later = source.read_here({"file": 1, "position": 0}, {"file": 2, "position": 0})
    assert later is not None
    assert later.column("VID").to_pylist() == [3, None]
    assert source.read_here(None, end) is None
    nothing = source.read_here(end, end)
    assert nothing is not None
    assert nothing.num_rows == 0


@pytest.mark.parametrize("kind", ["csv", "json", "dat", "parquet"])
def test_the_format_of_a_file_whose_name_tells_none(tmp_path: Path, state: Path, kind: str) -> None:
    file = tmp_path / "LINEARROAD.STR"
    if kind == "csv":
        file.write_text("\ufeffvid,spd,xway,time\n1,60,0,7\n")
    elif kind == "json":
        file.write_text('{"vid": 1, "spd": 60, "xway": 0, "time": 7}\n')
    elif kind == "dat":
        file.write_text("0,7,1,60,0,0,0,10,53320,-1,-1,-1,-1,-1,-1\n")
    else:
        pq.write_table(pa.table({"vid": [1], "spd": [60], "xway": [0], "time": [7]}), file)
    assert drain(opened(file, state)).rows == [(1, 60, 0, 7)]
    assert stream_columns(str(file), {}, tmp_path).schema.names[-1].lower() == "time"
