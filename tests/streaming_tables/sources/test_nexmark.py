"""Streams of `causeway nexmark generate`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.streaming_tables.sources.feeding import drain, opened

from causeway.nexmark.events.dataset import Dataset
from causeway.nexmark.generator.encoding import FileFormat, write_file
from causeway.nexmark.generator.firehose import ModelName
from causeway.nexmark.model import MODELS
from causeway.runtime.errors import UserError
from causeway.streaming_tables.sources import TargetColumns

_TIMESTAMP = pa.timestamp("us", tz="UTC")
_BIDS = TargetColumns(
    pa.schema([("AUCTION", pa.int64()), ("price", pa.int64()), ("channel", pa.string()), ("T", _TIMESTAMP)]),
    "timestamp",
)


def _generate(folder: Path, file_format: FileFormat, model: ModelName = "modern") -> Dataset:
    """A folder as `causeway nexmark generate` leaves it, with events that mean nothing."""
    names = ("person", "auction", "bid") if model == "modern" else ("person", "item", "open_auction", "bid-1")
    counts = dict.fromkeys(names, 100)
    for stream in names:
        (folder / stream).mkdir(parents=True)
        schema = MODELS[model].streams[stream.partition("-")[0]]
        suffix = {"parquet": "parquet", "json": "jsonl", "xml": "xml"}[file_format]
        for number in range(2):
            values = range(50 * number, 50 * number + 50)
            columns = [
                pa.array([f"{name} {value}" for value in values])
                if pa.types.is_string(kind)
                else pa.array([1_700_000_000_000 + 997 * value for value in values], pa.int64()).cast(kind)
                for name, kind in zip(schema.names, schema.types, strict=True)
            ]
            table = pa.table(columns, schema=schema)
            write_file(table, folder / stream / f"{number:06d}.{suffix}", file_format, stream)
    dataset = Dataset(folder, model, None, 300, 1.0, 1, 1, None, 0.0, file_format, 2, 150, 0, 1, counts)
    dataset._save()
    return Dataset.load(folder) if model == "modern" else dataset


def _rows(dataset: Dataset, stream: str, *columns: str) -> list[tuple[Any, ...]]:
    table = pa.concat_tables([pq.read_table(path) for path in dataset.files(stream)])
    return list(zip(*(table.column(name).to_pylist() for name in columns), strict=True))


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return _generate(tmp_path_factory.mktemp("nexmark") / "events", "parquet")


@pytest.mark.parametrize("file_format", ["parquet", "json"])
def test_a_stream_is_chosen_by_its_name(events: Dataset, tmp_path: Path, file_format: FileFormat) -> None:
    dataset = events if file_format == "parquet" else _generate(tmp_path / "events", file_format)
    source = opened(dataset.folder, tmp_path / "state", _BIDS, stream="Bid", batch_rows="30")
    drained = drain(source)
    assert drained.rows == _rows(events, "bid", "auction", "price", "channel", "dateTime")
    assert drained.rejects == []
    assert source.finished(drained.offset)


def test_another_time_can_be_named(events: Dataset, tmp_path: Path) -> None:
    target = TargetColumns(
        pa.schema([("id", pa.int64()), ("dateTime", _TIMESTAMP), ("T", pa.int64())]), "seconds"
    )
    drained = drain(opened(events.folder, tmp_path / "state", target, stream="auction", timestamp="expires"))
    expected = _rows(events, "auction", "id", "dateTime", "expires")
    assert drained.rows == [(key, begun, int(end.timestamp() // 1)) for key, begun, end in expected]


def test_the_paper_has_names_of_its_own(tmp_path: Path) -> None:
    dataset = _generate(tmp_path / "events", "parquet", "paper")
    target = TargetColumns(pa.schema([("itemid", pa.int64()), ("T", _TIMESTAMP)]), "timestamp")
    expected = _rows(dataset, "bid-1", "itemid", "bidTime")
    drained = drain(opened(dataset.folder, tmp_path / "state", target, stream="bid"))
    assert drained.rows == expected
    # The folder of the stream itself will do as well.
    assert drain(opened(dataset.folder / "bid-1", tmp_path / "other", target)).rows == expected


def test_the_streams_are_named_when_none_is_chosen(events: Dataset, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"choose one .*: person, auction, bid"):
        opened(events.folder, tmp_path / "state", _BIDS)
    with pytest.raises(UserError, match="no stream bids; it has person, auction, bid"):
        opened(events.folder, tmp_path / "state", _BIDS, stream="bids")


def test_xml_is_refused(tmp_path: Path) -> None:
    dataset = _generate(tmp_path / "events", "xml")
    with pytest.raises(UserError, match="generate Parquet or JSON"):
        opened(dataset.folder, tmp_path / "state", _BIDS, stream="bid")
