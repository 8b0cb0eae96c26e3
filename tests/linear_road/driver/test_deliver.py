from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from causeway.linear_road.driver import deliver, encoder
from causeway.linear_road.driver.deliver import DriveResult, drive
from causeway.linear_road.model.tuples import INPUT_DDL, INPUT_SCHEMA
from causeway.linear_road.workload.stream_reader import read_seconds
from causeway.linear_road.workload.workload import Workload
from causeway.runtime.errors import UserError
from causeway.streaming.delivery import SpoolControl

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def make_workload(folder: Path, parts: Sequence[Sequence[int]], minutes: int) -> Workload:
    """A workload whose parts have tuples at the given seconds."""
    (folder / "stream").mkdir(parents=True)
    for part, times in enumerate(parts):
        columns = {name: np.full(len(times), -1, np.int32) for name in INPUT_SCHEMA.names}
        columns["Time"] = np.asarray(times, np.int32)
        columns["VID"] = np.arange(len(times), dtype=np.int32)
        columns["XWay"] = np.full(len(times), part, np.int32)
        pq.write_table(pa.table(columns, schema=INPUT_SCHEMA), folder / "stream" / f"part-{part:05d}.parquet")
    workload = Workload(
        folder=folder, source="generated", format="parquet", expressways=len(parts), minutes=minutes, seed=1
    )
    workload.save()
    return workload


@pytest.fixture
def workload(tmp_path: Path) -> Workload:
    """Three minutes on two expressways; some seconds have no tuples."""
    first = np.repeat(np.arange(0, 180), 3)
    second = np.repeat(np.arange(0, 180, 2), 5)
    no_gap = [times[(times < 70) | (times > 75)].tolist() for times in (first, second)]
    return make_workload(tmp_path / "workload", no_gap, minutes=3)


def stream_of(workload: Workload) -> pa.Table:
    seconds = read_seconds(workload.parts, workload.format)
    return pa.Table.from_batches([batch for second in seconds for batch in second.batches], INPUT_SCHEMA)


def delivered_files(spool: Path) -> list[Path]:
    return sorted(spool.glob("*.parquet"))


def delivered(spool: Path) -> pa.Table:
    return pa.concat_tables([pq.read_table(file) for file in delivered_files(spool)])


def drive_state(spool: Path) -> dict[str, Any]:
    state: dict[str, Any] = json.loads((spool / "_delivery.json").read_text())
    return state


def seconds_of(file: str) -> tuple[int, int]:
    _, first, last = file.removesuffix(".parquet").split("-")
    return int(first), int(last)


class Watch(threading.Thread):
    """Looks at a spool from outside and notes when each file was first seen."""

    def __init__(self, spool: Path) -> None:
        super().__init__(daemon=True)
        self._spool = spool
        self._done = threading.Event()
        self.seen: dict[str, float] = {}
        self.states: list[str] = []

    def run(self) -> None:
        while not self._done.is_set():
            names = [path.name for path in self._spool.glob("seconds-*")]
            now = time.time()
            for name in names:
                self.seen.setdefault(name, now)
            if names and (self._spool / "_delivery.json").exists():
                self.states.append(drive_state(self._spool)["state"])
            time.sleep(0.001)

    def __enter__(self) -> Watch:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self.join()


@pytest.mark.parametrize(("speed", "grouped"), [(60.0, 4), (19.0, 1)])
def test_everything_is_delivered_and_never_early(
    workload: Workload, tmp_path: Path, speed: float, grouped: int
) -> None:
    spool = tmp_path / "spool"
    from_minute = 0 if speed == 60 else 2
    with Watch(spool) as watch:
        delivery = drive(workload, spool, speed=speed, from_minute=from_minute)

    state = drive_state(spool)
    origin = 60 * from_minute
    real_time = {name: seen for name, seen in watch.seen.items() if seconds_of(name)[0] >= origin}
    assert real_time
    for name, seen in real_time.items():
        first, last = seconds_of(name)
        # Names cover seconds 70 to 75 too, which have no tuples.
        assert last - first < grouped + (6 if first <= 75 <= last else 0)
        # Two clock readings' worth of rounding of an epoch float, no more.
        assert seen >= state["started_at"] + (last - origin) / speed - 1e-6
    spans = sorted(seconds_of(file.name) for file in delivered_files(spool))
    assert spans[0][0] == 0
    assert all(later[0] == earlier[1] + 1 for earlier, later in pairwise(spans))
    assert delivered(spool).equals(stream_of(workload))
    assert delivery.tuples == stream_of(workload).num_rows
    assert delivery.files == len(delivered_files(spool))
    assert delivery.seconds == len(set(stream_of(workload)["Time"].to_pylist()))
    assert delivery.last_second == 179
    assert not delivery.stopped
    assert state["state"] == "finished"
    assert (state["tuples"], state["files"], state["last_second"]) == (delivery.tuples, delivery.files, 179)
    assert set(watch.states) <= {"starting", "running", "finished"}
    assert not (spool / ".ahead").exists()


def test_the_past_comes_at_once_and_real_time_starts_there(workload: Workload, tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    past: list[list[str]] = []

    def pipeline_has_digested() -> bool:
        past.append([file.name for file in delivered_files(spool)])
        assert drive_state(spool)["state"] == "starting"
        assert drive_state(spool)["started_at"] is None
        # The first files of real time wait for it.
        assert any((spool / ".ahead").iterdir())
        return len(past) == 3

    before = time.time()
    drive(workload, spool, speed=60, from_minute=2, start_when=pipeline_has_digested)
    assert len(past) == 3
    assert [seconds_of(name) for name in past[-1]] == [(0, 59), (60, 119)]
    assert drive_state(spool)["started_at"] > before
    assert drive_state(spool)["from_minute"] == 2
    assert delivered(spool).equals(stream_of(workload))


def test_at_an_infinite_speed_all_is_past(workload: Workload, tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    delivery = drive(workload, spool, speed=float("inf"))
    assert delivered(spool).equals(stream_of(workload))
    assert delivery.worst_lateness_ms == 0
    assert drive_state(spool)["state"] == "finished"
    assert drive_state(spool)["started_at"] is None


@pytest.mark.parametrize("killed_in_real_time", [True, False])
def test_resumes_after_the_last_second_delivered(
    workload: Workload, tmp_path: Path, killed_in_real_time: bool
) -> None:
    """As after a kill: files not yet due lie about, and the state is what it was when it died."""
    spool = tmp_path / "spool"
    drive(workload, spool, speed=60, from_minute=2)
    state = drive_state(spool)
    files = delivered_files(spool)
    for file in files[2:] if killed_in_real_time else files[1:]:
        file.unlink()
    (spool / ".ahead").mkdir()
    (spool / ".ahead" / "000000000150.parquet").write_bytes(b"half written")
    if killed_in_real_time:
        (spool / "_delivery.json").write_text(json.dumps(state | {"state": "running"}))
    else:
        (spool / "_delivery.json").unlink()
    drive(workload, spool, speed=60, from_minute=2, resume=True)
    assert delivered(spool).equals(stream_of(workload))
    assert not (spool / ".ahead").exists()
    same_clock = drive_state(spool)["started_at"] == state["started_at"]
    assert same_clock == killed_in_real_time


def test_what_became_due_while_no_driver_ran_is_not_late_delivery(workload: Workload, tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    SpoolControl(spool).save("running", started_at=time.time() - 3600)
    result = drive(workload, spool, speed=60, resume=True)
    assert delivered(spool).equals(stream_of(workload))
    assert (result.worst_lateness_ms, result.kept_promise) == (0.0, True)


def test_lateness_of_an_earlier_attempt_is_not_forgotten(
    workload: Workload, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = tmp_path / "spool"
    release = deliver._Drive._release
    releases = 0

    def slow_then_failing(drive: deliver._Drive, file: encoder.AheadFile) -> float:
        nonlocal releases
        releases += 1
        if releases == 3:
            time.sleep(0.2)
        if releases == 6:
            raise OSError("the disk is full")
        return release(drive, file)

    with monkeypatch.context() as patch, pytest.raises(OSError, match="disk is full"):
        patch.setattr(deliver._Drive, "_release", slow_then_failing)
        drive(workload, spool, speed=60)
    assert (spool / "_lateness.json").exists()
    result = drive(workload, spool, speed=60, resume=True)
    assert delivered(spool).equals(stream_of(workload))
    assert result.worst_lateness_ms >= 180
    assert not result.kept_promise
    assert drive_state(spool)["kept_promise"] is False
    assert not (spool / "_lateness.json").exists()


def test_a_finished_drive_that_is_resumed_keeps_its_result(
    workload: Workload, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run may be killed after all was delivered and before all was answered."""
    spool = tmp_path / "spool"
    release = deliver._Drive._release

    def slow(drive: deliver._Drive, file: encoder.AheadFile) -> float:
        time.sleep(0.15)
        return release(drive, file)

    with monkeypatch.context() as patch:
        patch.setattr(deliver._Drive, "_release", slow)
        result = drive(workload, spool, speed=60)
    state = drive_state(spool)
    assert not result.kept_promise
    assert drive(workload, spool, speed=60, resume=True) == result
    assert drive_state(spool) == state
    assert not (spool / ".ahead").exists()


def test_a_resumed_drive_does_not_read_earlier_minutes(tmp_path: Path) -> None:
    workload = make_workload(tmp_path / "workload", [range(180)], minutes=3)
    rows = pq.read_table(workload.parts[0])
    pq.write_table(rows, workload.parts[0], row_group_size=60)
    spool = tmp_path / "spool"
    drive(workload, spool, speed=float("inf"))
    for file in delivered_files(spool)[2:]:
        file.unlink()
    content = bytearray(workload.parts[0].read_bytes())
    third_minute = pq.read_metadata(workload.parts[0]).row_group(2).column(0)
    start = third_minute.dictionary_page_offset or third_minute.data_page_offset
    content[4:start] = bytes(start - 4)
    workload.parts[0].write_bytes(content)
    SpoolControl(spool).save("running")
    drive(workload, spool, speed=float("inf"), resume=True)
    assert delivered(spool).equals(rows)


def test_the_past_waits_for_its_reader(
    workload: Workload, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoder, "_FILE_ROWS", 10)
    spool = tmp_path / "spool"
    drive(workload, tmp_path / "unlimited", speed=float("inf"))
    sizes = [file.stat().st_size for file in delivered_files(tmp_path / "unlimited")]
    limit = 4 * max(sizes)
    assert sum(sizes) > 4 * limit
    waits = threading.Event()
    has_room = deliver._SpoolRoom.has_room_for

    def observed(room: deliver._SpoolRoom, size: int) -> bool:
        answer = has_room(room, size)
        if not answer:
            waits.set()
        return answer

    monkeypatch.setattr(deliver._SpoolRoom, "has_room_for", observed)
    driver = threading.Thread(
        target=drive, args=(workload, spool), kwargs={"speed": float("inf"), "spool_limit": limit}
    )
    driver.start()
    read: dict[str, pa.Table] = {}
    while driver.is_alive():
        # The reader takes files only when the driver waits for it.
        waits.wait(0.05)
        files = delivered_files(spool) if spool.exists() else []
        assert sum(file.stat().st_size for file in files) <= limit
        read |= {file.name: pq.read_table(file) for file in files}
        if waits.is_set():
            for file in files[:-1]:
                file.unlink()
            waits.clear()
    assert sum(file.stat().st_size for file in delivered_files(spool)) <= limit
    read |= {file.name: pq.read_table(file) for file in delivered_files(spool)}
    assert pa.concat_tables([read[name] for name in sorted(read)]).equals(stream_of(workload))


def test_real_time_does_not_wait_for_its_reader(workload: Workload, tmp_path: Path) -> None:
    result = drive(workload, tmp_path / "spool", speed=600, spool_limit=1)
    assert result.last_second == 179
    assert delivered(tmp_path / "spool").equals(stream_of(workload))


def test_modification_times_rise_in_spark_s_milliseconds(workload: Workload, tmp_path: Path) -> None:
    drive(workload, tmp_path / "spool", speed=1000, from_minute=2)
    modified = [file.stat().st_mtime_ns // 1_000_000 for file in delivered_files(tmp_path / "spool")]
    assert len(modified) > 3
    assert all(earlier < later for earlier, later in pairwise(modified))


def test_large_files_are_cut_at_seconds(
    workload: Workload, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoder, "_FILE_ROWS", 10)
    drive(workload, tmp_path / "spool", speed=1000, from_minute=2)
    tables = [pq.read_table(file) for file in delivered_files(tmp_path / "spool")]
    assert max(len(table["Time"].unique()) for table in tables) <= 4
    assert delivered(tmp_path / "spool").equals(stream_of(workload))


def test_late_files_are_delivered_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workload = make_workload(tmp_path / "workload", [range(60)], minutes=1)
    write_table = pq.write_table

    def slow_write(*args: Any, **options: Any) -> None:
        time.sleep(0.03)
        write_table(*args, **options)

    monkeypatch.setattr(deliver, "_AHEAD_SECONDS", 0.0)
    monkeypatch.setattr(deliver, "_GROUPED_SECONDS", 0.0)
    monkeypatch.setattr(pq, "write_table", slow_write)
    delivery = drive(workload, tmp_path / "spool", speed=200)
    assert delivery.worst_lateness_ms > 100
    assert not delivery.kept_promise
    assert delivered(tmp_path / "spool").equals(stream_of(workload))
    assert drive_state(tmp_path / "spool")["kept_promise"] is False


def test_stops_on_sigterm_with_whole_files_only(workload: Workload, tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    program = (
        "import sys; from pathlib import Path; from causeway.linear_road.driver.deliver import drive; "
        "from causeway.linear_road.workload.workload import Workload; "
        "delivery = drive(Workload.load(Path(sys.argv[1])), Path(sys.argv[2]), speed=5); "
        "assert 'pyspark' not in sys.modules; print(delivery.stopped)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(workload.folder), str(spool)], stdout=subprocess.PIPE, text=True
    )
    try:
        give_up = time.monotonic() + 300
        while len(delivered_files(spool)) < 4 and time.monotonic() < give_up:
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 0
    assert output.strip() == "True"
    state = drive_state(spool)
    assert state["state"] == "stopped"
    assert sorted(path.name for path in spool.iterdir()) == [
        "_delivery.json",
        "_lateness.json",
        *(file.name for file in delivered_files(spool)),
    ]
    table = delivered(spool)
    assert 0 < state["tuples"] == table.num_rows < stream_of(workload).num_rows
    assert table.equals(stream_of(workload).slice(0, table.num_rows))


def test_a_damaged_part_fails_the_drive(workload: Workload, tmp_path: Path) -> None:
    workload.parts[1].write_bytes(b"PAR1 no more")
    with pytest.raises(UserError, match=r"part-00001\.parquet cannot be read"):
        drive(workload, tmp_path / "spool")
    assert drive_state(tmp_path / "spool")["state"] == "failed"
    assert not (tmp_path / "spool" / ".ahead").exists()


@pytest.mark.parametrize("left", ["_delivery.json", "seconds-000000000000-000000000000.parquet", ".ahead"])
def test_refuses_a_used_spool(workload: Workload, tmp_path: Path, left: str) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    (spool / left).touch()
    with pytest.raises(UserError, match="give a new folder"):
        drive(workload, spool)
    assert [path.name for path in spool.iterdir()] == [left]


def test_refuses_a_file_for_a_spool(workload: Workload, tmp_path: Path) -> None:
    (tmp_path / "spool").touch()
    with pytest.raises(UserError, match="is a file"):
        drive(workload, tmp_path / "spool")


@pytest.mark.parametrize("speed", [0.0, -1.0, float("nan")])
def test_refuses_an_impossible_speed(workload: Workload, tmp_path: Path, speed: float) -> None:
    with pytest.raises(UserError, match="speed"):
        drive(workload, tmp_path / "spool", speed=speed)
    assert not (tmp_path / "spool").exists()


@pytest.mark.parametrize("minute", [3, -1])
def test_refuses_a_minute_outside_the_workload(workload: Workload, tmp_path: Path, minute: int) -> None:
    with pytest.raises(UserError, match="minutes 0 to 2"):
        drive(workload, tmp_path / "spool", from_minute=minute)


def test_promise_is_a_hundred_milliseconds() -> None:
    facts = {"tuples": 1, "files": 1, "seconds": 1, "last_second": 0, "stopped": False}
    lateness = {"mean_lateness_ms": 1.0, "p99_lateness_ms": 1.0}
    assert DriveResult(**facts, **lateness, worst_lateness_ms=99.9).kept_promise  # type: ignore[arg-type]
    assert not DriveResult(**facts, **lateness, worst_lateness_ms=100.1).kept_promise  # type: ignore[arg-type]


def test_spark_reads_the_spool_as_a_stream(workload: Workload, tmp_path: Path, spark: SparkSession) -> None:
    spool = tmp_path / "spool"
    drive(workload, spool, speed=600, from_minute=1)
    query = (
        spark.readStream.schema(INPUT_DDL)
        .parquet(str(spool))
        .writeStream.format("memory")
        .queryName("driven")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    order = [(name, "ascending") for name in ("Time", "XWay", "VID")]
    rows = pa.table(spark.table("driven").toArrow()).cast(INPUT_SCHEMA)
    assert rows.sort_by(order).equals(stream_of(workload).sort_by(order))
