"""Random tables come back as they were written, and bad rows are rejected, wherever batches are cut."""

from __future__ import annotations

import json
import tempfile
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st
from tests.streaming_tables.sources.feeding import drain, opened

from causeway.streaming_tables.sources import TargetColumns

_TIMESTAMP = pa.timestamp("us", tz="UTC")
_TIMES = st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1)).map(
    lambda moment: moment.replace(tzinfo=UTC)
)
_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r\0"), max_size=8)
_VALUES: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.int8(): st.integers(-128, 127),
    pa.int16(): st.integers(-(2**15), 2**15 - 1),
    pa.int32(): st.integers(-(2**31), 2**31 - 1),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.float64(): st.floats(allow_nan=False, allow_infinity=False),
    pa.string(): _TEXT,
    pa.bool_(): st.booleans(),
    pa.date32(): st.dates(date(1900, 1, 1), date(2200, 1, 1)),
    _TIMESTAMP: _TIMES,
    pa.decimal128(10, 2): st.integers(-(10**10) + 1, 10**10 - 1).map(lambda cents: Decimal(cents) / 100),
}
_INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64()]


@st.composite
def _tables(draw: st.DrawFn) -> tuple[TargetColumns, list[tuple[Any, ...]]]:
    kinds = draw(st.lists(st.sampled_from(list(_VALUES)), min_size=1, max_size=4))
    seconds = draw(st.booleans())
    time = pa.int64() if seconds else _TIMESTAMP
    fields = [pa.field(f"c{number}", kind) for number, kind in enumerate(kinds)]
    times = st.integers(0, 2**62) if seconds else _TIMES
    row = st.tuples(*(st.none() | _VALUES[kind] for kind in kinds), times)
    target = TargetColumns(pa.schema([*fields, pa.field("T", time)]), "seconds" if seconds else "timestamp")
    return target, draw(st.lists(row, max_size=12))


def _limits(draw: st.DrawFn) -> dict[str, str]:
    return {
        "batch_rows": str(draw(st.sampled_from([1, 2, 3, 1000]))),
        "batch_bytes": str(draw(st.sampled_from([1, 20, 100, 1 << 20]))),
    }


def _csv_field(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, date) else str(value)


def _json_value(value: Any) -> Any:
    if isinstance(value, date):
        return value.isoformat()
    return str(value) if isinstance(value, Decimal) else value


@given(st.data())
def test_text_comes_back_and_bad_lines_are_rejected(data: st.DataObject) -> None:
    target, rows = data.draw(_tables())
    kind = data.draw(st.sampled_from(["csv", "json"]))
    header = kind == "csv" and data.draw(st.booleans())
    names = [name.upper() if data.draw(st.booleans()) else name for name in target.schema.names]
    lines: list[str] = [",".join(names)] if header else []
    rejected: list[int] = []
    expected: list[tuple[Any, ...]] = []
    width = len(names)
    bad = {
        "csv": ["," * width, "x" + "," * (width - 2), '1,"open', "1," * (width - 1) + "-x"],
        "json": ["[1]", "null", "{", '{"t": "x"}', "{}", '{"T": [1]}', "17", '{"t":1}{"t":1}'],
    }[kind]
    for row in rows:
        while data.draw(st.integers(0, 4)) == 0:
            lines.append(data.draw(st.sampled_from([*bad, ""])))
            if lines[-1]:
                rejected.append(len(lines))
        if kind == "csv":
            lines.append(",".join(map(_csv_field, row)))
        else:
            lines.append(json.dumps(dict(zip(names, map(_json_value, row), strict=True)), ensure_ascii=False))
        expected.append(row)
    options = {**_limits(data.draw), "header": str(header).lower(), "format": kind}
    end = data.draw(st.sampled_from(["\n", "\r\n"]))
    last = end if data.draw(st.booleans()) else ""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.txt"
        path.write_bytes((end.join(lines) + last).encode())
        drained = drain(
            opened(path, Path(folder) / "state", target, **options), tasks=data.draw(st.integers(1, 3))
        )
    assert drained.rows == expected
    assert drained.reject_lines == rejected
    assert all(reason for _, _, reason, _ in drained.rejects)
    assert [text for *_, text in drained.rejects] == [lines[line - 1] for line in rejected]


@given(st.data())
def test_parquet_comes_back_and_bad_rows_are_rejected(data: st.DataObject) -> None:
    target, rows = data.draw(_tables())
    bad_times = [None] if target.time_kind == "timestamp" else [None, -1, -(2**40)]
    wrong = [number for number in range(len(rows)) if data.draw(st.integers(0, 3)) == 0]
    written = [
        (*row[:-1], data.draw(st.sampled_from(bad_times))) if number in wrong else row
        for number, row in enumerate(rows)
    ]
    table = pa.table(
        [pa.array([row[index] for row in written], field.type) for index, field in enumerate(target.schema)],
        names=target.schema.names,
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        pq.write_table(table, path, row_group_size=data.draw(st.integers(1, 8)))
        options = _limits(data.draw)
        source = opened(path, Path(folder) / "state", target, **options)
        drained = drain(source, tasks=data.draw(st.integers(1, 3)))
    assert drained.rows == [row for number, row in enumerate(rows) if number not in wrong]
    assert drained.reject_lines == [number + 1 for number in wrong]
    assert max(drained.batches, default=0) <= max(int(options["batch_rows"]), 1)


@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), min_size=1), st.sampled_from(_INTEGERS))
def test_integers_that_do_not_fit_are_rejected(numbers: list[int | None], kind: pa.DataType) -> None:
    target = TargetColumns(pa.schema([("n", kind), ("T", pa.int64())]), "seconds")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        pq.write_table(pa.table({"N": pa.array(numbers, pa.int64()), "time": [7] * len(numbers)}), path)
        drained = drain(opened(path, Path(folder) / "state", target))
    largest = 2 ** (kind.bit_width - 1) - 1
    fits = [number is None or -largest - 1 <= number <= largest for number in numbers]
    assert [row[0] for row in drained.rows] == [
        number for number, good in zip(numbers, fits, strict=True) if good
    ]
    assert drained.reject_lines == [place + 1 for place, good in enumerate(fits) if not good]
