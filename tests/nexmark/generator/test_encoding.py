"""Files of every format read back as the table they were made of."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from causeway.nexmark.generator import encoding
from causeway.nexmark.generator.encoding import FileFormat, content_bytes, json_lines, write_file, xml_lines
from causeway.nexmark.generator.firehose import Firehose

TRICKY = pa.table(
    {
        "id": pa.array([1, None, -3], pa.int64()),
        "name": pa.array(['a "quoted" \\ one', "<b> & 'c' >", None]),
        "city": pa.array(["R&D", "x", "R&D"]).dictionary_encode(),
        "time": pa.array([0, 1_436_918_400_123, -1], pa.timestamp("ms", tz="UTC")),
    }
)


def plain(table: pa.Table) -> list[dict]:
    types = [
        pa.int64() if pa.types.is_timestamp(kind) else pa.string() if pa.types.is_dictionary(kind) else kind
        for kind in table.schema.types
    ]
    return table.cast(pa.schema(list(zip(table.column_names, types, strict=True)))).to_pylist()


def read_json(text: bytes) -> list[dict]:
    return [json.loads(line) for line in text.decode().splitlines()]


def read_xml(text: bytes, table: pa.Table, element: str) -> list[dict]:
    read = []
    for line in text.decode().splitlines():
        row = ElementTree.fromstring(line)
        assert row.tag == element
        told = {child.tag: child.text for child in row}
        read.append(
            {
                field.name: told.get(field.name)
                if pa.types.is_string(field.type) or pa.types.is_dictionary(field.type)
                else None
                if told.get(field.name) is None
                else int(told[field.name])
                for field in table.schema
            }
        )
    return read


def test_text_is_escaped_and_nulls_are_kept() -> None:
    assert read_json(json_lines(TRICKY).to_pybytes()) == plain(TRICKY)
    assert read_xml(xml_lines(TRICKY, "thing").to_pybytes(), TRICKY, "thing") == plain(TRICKY)
    assert json_lines(TRICKY.slice(1, 1)).to_pybytes() == (
        b'{"id":null,"name":"<b> & \'c\' >","city":"x","time":1436918400123}\n'
    )
    assert b"<id>" not in xml_lines(TRICKY.slice(1, 1), "thing").to_pybytes()


def test_no_rows_are_no_lines() -> None:
    assert json_lines(TRICKY.slice(0, 0)).size == 0
    assert xml_lines(TRICKY.slice(0, 0), "thing").size == 0


@pytest.mark.parametrize("model", ["modern", "paper"])
def test_streams_read_back_equal(model: str, tmp_path: Path) -> None:
    firehose = Firehose(model, 3000, 0.05)  # type: ignore[arg-type]
    delivered = firehose.deliver(0, 3000)
    for name, encoded in firehose.deliver_encoded(0, 3000).items():
        table = delivered[name]
        assert table.num_rows > 0
        write_file(encoded, tmp_path / "parquet", "parquet", name)
        assert pq.read_table(tmp_path / "parquet").cast(table.schema).equals(table)
        assert pq.read_schema(tmp_path / "parquet").types == table.schema.types
        write_file(encoded, tmp_path / "json", "json", name)
        assert read_json((tmp_path / "json").read_bytes()) == plain(table)
        write_file(encoded, tmp_path / "xml", "xml", name)
        assert read_xml((tmp_path / "xml").read_bytes(), table, name) == plain(table)


def test_content_bytes_do_not_depend_on_the_encoding() -> None:
    firehose = Firehose("paper", 3000, 0.05)
    delivered = firehose.deliver(0, 3000)
    for name, encoded in firehose.deliver_encoded(0, 3000).items():
        assert content_bytes(encoded) == content_bytes(delivered[name])
    assert content_bytes(pa.table({"a": [1, None], "b": ["xyz", "é"]})) == 8 + 5


@pytest.mark.parametrize("file_format", ["parquet", "json"])
def test_a_file_is_whole_or_not_there(
    file_format: FileFormat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(encoding.pq, "write_table", fail)
    monkeypatch.setattr(encoding, "json_lines", fail)
    with pytest.raises(OSError, match="disk full"):
        write_file(TRICKY, tmp_path / "file", file_format, "thing")
    assert list(tmp_path.iterdir()) == []
