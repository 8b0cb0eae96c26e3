"""Answers as they are read: what is one, what is none and on which line, in text and in Parquet."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from causeway.linear_road.model.answers import ANSWER_COLUMNS
from causeway.linear_road.validation.answers import Answers, read_answers
from causeway.runtime.errors import UserError

GOOD = (
    "0,7,60,60.125,30,2",
    "1,60,61.5,7,52",
    "2,90,90,1,60,-1",
    " 3 , 90 ,\t91.25, 2 ,0",
    "4,90,99.999,-3,120,000",
)
READ = [
    (0, 60, 60.125, 7, None, 30, 2),
    (1, 60, 61.5, 7, None, 52, None),
    (2, 90, 90.0, None, 1, 60, -1),
    (3, 90, 91.25, None, 2, 0, None),
    (4, 90, 99.999, None, -3, 120, 0),
]
BAD = (
    "0,7,60,60.125,30",
    "0,7,60,60.125,30,2,9",
    "1,60,61.5,7,52,1",
    "3,60,61.5,7",
    "5,60,61.5,7,52",
    "00,7,60,60.125,30,2",
    "0;7;60;60.125;30;2",
    "0,7,60,60.125,30,2.0",
    "0,7,60.0,60.125,30,2",
    "0,7,60,6e1,30,2",
    "0,7,60,.5,30,2",
    "0,7,60,5.,30,2",
    "0,7,60,NaN,30,2",
    "0,7,60,60.125,,2",
    "0,+7,60,60.125,30,2",
    "0,7,60,60.125,30,1234567890123456789",
    "0,7,60,60.125,30,٣",
    "0,7,60,60.125,30,2\u2028",
    "0,7,60,60.125,30,2\x85",
    "0,7,60,60.125,30,2\x00",
    "\ufeff0,7,60,60.125,30,2",
    "Type,VID,Time,Emit,Spd,Toll",
    "\t",
    ",",
    "-",
)


def rows(answers: Answers) -> list[tuple[object, ...]]:
    both = answers.of_vehicles.unionByName(answers.of_requests)
    return sorted(
        (row.Type, row.Time, row.ready, row.VID, row.QID, row.first, row.second)
        for row in both.where("Type IS NOT NULL").collect()
    )


def malformed(answers: Answers) -> int:
    return answers.of_vehicles.unionByName(answers.of_requests).where("Type IS NULL").count()


def text(path: Path, lines: Iterable[str], end: str = "\n") -> Path:
    path.write_bytes("".join(line + end for line in lines).encode())
    return path


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_that_are_answers(spark: SparkSession, tmp_path: Path, end: str) -> None:
    answers = read_answers(spark, text(tmp_path / "answers [1].csv", ["", *GOOD, "   "], end))
    assert rows(answers) == READ
    assert malformed(answers) == 0
    assert answers.malformed(9) == []


def test_lines_that_are_none(spark: SparkSession, tmp_path: Path) -> None:
    lines = ["", *GOOD, *BAD, "", *GOOD]
    answers = read_answers(spark, text(tmp_path / "answers.csv", lines))
    assert rows(answers) == sorted(READ * 2)
    assert malformed(answers) == len(BAD)
    assert answers.malformed(99) == [(number, line) for number, line in enumerate(lines, 1) if line in BAD]
    assert answers.malformed(2) == [(7, BAD[0]), (8, BAD[1])]


def test_lines_that_are_no_text(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_bytes(b"\xff\xfe0,1\n" + GOOD[0].encode() + b"\n0,7,60,60.125,30,\xb2\n" + b"x" * 100_000)
    answers = read_answers(spark, path)
    assert rows(answers) == READ[:1]
    assert malformed(answers) == 3
    assert [(line, len(shown)) for line, shown in answers.malformed(9)] == [(1, 5), (3, 18), (4, 200)]


def test_packed_text(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "answers.csv.gz"
    path.write_bytes(gzip.compress("\n".join([*GOOD, "nonsense"]).encode()))
    answers = read_answers(spark, path)
    assert rows(answers) == READ
    assert answers.malformed(9) == [(6, "nonsense")]


FIELDS = st.one_of(
    st.integers(-5, 5).map(str),
    st.integers().map(str),
    st.floats(width=32).map(str),
    st.text(alphabet="0123456789.,-+eE \t", max_size=6),
)
LINES = st.one_of(
    st.text(alphabet=st.characters(blacklist_characters="\r\n", blacklist_categories=["Cs"]), max_size=30),
    st.lists(FIELDS, max_size=8).map(",".join),
    st.builds(
        lambda kind, rest: ",".join([kind, *rest]),
        st.sampled_from("01234"),
        st.lists(FIELDS, min_size=4, max_size=5),
    ),
    st.sampled_from(GOOD),
)


def any_lines() -> list[str]:
    """Lines of many random files in one, since Spark takes seconds for each."""
    found: list[str] = []

    @settings(max_examples=24, database=None)
    @given(st.lists(LINES, min_size=60, max_size=200))
    def collect(lines: list[str]) -> None:
        found.extend(lines)

    collect()
    return found


def test_any_text_is_read_line_by_line(spark: SparkSession, tmp_path: Path) -> None:
    """Spark counts what Python numbers: no line crashes it, none is lost."""
    lines = any_lines()
    answers = read_answers(spark, text(tmp_path / "answers.csv", lines))
    found = answers.malformed(len(lines))
    assert malformed(answers) == len(found)
    assert len(rows(answers)) + len(found) == sum(line.strip(" ") != "" for line in lines)
    for number, shown in found:
        assert number is not None
        assert lines[number - 1][:200] == shown


def table(*given: dict[str, object], **types: pa.DataType) -> pa.Table:
    fields = [
        (name, types.get(name, pa.float64() if name == "Emit" else pa.int32())) for name in ANSWER_COLUMNS
    ]
    fields += [(name, types[name]) for name in types if name not in ANSWER_COLUMNS]
    return pa.Table.from_pylist(list(given), schema=pa.schema(fields))


TOLD: dict[str, object] = {"Type": 0, "Time": 60, "Emit": 60.125, "VID": 7, "Spd": 30, "Toll": 2}


def test_parquet(spark: SparkSession, tmp_path: Path) -> None:
    given = table(
        TOLD,
        {"Type": 1, "Time": 60, "Emit": 61.5, "VID": 7, "Seg": 52},
        {"Type": 2, "Time": 90, "Emit": 90.0, "QID": 1, "ResultTime": 60, "Bal": -1},
        {"Type": 3, "Time": 90, "Emit": 91.25, "QID": 2, "Bal": 0, "VID": -1},
        {"Type": 4, "Time": 90, "Emit": 99.999, "QID": -3, "TravelTime": 120, "Toll": 0},
    )
    pq.write_table(given, tmp_path / "answers.parquet")
    assert rows(read_answers(spark, tmp_path / "answers.parquet")) == READ
    assert rows(read_answers(spark, tmp_path)) == READ


def test_readable_counts_where_it_was_later(spark: SparkSession, tmp_path: Path) -> None:
    later, sooner, unknown = (TOLD | {"Readable": moment} for moment in (61.0, 60.0, None))
    pq.write_table(table(later, sooner, unknown, Readable=pa.float64()), tmp_path / "a.parquet")
    assert [row[2] for row in rows(read_answers(spark, tmp_path))] == [60.125, 60.125, 61.0]


def test_hidden_files_are_passed_over(spark: SparkSession, tmp_path: Path) -> None:
    pq.write_table(table(TOLD), tmp_path / "part.parquet")
    pq.write_table(table(TOLD | {"VID": 9}), tmp_path / "_part.parquet")
    pq.write_table(table(TOLD | {"VID": 9}), tmp_path / ".part.parquet")
    for folder, vehicle in (("_temporary", 9), (".hidden", 9), ("batch", 8)):
        (tmp_path / folder).mkdir()
        pq.write_table(table(TOLD | {"VID": vehicle}), tmp_path / folder / "part.parquet")
    (tmp_path / "_broken.parquet").write_text("nonsense")
    (tmp_path / "validation.json").write_text("{}")
    assert [row[3] for row in rows(read_answers(spark, tmp_path))] == [7, 8]


def test_rows_that_are_no_answers(spark: SparkSession, tmp_path: Path) -> None:
    broken = [TOLD | {name: None} for name in ("Type", "Time", "Emit", "VID", "Spd", "Toll")]
    broken += [TOLD | {"Type": 5}, TOLD | {"Type": 2}, TOLD | {"Emit": float("nan")}]
    pq.write_table(table(TOLD, *broken), tmp_path / "part.parquet")
    answers = read_answers(spark, tmp_path)
    assert rows(answers) == READ[:1]
    assert malformed(answers) == len(broken)
    found = answers.malformed(99)
    assert [line for line, _ in found] == [None] * len(broken)
    assert '{"Time":60,"Emit":60.125,"VID":7,"Spd":30,"Toll":2}' in {shown for _, shown in found}


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({}, "a folder without Parquet files"),
        ({"_a.parquet": table(TOLD)}, "a folder without Parquet files"),
        ({"a.parquet": table(TOLD).drop_columns("Seg")}, "column Seg is missing"),
        ({"a.parquet": table(TOLD | {"Toll": "2"}, Toll=pa.string())}, "column Toll is string"),
        ({"a.parquet": table(TOLD | {"Time": 60.5}, Time=pa.float64())}, "column Time is double"),
        ({"a.parquet": "nonsense"}, "cannot be read as Parquet"),
    ],
)
def test_parquet_that_is_the_users_mistake(
    spark: SparkSession, tmp_path: Path, files: dict[str, pa.Table | str], told: str
) -> None:
    for name, content in files.items():
        if isinstance(content, str):
            (tmp_path / name).write_text(content)
        else:
            pq.write_table(content, tmp_path / name)
    with pytest.raises(UserError, match=told):
        read_answers(spark, tmp_path)


@pytest.mark.parametrize(("name", "told"), [("nowhere.csv", "no such file"), ("_hidden.csv", "rename it")])
def test_text_that_is_the_users_mistake(spark: SparkSession, tmp_path: Path, name: str, told: str) -> None:
    (tmp_path / "_hidden.csv").write_text(GOOD[0])
    with pytest.raises(UserError, match=told):
        read_answers(spark, tmp_path / name)
