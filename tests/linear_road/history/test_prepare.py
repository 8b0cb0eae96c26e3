from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from tests.linear_road.literal_reading import Tuple, daily_expenditure

from causeway.cli import main as cli
from causeway.linear_road.history import prepare as preparing
from causeway.linear_road.history.past_traffic import SEGMENT_HISTORY_COLUMNS, TOLL_HISTORY_COLUMNS
from causeway.linear_road.history.prepare import ensure_prepared, prepare, prepared_folder
from causeway.linear_road.history.prepared import PreparedHistory
from causeway.linear_road.model.tuples import INPUT_SCHEMA
from causeway.linear_road.workload.workload import Workload
from causeway.runtime import progress
from causeway.runtime.errors import UserError
from causeway.runtime.lock import FolderLock
from causeway.runtime.output_folder import begin_folder
from causeway.spark import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Tolls = dict[tuple[int, int, int], int]
"""By (VID, Day, XWay)."""
Segments = dict[tuple[int, int, int, int, int], tuple[int, int]]
"""Lav and Cnt by (Day, Min, XWay, Dir, Seg)."""

XWAYS = (0, 7)
# Journeys that begin late in the evening stay within few minutes: the clock ends at 1440.
MINUTES = range(1435, 1441)
SEGMENTS = range(40, 52)


def random_history(seed: int, missing: float = 0.0) -> tuple[Tolls, Segments]:
    """A history in no order, of which some rows are missing, with speeds that like to make whole minutes."""
    luck = np.random.default_rng(seed)
    tolls = {
        (vid, day, xway): int(luck.integers(0, 60_000))
        for xway in XWAYS
        for vid in luck.choice(1000, 20, replace=False).tolist()
        for day in range(1, 71)
        if luck.random() >= missing
    }
    keys = [
        (day, minute, xway, direction, segment)
        for day in range(1, 71)
        for minute in MINUTES
        for xway in XWAYS
        for direction in (0, 1)
        for segment in SEGMENTS
    ]
    # One speed and count for all days of most cells, so that a minute's end is often met exactly.
    speeds = luck.choice([60, 30, 70, 35, 63], len(keys))
    counts = luck.integers(45, 70, len(keys))
    kept = luck.permutation(np.flatnonzero(luck.random(len(keys)) >= missing / 20))
    return tolls, {keys[i]: (int(speeds[i % 24]), int(counts[i])) for i in kept.tolist()}


def write_history(workload: Workload, tolls: Tolls, segments: Segments, output_format: str) -> None:
    tables = {
        ("toll_history", "TollHistory.csv"): (
            TOLL_HISTORY_COLUMNS,
            [(vid, day, xway, toll) for (vid, day, xway), toll in tolls.items()],
        ),
        ("segment_history", "SegmentHistory.csv"): (
            SEGMENT_HISTORY_COLUMNS,
            [(*key, lav, cnt, 0) for key, (lav, cnt) in segments.items()],
        ),
    }
    workload.history.mkdir(exist_ok=True)
    for (name, flat), (columns, rows) in tables.items():
        values = np.array(rows, np.int32).reshape(-1, len(columns))
        if output_format == "csv":
            options = pyarrow.csv.WriteOptions(include_header=False)
            pyarrow.csv.write_csv(pa.table(list(values.T), columns), workload.history / flat, options)
            continue
        (workload.history / name).mkdir(exist_ok=True)
        of = values[:, columns.index("XWay")]
        for xway in np.unique(of).tolist():
            for number, part in enumerate(np.array_split(values[of == xway], 3)):
                file = workload.history / name / f"xway-{xway:05d}-{number:05d}.parquet"
                pq.write_table(pa.table(list(part.T), columns), file)


@pytest.fixture
def make_workload(tmp_path: Path) -> Callable[..., Workload]:
    def make(name: str = "workload", **counts: int) -> Workload:
        # Brackets, blanks and commas in a user's folder must not be taken for a pattern.
        folder = tmp_path / "a [b], {c} d" / name
        (folder / "stream").mkdir(parents=True)
        pq.write_table(INPUT_SCHEMA.empty_table(), folder / "stream" / "part-00000.parquet")
        workload = Workload(folder, "imported", "parquet", 1, minutes=1, seed=None, counts=counts)
        workload.save()
        return workload

    return make


def toll(lav: np.ndarray, cars: np.ndarray) -> np.ndarray:
    return np.where((lav < 40) & (cars > 50), 2 * (cars - 50) ** 2, 0)


def journey_by_the_rows(
    segments: Segments, xway: int, sinit: int, send: int, dow: int, tod: int
) -> tuple[int, int]:
    """The spec page's rule, row by row; the mean is over the days that there are."""
    direction = 0 if send >= sinit else 1
    elapsed, paid = Fraction(0), 0
    for segment in range(sinit, send, 1 if direction == 0 else -1):
        minute = min(tod + floor(elapsed / 60), 1440)
        keys = [(day, minute, xway, direction, segment) for day in range(1, 71) if 1 + (70 - day) % 7 == dow]
        rows = [segments[key] for key in keys if key in segments]
        if not rows:
            return 0, 0
        lav, cnt = (Fraction(sum(row[i] for row in rows), len(rows)) for i in (0, 1))
        elapsed += 3600 / lav
        paid += int(toll(np.array(floor(lav)), np.array(floor(cnt))))
    return floor(elapsed), paid


def assert_answers(prepared: PreparedHistory, tolls: Tolls, segments: Segments, seed: int) -> None:
    luck = np.random.default_rng(seed)
    vid, day = luck.integers(0, 1000, 5000), luck.integers(0, 72, 5000)
    xway = luck.choice([*XWAYS, 3], 5000)
    empty = Tuple(*[-1] * 15)
    asked = zip(vid.tolist(), day.tolist(), xway.tolist(), strict=True)
    assert prepared.daily_expenditures(vid, day, xway).tolist() == [
        daily_expenditure(empty._replace(VID=v, Day=d, XWay=x), tolls).bal for v, d, x in asked
    ]
    journeys = [
        luck.choice([*XWAYS, 3], 500, p=[0.45, 0.45, 0.1]),
        luck.integers(SEGMENTS.start - 1, SEGMENTS.stop + 1, 500),
        luck.integers(SEGMENTS.start - 1, SEGMENTS.stop + 1, 500),
        luck.integers(1, 8, 500),
        luck.integers(MINUTES.start - 1, MINUTES.stop, 500),
    ]
    seconds, paid = prepared.travel_times(*journeys, toll)
    expected = [journey_by_the_rows(segments, *fields) for fields in np.transpose(journeys).tolist()]
    assert list(zip(seconds.tolist(), paid.tolist(), strict=True)) == expected
    assert len({answer for answer in expected if answer[1]}) > 50


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_answers_are_those_of_the_history_in_either_format(
    spark: SparkSession, make_workload: Callable[..., Workload], missing: float
) -> None:
    tolls, segments = random_history(1, missing)
    prepared = {}
    for output_format in ("parquet", "csv"):
        workload = make_workload(output_format, type_3=1, type_4=1)
        write_history(workload, tolls, segments, output_format)
        made = prepare(spark, workload)
        assert (made.expressways, made.toll_history, made.segment_history) == (2, len(tolls), len(segments))
        prepared[output_format] = contents(prepared_folder(workload))
        assert made.bytes == sum(map(len, prepared[output_format].values()))
        # Nothing is left of what it took to make it.
        assert not list(workload.history.glob(".*"))
        # As the pipeline does it, in a worker.
        history = PreparedHistory.open(prepared_folder(workload))
        assert_answers(history, tolls, segments, seed=2)
        asked = spark.createDataFrame(list(tolls)[:50], "VID int, Day int, XWay int")

        def answer(batches: Any, history: PreparedHistory = history) -> Any:
            for batch in batches:
                yield pa.record_batch([history.daily_expenditures(*batch.columns)], ["Bal"])

        answers = asked.coalesce(1).mapInArrow(answer, "Bal long").collect()
        assert [row.Bal for row in answers] == list(tolls.values())[:50]
    for facts in prepared.values():
        del facts["prepared.json"]
    assert prepared["parquet"] == prepared["csv"]


def test_history_is_prepared_anew_when_it_has_changed(
    spark: SparkSession, make_workload: Callable[..., Workload], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Workload] = []
    real = preparing._prepare
    monkeypatch.setattr(preparing, "_prepare", lambda s, w: made.append(w) or real(s, w))
    workload = make_workload(type_3=1, type_4=1)
    segments: Segments = {(1, 1440, 0, 0, 5): (60, 10)}
    write_history(workload, {(1, 1, 0): 100}, segments, "parquet")
    assert ensure_prepared(spark, workload).daily_expenditures([1], [1], [0]).tolist() == [100]
    assert ensure_prepared(spark, workload).daily_expenditures([1], [1], [0]).tolist() == [100]
    assert len(made) == 1
    # Same names, same sizes: the times tell.
    write_history(workload, {(1, 1, 0): 101}, segments, "parquet")
    assert ensure_prepared(spark, workload).daily_expenditures([1], [1], [0]).tolist() == [101]
    assert len(made) == 2
    # One that another version made, or that is spoilt, is none.
    (prepared_folder(workload) / "prepared.json").write_text("{}")
    assert ensure_prepared(spark, workload).daily_expenditures([1], [1], [0]).tolist() == [101]
    assert len(made) == 3
    # An expressway more.
    write_history(workload, {(1, 1, 0): 101, (1, 1, 9): 7}, segments, "parquet")
    assert ensure_prepared(spark, workload).daily_expenditures([1, 1], [1, 1], [0, 9]).tolist() == [101, 7]
    assert len(made) == 4


@pytest.mark.parametrize("moment", ["arrays", "facts"])
def test_what_breaks_in_the_middle_leaves_all_as_it_was(
    spark: SparkSession,
    make_workload: Callable[..., Workload],
    monkeypatch: pytest.MonkeyPatch,
    moment: str,
) -> None:
    workload = make_workload()
    write_history(workload, {(1, 1, 0): 100}, {}, "parquet")
    with pytest.MonkeyPatch.context() as broken:
        if moment == "arrays":
            (workload.history / "toll_history" / "xway-00001-00000.parquet").write_bytes(b"nonsense")
            expected = r"expressway 1: .*xway-00001-00000.parquet cannot be read as history"
        else:
            broken.setattr(PreparedHistory, "save", _fail)
            expected = "cannot be prepared: the disk is full"
        with pytest.raises(UserError, match=expected):
            prepare(spark, workload)
        assert not prepared_folder(workload).exists()
        assert not list(workload.history.glob(".*"))
    (workload.history / "toll_history" / "xway-00001-00000.parquet").unlink(missing_ok=True)
    prepare(spark, workload)
    before = contents(prepared_folder(workload))
    monkeypatch.setattr(PreparedHistory, "save", _fail)
    with pytest.raises(UserError):
        prepare(spark, workload)
    assert contents(prepared_folder(workload)) == before


def _fail(*_: object) -> None:
    raise OSError("the disk is full")


def test_what_a_killed_run_left_is_not_in_the_way(
    spark: SparkSession, make_workload: Callable[..., Workload]
) -> None:
    workload = make_workload()
    write_history(workload, {(1, 1, 0): 100}, {}, "csv")
    left = workload.history / ".prepared-new" / "arrays"
    begin_folder(left.parent)
    left.mkdir()
    (left / "xway-00055-tolls.npy").write_bytes(b"half of it")
    assert ensure_prepared(spark, workload).daily_expenditures([1], [1], [0]).tolist() == [100]
    assert sorted(contents(prepared_folder(workload))) == [
        "prepared.json",
        "xway-00000-tolls.npy",
        "xway-00000-vehicles.npy",
    ]
    assert not left.parent.exists()


def test_a_folder_that_is_no_prepared_history_is_left(make_workload: Callable[..., Workload]) -> None:
    workload = make_workload()
    write_history(workload, {(1, 1, 0): 100}, {}, "csv")
    prepared_folder(workload).mkdir()
    (prepared_folder(workload) / "notes.txt").touch()
    with pytest.raises(UserError, match="prepared is in the way"):
        prepare(None, workload)  # type: ignore[arg-type]
    assert (prepared_folder(workload) / "notes.txt").exists()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("1,1,0,nonsense\n", "nonsense"),
        ("VID,Day,XWay,Tolls\n1,1,0,5\n", "VID"),
        ("1,1,0,5\n1,2,0\n", "1,2,0"),
        ("1,1,0,5\n1,2,,5\n", "XWay is empty"),
    ],
)
def test_a_flat_file_that_is_no_history_is_told(
    spark: SparkSession, make_workload: Callable[..., Workload], lines: str, message: str
) -> None:
    workload = make_workload()
    workload.history.mkdir()
    (workload.history / "TollHistory.csv").write_text(lines)
    with pytest.raises(UserError, match=f"(?s){message}") as raised:
        prepare(spark, workload)
    assert "TollHistory.csv" in str(raised.value)
    assert [file.name for file in workload.history.iterdir()] == ["TollHistory.csv"]


def test_a_flat_file_of_any_order_with_rows_that_nobody_can_ask_for(
    spark: SparkSession, make_workload: Callable[..., Workload]
) -> None:
    workload = make_workload()
    workload.history.mkdir()
    (workload.history / "TollHistory.csv").write_text(
        "9,1,8,4\n1,70,0,5\n1,2,-4,5\n\n1,71,0,6\n2,1,8,7\n1,1,0,8"
    )
    prepared = ensure_prepared(spark, workload)
    assert prepared.toll_history == {0, 8}
    vid, day, xway = [9, 1, 1, 1, 2, 1, 9], [1, 70, 2, 71, 1, 1, 1], [8, 0, -4, 0, 8, 0, 0]
    assert prepared.daily_expenditures(vid, day, xway).tolist() == [4, 5, 0, 0, 7, 8, 0]


def test_a_place_that_cannot_be_written_to_is_told(
    spark: SparkSession, make_workload: Callable[..., Workload]
) -> None:
    workload = make_workload()
    write_history(workload, {(1, 1, 0): 100}, {}, "parquet")
    (workload.history / ".prepared-new").write_text("in the way")
    with pytest.raises(UserError, match=r"\.prepared-new is in the way"):
        prepare(spark, workload)


def test_requests_need_a_history_and_nobody_else_does(
    spark: SparkSession, make_workload: Callable[..., Workload]
) -> None:
    for number, counts in enumerate(({"type_3": 1, "type_4": 0}, {"type_3": 0, "type_4": 1})):
        workload = make_workload(f"asks-{number}", **counts)
        with pytest.raises(UserError, match="`causeway linear-road history"):
            ensure_prepared(spark, workload)
    nobody_asks = make_workload("quiet", type_2=5, type_3=0, type_4=0)
    nothing = ensure_prepared(spark, nobody_asks)
    assert nothing.daily_expenditures([1], [1], [0]).tolist() == [0]
    assert not nobody_asks.history.exists()
    # Half of a history is none for those who ask for the other half.
    half = make_workload("half", type_3=1, type_4=1)
    write_history(half, {(1, 1, 0): 100}, {}, "parquet")
    with pytest.raises(UserError, match="has no segment_history to answer requests from"):
        ensure_prepared(spark, half)
    with pytest.raises(UserError, match="has no segment_history to answer requests from"):
        prepare(spark, half)


def test_two_processes_do_not_prepare_one_history(
    spark: SparkSession, make_workload: Callable[..., Workload]
) -> None:
    """As two first runs of a workload would: the second says who works on it."""
    workload = make_workload(type_3=1)
    write_history(workload, {(1, 1, 0): 3}, {}, "parquet")
    with FolderLock(workload.folder, "preparing the history"):
        for attempt in (prepare, ensure_prepared):
            with pytest.raises(
                UserError, match=rf"in use by process {os.getpid()} \(preparing the history\)"
            ):
                attempt(spark, workload)  # type: ignore[operator]
    assert not prepared_folder(workload).exists()
    ensure_prepared(spark, workload)
    with FolderLock(workload.folder, "preparing the history"):
        ensure_prepared(spark, workload)


@pytest.fixture
def causeway(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["causeway", "linear-road", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = capsys.readouterr()
        return int(ended.value.code or 0), printed.out, " ".join(printed.err.split())

    monkeypatch.setattr(session, "spark_session", lambda *_, **__: contextlib.nullcontext(spark))
    # A slow machine would print lines of progress.
    monkeypatch.setattr(progress, "_LINE_SECONDS", 1e6)
    return run


def test_the_command_tells_what_it_made(causeway: Any, make_workload: Callable[..., Workload]) -> None:
    workload = make_workload(type_3=1)
    write_history(workload, {(1, day, xway): 3 for day in range(1, 71) for xway in (0, 5)}, {}, "parquet")
    code, out, err = causeway("prepare", workload.folder)
    assert (code, err) == (0, "")
    words = " ".join(out.split())
    assert "history/prepared: made in" in words
    assert "expressways │ 2" in words and "TollHistory rows │ 140" in words
    assert PreparedHistory.open(prepared_folder(workload)).toll_history == {0, 5}


def test_the_commands_mistakes(
    causeway: Any, make_workload: Callable[..., Workload], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    code, _, err = causeway("prepare", tmp_path / "nowhere")
    assert code == 2
    assert "nowhere: no such folder" in err
    code, _, err = causeway("prepare", make_workload("quiet").folder)
    assert code == 2
    assert "has no history to answer requests from; make it with `causeway linear-road history" in err

    def no_spark(*_: object, **__: object) -> None:
        raise AssertionError("Spark was started for nothing")

    monkeypatch.setattr(session, "spark_session", no_spark)
    code, _, err = causeway("prepare", make_workload("asks", type_4=1).folder)
    assert code == 2
    assert "has no segment_history to answer requests from" in err
