"""The columns that a source has by itself, and rows that tell where they come from."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.streaming_tables.sources.feeding import drain, opened

from causeway.runtime.errors import UserError
from causeway.streaming_tables.sources import stream_columns


def columns_of(place: Path, **options: str) -> list[tuple[str, str]]:
    target = stream_columns(str(place), options, place.parent)
    assert target.traced
    return [(field.name, str(field.type)) for field in target.schema]


def test_types_come_from_the_first_lines_that_parse(tmp_path: Path) -> None:
    file = tmp_path / "in.csv"
    file.write_text("n, Time,word\n1,5,a\nx\n2,soon,b\n,7,c\n")
    assert columns_of(file) == [("n", "int64"), ("word", "string"), ("Time", "int64")]
    file.write_text("1;2024-05-31T12:00:00Z\n")
    named = columns_of(file, columns="n, at", delimiter=";", timestamp="AT", header="false")
    assert named == [("n", "int64"), ("at", "timestamp[us, tz=UTC]")]
    file.write_text(f"n,T\n1,5\n2,{10**30}\n3,6\n")
    assert columns_of(file) == [("n", "int64"), ("T", "int64")]
    lines = tmp_path / "in.json"
    lines.write_text('{"n": 1, "T": 5}\nnull\n{"n": \n{"n": 2.5, "T": 6, "s": "x"}\n')
    assert columns_of(lines) == [("n", "double"), ("s", "string"), ("T", "int64")]


def test_a_source_without_names_or_time_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "in.csv"
    file.write_text("1,2\n")
    with pytest.raises(UserError, match="needs the names of the columns"):
        columns_of(file, header="false")
    with pytest.raises(UserError, match="has no time column"):
        columns_of(file)
    with pytest.raises(UserError, match="no option colour"):
        columns_of(file, colour="red")


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "json", "parquet"])
def test_rows_tell_their_lines_however_they_are_cut(tmp_path: Path, kind: str) -> None:
    wrong = {7, 500, 50_000}
    rows = [(number, "soon" if number in wrong else number // 3) for number in range(60_000)]
    file = tmp_path / f"in.{kind}"
    first = 1
    if kind.startswith("csv"):
        first = 2
        text = "n,T\n" + "".join(f"{n},{time}\n" for n, time in rows)
        file.write_bytes(gzip.compress(text.encode()) if kind == "csv.gz" else text.encode())
    elif kind == "json":
        file.write_text("".join(json.dumps({"n": n, "T": time}) + "\n" for n, time in rows))
    else:
        times = [None if time == "soon" else int(time) for _, time in rows]
        pq.write_table(pa.table({"n": [n for n, _ in rows], "T": times}), file, row_group_size=7000)
    target = stream_columns(str(file), {}, tmp_path)
    found = drain(opened(file, tmp_path / "state", target, batch_rows="17000"))
    assert len(found.batches) > 1 or kind == "csv.gz"
    good = [n for n in range(60_000) if n not in wrong]
    assert found.rows == [(n, n // 3) for n in good]
    assert found.traces == [(f"in.{kind}", n + first) for n in good]
    assert found.reject_lines == [n + first for n in sorted(wrong)]
