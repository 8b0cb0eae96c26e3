"""What cannot be opened is told in the user's words."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.streaming_tables.sources.feeding import opened

from causeway.runtime.errors import UserError
from causeway.streaming_tables.sources import TargetColumns


def _refusal(place: Path | str, state: Path, target: TargetColumns | None = None, **options: str) -> str:
    with pytest.raises(UserError) as refused:
        opened(place, state, target, **options) if target else opened(place, state, **options)
    return str(refused.value)


def test_nothing_there(tmp_path: Path) -> None:
    assert "there is no such file or folder" in _refusal(tmp_path / "nowhere", tmp_path / "state")


def test_an_unknown_format(tmp_path: Path) -> None:
    for text in ("1\n", "1,2\n", "word\n", "", "\0\1\n", "a,1\n"):
        (tmp_path / "a.str").write_text(text)
        assert "format = 'parquet'" in _refusal(tmp_path / "a.str", tmp_path / "state")
    assert "'avro' is unknown" in _refusal(tmp_path / "a.str", tmp_path / "state", format="avro")


def test_an_unknown_option(tmp_path: Path) -> None:
    assert "no option headers" in _refusal(tmp_path, tmp_path / "state", headers="true")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("header", "maybe"),
        ("once", "1"),
        ("delimiter", ";;"),
        ("time_unit", "days"),
        ("batch_rows", "0"),
        ("columns", "a,,b"),
    ],
)
def test_an_option_with_a_value_that_it_cannot_have(tmp_path: Path, option: str, value: str) -> None:
    assert f"the option {option}" in _refusal(tmp_path, tmp_path / "state", **{option: value})


@pytest.mark.parametrize("name", ["a.csv", "a.json", "a.parquet"])
def test_missing_columns_are_named(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "a.csv":
        path.write_text("vid,time,speed\n")
    elif name == "a.json":
        path.write_text('{"vid": 1, "time": 2, "speed": 3}\n')
    else:
        pq.write_table(pa.table({"vid": [1], "time": [2], "speed": [3]}), path)
    refusal = _refusal(path, tmp_path / "state")
    assert "lacks the columns SPD, XWAY" in refusal
    assert "it has vid, time, speed" in refusal
    assert ("header = false" in refusal) == (name == "a.csv")


def test_no_time_column(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("vid,spd,xway,moment\n")
    refusal = _refusal(tmp_path, tmp_path / "state")
    assert "no time column: expected T or Time" in refusal
    assert "timestamp = " in refusal
    assert "no time column when" in _refusal(tmp_path, tmp_path / "state", timestamp="when")


def test_a_column_that_is_there_twice(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("vid,Vid,spd,xway,t\n")
    assert "more than one column VID" in _refusal(tmp_path, tmp_path / "state")


def test_a_column_of_another_kind(tmp_path: Path) -> None:
    table = pa.table({"VID": pa.array([[1]]), "SPD": [1], "XWAY": [1], "T": [1]})
    pq.write_table(table, tmp_path / "a.parquet")
    assert "VID is of type list" in _refusal(tmp_path, tmp_path / "state")


@pytest.mark.parametrize("name", ["a.parquet", "a.json"])
def test_integers_for_a_timestamp_need_a_unit(tmp_path: Path, name: str) -> None:
    target = TargetColumns(pa.schema([("x", pa.int32()), ("T", pa.timestamp("us", tz="UTC"))]), "timestamp")
    if name == "a.json":
        (tmp_path / name).write_text('{"x": 1, "T": 2}\n')
    else:
        pq.write_table(pa.table({"x": [1], "T": [2]}), tmp_path / name)
    assert "time_unit" in _refusal(tmp_path / name, tmp_path / "state", target)
    opened(tmp_path / name, tmp_path / "state", target, time_unit="ms")


def test_a_nested_column_cannot_be_read_from_csv(tmp_path: Path) -> None:
    target = TargetColumns(pa.schema([("x", pa.list_(pa.int32())), ("T", pa.int64())]), "seconds")
    (tmp_path / "a.csv").write_text("x,t\n")
    assert "x is of type string" in _refusal(tmp_path, tmp_path / "state", target)


def test_a_map_cannot_be_read_from_json(tmp_path: Path) -> None:
    target = TargetColumns(pa.schema([("x", pa.map_(pa.string(), pa.int32())), ("T", pa.int64())]), "seconds")
    (tmp_path / "a.json").write_text('{"x": {"k": 1}, "T": 1}\n')
    refusal = _refusal(tmp_path, tmp_path / "state", target)
    assert "x is of type MAP<STRING, INT32>, which cannot be read from JSON" in refusal


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("kafka://localhost:9092/topic", "Kafka extra"),
        ("ftp://host/x", "ftp:// is unknown"),
        ("socket://localhost", "socket://host:port"),
        ("socket://127.0.0.1:1", "nobody answers"),
    ],
)
def test_addresses(tmp_path: Path, address: str, expected: str) -> None:
    assert expected in _refusal(address, tmp_path / "state")


def test_a_socket_of_another_format(tmp_path: Path) -> None:
    assert "json or csv" in _refusal("socket://127.0.0.1:1", tmp_path / "state", format="parquet")


def test_a_stream_of_a_plain_folder(tmp_path: Path) -> None:
    assert "the option stream" in _refusal(tmp_path, tmp_path / "state", stream="bid")


def test_requests_of_what_is_not_linear_road(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("vid,spd,xway,t\n1,2,3,4\n")
    assert "no tuples of Linear Road" in _refusal(
        tmp_path / "rows.csv", tmp_path / "state", stream="requests"
    )
