"""Folders of slices: what can be read, in which order, and what is refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from causeway.nexmark.events.dataset import write_dataset
from causeway.nexmark.events.firehose_process import begin_spool
from causeway.nexmark.events.slices import Slices, release_slices
from causeway.nexmark.generator.firehose import Firehose
from causeway.nexmark.model import ARRIVAL
from causeway.runtime.errors import UserError
from causeway.streaming.delivery import SpoolControl

FIREHOSE = Firehose("modern", events=1000, rate=100)
PAPER = Firehose("paper", events=2000, rate=0.2, bid_streams=3)


@pytest.mark.parametrize("file_format", ["parquet", "json", "xml"])
def test_formats_are_read_alike(tmp_path: Path, file_format: str) -> None:
    write_dataset(FIREHOSE, tmp_path / "e", file_format=file_format, slice_events=300)  # type: ignore[arg-type]
    slices = Slices.of(tmp_path / "e", "modern")
    assert (slices.total, slices.released, slices.slice_events) == (4, 4, 300)
    made = FIREHOSE.deliver(300, 600)
    columns = {stream: [*table.column_names, ARRIVAL] for stream, table in made.items()}
    content = slices.read(1, columns)
    for stream, table in made.items():
        assert content.tables[stream].drop_columns([ARRIVAL]).equals(table)
        assert content.rejects[stream] == []
        assert content.events[stream] == table.num_rows
    arrivals = content.tables["bid"].column(ARRIVAL).to_pylist()
    assert arrivals == [(1 << 32) + at for at in range(made["bid"].num_rows)]
    assert content.bytes == sum(path.stat().st_size for path in (tmp_path / "e").glob("*/000001.*"))


def test_bid_streams_are_one(tmp_path: Path) -> None:
    write_dataset(PAPER, tmp_path / "e", slice_events=1000)
    tables = Slices.of(tmp_path / "e", "paper").read(1, {"bid": ["itemid", "price", ARRIVAL]}).tables
    made = PAPER.deliver(1000, 2000)
    assert tables["bid"].num_rows == sum(made[f"bid-{number}"].num_rows for number in (1, 2, 3))
    assert len(set(tables["bid"].column(ARRIVAL).to_pylist())) == tables["bid"].num_rows


def test_a_spool_fills_up(tmp_path: Path) -> None:
    begin_spool(tmp_path / "spool", FIREHOSE)
    slices = Slices.of(tmp_path / "spool", "modern")
    assert (slices.released, slices.total) == (0, None)
    release_slices(tmp_path / "spool", 3)
    assert (slices.released, slices.total) == (3, None)
    release_slices(tmp_path / "spool", 5)
    SpoolControl(tmp_path / "spool").save("finished", slices=5)
    assert (slices.released, slices.total) == (5, 5)


def test_a_file_with_all_streams(tmp_path: Path) -> None:
    """A query counts the lines of its streams, and those that might be of any."""
    bid = json.dumps({"type": "bid", "event": {"auction": 1, "bidder": 2, "price": 3, "dateTime": 4}})
    person = json.dumps({"event_type": 0, "person": {"id": 1, "name": "n", "dateTime": 5}})
    bad_person = json.dumps({"event_type": 0, "person": {"id": "x"}})
    lines = [bid, "oops", bid, person, person, bad_person]
    (tmp_path / "events.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    slices = Slices.of(tmp_path, "modern")
    assert slices.total == 1
    bids = slices.read(0, {"bid": ["price", ARRIVAL]})
    assert bids.tables["bid"].column(ARRIVAL).to_pylist() == [0, 2]
    rejects = [reject for refused in bids.rejects.values() for _, reject in refused]
    assert [(reject.line, reject.text) for reject in rejects] == [(2, "oops")]
    assert sum(bids.events.values()) == 3
    assert bids.bytes == 2 * (len(bid) + 1) + len("oops\n")
    both = slices.read(0, {"bid": ["price"], "person": ["id"]})
    assert {stream: table.num_rows for stream, table in both.tables.items()} == {"bid": 2, "person": 2}
    assert sum(both.events.values()) == 6


def test_a_parquet_file_that_is_none_is_a_reject(tmp_path: Path) -> None:
    write_dataset(FIREHOSE, tmp_path / "e", slice_events=500)
    (tmp_path / "e" / "bid" / "000001.parquet").write_text("no parquet")
    content = Slices.of(tmp_path / "e", "modern").read(1, {"bid": ["price"]})
    assert content.tables["bid"].num_rows == 0
    ((path, reject),) = content.rejects["bid"]
    assert path.name == "000001.parquet"
    assert "not a Parquet file" in reject.reason


def test_what_is_no_source_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is no folder"):
        Slices.of(tmp_path / "nowhere", "modern")
    with pytest.raises(UserError, match="has no events"):
        Slices.of(tmp_path, "modern")
    write_dataset(FIREHOSE, tmp_path / "e", slice_events=500)
    with pytest.raises(UserError, match="has events of the modern model, not the paper one"):
        Slices.of(tmp_path / "e", "paper")
    (tmp_path / "e" / "bid" / "000001.parquet").unlink()
    with pytest.raises(UserError, match="has no slice 000001"):
        Slices.of(tmp_path / "e", "modern").read(1, {"bid": ["price"]})
    (tmp_path / "e" / "nexmark.json").write_text("{")
    with pytest.raises(UserError, match="is not what `causeway nexmark generate` writes"):
        Slices.of(tmp_path / "e", "modern")
