"""Linear Road's workloads, spools and flat files: position reports in time order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.streaming_tables.sources.feeding import REPORTS, drain, opened

from causeway.linear_road.driver.spool import spool_file_name
from causeway.linear_road.model.tuples import INPUT_COLUMNS, INPUT_SCHEMA
from causeway.linear_road.workload.stream_files import StreamWriter, part_path
from causeway.linear_road.workload.workload import StreamFormat, Workload
from causeway.runtime.errors import UserError
from causeway.streaming.delivery import SpoolControl

Tuple = tuple[int, int, int, int]
"""Type, time, vehicle, expressway."""


def _tuples(tuples: Sequence[Tuple]) -> pa.Table:
    columns = {name: np.full(len(tuples), -1, dtype=np.int32) for name in INPUT_COLUMNS}
    for name, values in zip(("Type", "Time", "VID", "XWay"), zip(*tuples, strict=True), strict=False):
        columns[name] = np.array(values, dtype=np.int32)
    columns["Spd"] = columns["VID"] % 100
    return pa.table(columns, schema=INPUT_SCHEMA)


def _expected(parts: Sequence[Sequence[Tuple]]) -> list[tuple[int, int, int, int]]:
    """The position reports of all parts by time; of a second, part by part."""
    reports = [row for part in parts for row in part if row[0] == 0]
    return [(vid, vid % 100, xway, time) for _, time, vid, xway in sorted(reports, key=lambda row: row[1])]


def _workload(folder: Path, parts: Sequence[Sequence[Tuple]], file_format: StreamFormat) -> Path:
    (folder / "stream").mkdir(parents=True)
    for number, part in enumerate(parts):
        with StreamWriter(part_path(folder / "stream", number, file_format), file_format) as writer:
            writer.append(_tuples(part))
    Workload(folder, "generated", file_format, len(parts), 3, 1).save()
    return folder


def _random_parts(seed: int, rows: int) -> list[list[Tuple]]:
    random = np.random.default_rng(seed)
    parts = []
    for xway in range(3):
        # Few at first and many at the end, as in Linear Road.
        times = np.sort((180 * np.sqrt(random.random(rows))).astype(int))
        kinds = random.choice([0, 0, 0, 2, 3], rows)
        vehicles = random.integers(0, 1000, rows)
        parts.append([(int(k), int(t), int(v), xway) for k, t, v in zip(kinds, times, vehicles, strict=True)])
    return parts


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
@pytest.mark.parametrize("tasks", [1, 2, 3])
def test_the_parts_of_a_workload_are_merged_by_time(
    tmp_path: Path, file_format: StreamFormat, tasks: int
) -> None:
    parts = _random_parts(tasks, 30_000)
    folder = _workload(tmp_path / "workload", parts, file_format)
    source = opened(folder, tmp_path / "state", batch_rows="20000")
    drained = drain(source, tasks=tasks)
    assert drained.rows == _expected(parts)
    assert drained.rejects == []
    assert 4 <= len(drained.batches) <= 8
    assert source.ends
    assert source.finished(drained.offset)
    assert not source.finished({"second": 179})


@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from([0, 2]), st.integers(0, 200)), max_size=10), min_size=1, max_size=3
    ),
    st.sampled_from(["parquet", "csv"]),
    st.integers(1, 5),
)
def test_a_workload_is_merged_wherever_it_is_cut(
    drawn: list[list[tuple[int, int]]], file_format: StreamFormat, batch_rows: int
) -> None:
    import tempfile

    parts = [
        [
            (kind, time, 10 * number + place, number)
            for place, (kind, time) in enumerate(sorted(part, key=lambda r: r[1]))
        ]
        for number, part in enumerate(drawn)
    ]
    with tempfile.TemporaryDirectory() as made:
        folder = _workload(Path(made) / "workload", parts, file_format)
        drained = drain(opened(folder / "stream", Path(made) / "state", batch_rows=str(batch_rows)))
    assert drained.rows == _expected(parts)


def test_a_rejected_tuple_of_a_workload_has_its_line(tmp_path: Path) -> None:
    folder = _workload(tmp_path / "workload", [[(0, 1, 1, 0)], [(0, 1, 2, 1), (0, 70, 3, 1)]], "csv")
    part = folder / "stream" / "part-00001.csv"
    part.write_text(part.read_text() + "0,71,vehicle" + ",1" * 12 + "\n")
    drained = drain(opened(folder, tmp_path / "state", batch_rows="1"))
    assert [row[0] for row in drained.rows] == [1, 2, 3]
    assert [reject[:2] for reject in drained.rejects] == [("part-00001.csv", 3)]


def test_a_workload_without_its_files_is_refused(tmp_path: Path) -> None:
    folder = _workload(tmp_path / "workload", [[(0, 1, 1, 0)]], "parquet")
    (folder / "stream" / "part-00000.parquet").unlink()
    with pytest.raises(UserError, match="are gone"):
        opened(folder, tmp_path / "state")


def _deliver(spool: Path, first: int, last: int, tuples: Sequence[Tuple]) -> None:
    pq.write_table(_tuples(tuples), spool / spool_file_name(first, last))


def test_a_spool_is_read_while_it_grows_and_ends_when_it_is_finished(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    source = opened(spool, tmp_path / "state")
    control = SpoolControl(spool)
    control.save("running")
    _deliver(spool, 0, 9, [(0, 1, 1, 0), (2, 1, 1, 0), (0, 9, 2, 0)])
    first = drain(source)
    assert first.rows == [(1, 1, 0, 1), (2, 2, 0, 9)]
    assert not source.ends
    _deliver(spool, 10, 19, [])
    _deliver(spool, 20, 29, [(0, 20, 3, 0)])
    control.save("finished")
    assert source.ends
    assert not source.finished(first.offset)
    second = drain(source, offset=first.offset)
    assert second.rows == [(3, 3, 0, 20)]
    assert source.finished(second.offset)


def test_a_spool_is_read_by_its_seconds_not_by_the_time_of_its_files(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    for first in (20, 0, 10):
        _deliver(spool, first, first + 9, [(0, first, first, 0)])
    assert [row[3] for row in drain(opened(spool, tmp_path / "state")).rows] == [0, 10, 20]


def test_a_gap_in_a_spool_waits_for_its_file(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    _deliver(spool, 0, 9, [(0, 1, 1, 0)])
    _deliver(spool, 20, 29, [(0, 20, 2, 0)])
    source = opened(spool, tmp_path / "state")
    assert source.available() == {"file": 1, "position": 0}
    _deliver(spool, 10, 19, [(0, 10, 3, 0)])
    assert [row[3] for row in drain(source).rows] == [1, 10, 20]


def test_a_finished_spool_that_lacks_a_file_is_refused(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    _deliver(spool, 0, 9, [(0, 1, 1, 0)])
    _deliver(spool, 20, 29, [(0, 20, 2, 0)])
    SpoolControl(spool).save("finished")
    with pytest.raises(UserError, match="lacks the seconds 10 to 19"):
        opened(spool, tmp_path / "state").available()


def test_a_flat_file_of_the_original_tools(tmp_path: Path) -> None:
    path = tmp_path / "cardatapoints.out.dat"
    path.write_text(
        "0,0,107,32,0,0,0,10,53320,-1,-1,-1,-1,-1,-1\n"
        "2,1,107,-1,-1,-1,-1,-1,-1,15,-1,-1,-1,-1,-1\n"
        "0,1,oops,32,0,0,0,10,53320,-1,-1,-1,-1,-1,-1\n"
        ",1,108,32,0,0,0,10,53320,-1,-1,-1,-1,-1,-1\n"
        "0,2,109,32,1\n"
        "0,2,109,32,1,0,0,10,53320,-1,-1,-1,-1,-1,-1\n"
    )
    drained = drain(opened(path, tmp_path / "state"))
    assert drained.rows == [(107, 32, 0, 0), (109, 32, 1, 2)]
    assert [(line, reason) for _, line, reason, _ in drained.rejects] == [
        (3, "VID is oops, not a whole number"),
        (4, "Type has no value"),
        (5, "5 fields instead of 15"),
    ]


def test_tuples_as_lines_of_json(tmp_path: Path) -> None:
    rows = _tuples([(0, 1, 1, 0), (3, 1, 2, 0), (0, 2, 3, 0)]).to_pandas()
    rows.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    assert [row[0] for row in drain(opened(tmp_path / "a.jsonl", tmp_path / "state")).rows] == [1, 3]
    assert REPORTS.time_kind == "seconds"


def test_a_spool_tells_which_seconds_are_whole(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    source = opened(spool, tmp_path / "state")
    SpoolControl(spool).save("running")
    _deliver(spool, 0, 9, [(0, 1, 1, 0)])
    assert source.closed(drain(source).offset) == 9
    assert source.closed({"file": 0, "position": 0}) is None


def test_requests_of_a_spool(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    _deliver(spool, 0, 9, [(0, 1, 1, 0), (2, 1, 1, 0), (0, 9, 2, 0), (4, 9, 5, 0)])
    assert [row[-1] for row in drain(opened(spool, tmp_path / "state", stream="requests")).rows] == [1, 9]
    assert [row[-1] for row in drain(opened(spool, tmp_path / "other", stream="Reports")).rows] == [1, 9]
