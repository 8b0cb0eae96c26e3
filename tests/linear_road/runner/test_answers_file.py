"""The merge of a run's batches, against answers written out one by one."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causeway.linear_road.model.answers import ANSWER_SCHEMA
from causeway.linear_road.runner import answers_file
from causeway.linear_road.runner.answers_file import collect_answers
from causeway.runtime.errors import UserError

Row = dict[str, Any]

FIELDS = {
    0: ("VID", "Time", "Emit", "Spd", "Toll"),
    1: ("Time", "Emit", "VID", "Seg"),
    2: ("Time", "Emit", "QID", "ResultTime", "Bal"),
    3: ("Time", "Emit", "QID", "Bal"),
    4: ("Time", "Emit", "QID", "TravelTime", "Toll"),
}

INTEGERS = st.one_of(st.integers(-1, 200), st.integers(-(2**31) + 1, 2**31 - 1))
EMITS = st.one_of(
    st.floats(-20_000, 20_000),
    st.integers(-20_000_000, 20_000_000).map(lambda halves: halves / 2000),
    st.sampled_from([0.0, -0.0, -0.0004, 0.0005, 0.0015, 0.9996, 10_799.9995, 1e11]),
)


@st.composite
def answers(draw: st.DrawFn) -> Row:
    number = draw(st.sampled_from(list(FIELDS)))
    values = {name: draw(EMITS if name == "Emit" else INTEGERS) for name in FIELDS[number]}
    return {"Type": number} | values


def line(row: Row) -> str:
    """The flat file's line, the plain way."""

    def text(name: str) -> str:
        if name != "Emit":
            return str(row[name])
        milliseconds = round(row["Emit"] * 1000)
        whole, decimals = divmod(abs(milliseconds), 1000)
        return f"{'-' if milliseconds < 0 else ''}{whole}.{decimals:03d}"

    return ",".join([str(row["Type"]), *(text(name) for name in FIELDS[row["Type"]])]) + "\n"


def answer(number: int = 0, **values: Any) -> Row:
    return {"Type": number} | dict.fromkeys(FIELDS[number], 7) | {"Emit": 8.5} | values


def write_batch(run: Path, number: int, rows: list[Row], **facts: Any) -> None:
    folder = run / "batches"
    folder.mkdir(parents=True, exist_ok=True)
    if rows:
        pq.write_table(
            pa.Table.from_pylist(rows, schema=ANSWER_SCHEMA), folder / f"batch-{number:09d}.parquet"
        )
    counts = Counter(str(row["Type"]) for row in rows)
    told = {"batch": number, "answers": counts, "readable_simulated": 100.25 + number} | facts
    (folder / f"batch-{number:09d}.json").write_text(json.dumps(told))


def collected(run: Path) -> list[Row]:
    return [row for part in sorted((run / "answers").iterdir()) for row in pq.read_table(part).to_pylist()]


@settings(max_examples=60)
@given(st.lists(st.lists(answers(), max_size=12), max_size=4), st.integers(1, 9), st.integers(1, 20))
def test_both_outputs_hold_every_answer_in_order(
    batches: list[list[Row]], rows_at_a_time: int, rows_per_part: int
) -> None:
    """However rows are cut into pieces, row groups and parts."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(answers_file, "_ROWS_AT_A_TIME", rows_at_a_time)
        patch.setattr(answers_file, "_ROWS_PER_PART", rows_per_part)
        run = Path(folder)
        (run / "batches").mkdir()
        for number, rows in enumerate(batches):
            write_batch(run, number, rows)
        counts = collect_answers(run)
        assert (run / "answers.csv").read_text() == "".join(line(row) for rows in batches for row in rows)
        assert collected(run) == [
            dict.fromkeys(ANSWER_SCHEMA.names) | row | {"Readable": 100.25 + number}
            for number, rows in enumerate(batches)
            for row in rows
        ]
        told = Counter(row["Type"] for rows in batches for row in rows)
        assert counts == {number: told[number] for number in FIELDS}
        assert sorted(entry.name for entry in run.iterdir()) == ["answers", "answers.csv", "batches"]


def test_milliseconds_are_rounded_halves_to_even(tmp_path: Path) -> None:
    write_batch(tmp_path, 0, [answer(3, Emit=emit) for emit in (0.0625, 0.1875, 2.0004, 2.0006, -0.0625)])
    collect_answers(tmp_path)
    emits = [text.split(",")[2] for text in (tmp_path / "answers.csv").read_text().splitlines()]
    assert emits == ["0.062", "0.188", "2.000", "2.001", "-0.062"]


def test_the_longest_line_fits(tmp_path: Path) -> None:
    least = -(2**31) + 1
    row = answer(0, VID=least, Time=least, Emit=-999_999_999_999.9, Spd=least, Toll=least)
    write_batch(tmp_path, 0, [row])
    collect_answers(tmp_path)
    written = (tmp_path / "answers.csv").read_text()
    assert written == line(row)
    assert len(written) <= answers_file._LONGEST_LINE


def test_a_run_without_answers_gives_empty_files(tmp_path: Path) -> None:
    write_batch(tmp_path, 0, [])
    assert collect_answers(tmp_path) == dict.fromkeys(range(5), 0)
    assert (tmp_path / "answers.csv").read_bytes() == b""
    assert collected(tmp_path) == []
    assert pq.read_schema(tmp_path / "answers/part-00000.parquet").names == [*ANSWER_SCHEMA.names, "Readable"]


def test_batches_go_by_number_and_a_second_merge_replaces_the_first(tmp_path: Path) -> None:
    write_batch(tmp_path, 1_000_000_000, [answer(VID=3)])
    write_batch(tmp_path, 2, [answer(VID=1)])
    collect_answers(tmp_path)
    write_batch(tmp_path, 7, [answer(VID=2)])
    (tmp_path / "answers/part-00009.parquet").touch()
    for _ in range(2):
        assert collect_answers(tmp_path)[0] == 3
        assert [row["VID"] for row in collected(tmp_path)] == [1, 2, 3]


@pytest.mark.parametrize("failure", [UserError("broken"), KeyboardInterrupt(), OSError(28, "No space left")])
def test_an_interrupted_merge_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException
) -> None:
    for number in range(3):
        write_batch(tmp_path, number, [answer()])

    def interrupt(_self: object, _rows: object) -> None:
        raise failure

    monkeypatch.setattr(answers_file._Parts, "append", interrupt)
    with pytest.raises((UserError, KeyboardInterrupt)):
        collect_answers(tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["batches"]


def test_a_merge_that_fails_keeps_what_an_earlier_one_left(tmp_path: Path) -> None:
    write_batch(tmp_path, 0, [answer(VID=5)])
    collect_answers(tmp_path)
    before = (tmp_path / "answers.csv").read_bytes()
    (tmp_path / "batches/batch-000000001.parquet").write_bytes(b"PAR1 but not really")
    write_batch(tmp_path, 1, [])
    with pytest.raises(UserError, match=r"batch-000000001\.parquet cannot be read as answers"):
        collect_answers(tmp_path)
    assert (tmp_path / "answers.csv").read_bytes() == before
    assert [row["VID"] for row in collected(tmp_path)] == [5]


def test_a_killed_merge_is_cleared_away(tmp_path: Path) -> None:
    write_batch(tmp_path, 0, [answer()])
    (tmp_path / ".collecting/answers").mkdir(parents=True)
    (tmp_path / ".collecting/answers/part-00077.parquet").touch()
    collect_answers(tmp_path)
    assert [path.name for path in (tmp_path / "answers").iterdir()] == ["part-00000.parquet"]
    assert not (tmp_path / ".collecting").exists()


def test_what_is_missing_or_wrong_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no batches/"):
        collect_answers(tmp_path)
    facts = tmp_path / "batches/batch-000000004.json"
    write_batch(tmp_path, 4, [answer()])
    for broken, complaint in (
        (None, r"batch-000000004\.json is missing: batch 4 was broken off"),
        ("{", "cannot be read"),
        ("[]", "no facts by name"),
        ('{"answers": {"0": 1}}', "readable_simulated is missing"),
        ('{"readable_simulated": 1}', "counts of answers by type are missing"),
        ('{"readable_simulated": 1, "answers": {"0": 2}}', "has 1 answers of type 0, and .* has 2"),
    ):
        facts.unlink() if broken is None else facts.write_text(broken)
        with pytest.raises(UserError, match=complaint):
            collect_answers(tmp_path)
    write_batch(tmp_path, 4, [answer()])
    (tmp_path / "batches/batch-000000004.parquet").unlink()
    with pytest.raises(UserError, match=r"has 0 answers of type 0, and .* has 1"):
        collect_answers(tmp_path)


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        (answer(2, Bal=None), "an answer of type 2 lacks one of its fields"),
        (answer(Type=5), "no answer of type 5"),
        (answer(Emit=float("nan")), "an Emit is no second of a simulation"),
    ],
)
def test_a_row_that_is_no_answer_is_told(tmp_path: Path, row: Row, complaint: str) -> None:
    write_batch(tmp_path, 0, [answer(), row])
    with pytest.raises(UserError, match=complaint):
        collect_answers(tmp_path)


def test_columns_that_are_not_those_of_answers_are_told(tmp_path: Path) -> None:
    write_batch(tmp_path, 0, [answer()])
    path = tmp_path / "batches/batch-000000000.parquet"
    pq.write_table(pq.read_table(path).drop_columns(["QID"]), path)
    with pytest.raises(UserError, match=r"cannot be read as answers.*QID"):
        collect_answers(tmp_path)
