"""What Spark's own file source reads: the slices in their order, and the end of the streams."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from causeway.nexmark.events.dataset import write_dataset
from causeway.nexmark.events.file_feed import FileFeed
from causeway.nexmark.events.firehose_process import begin_spool
from causeway.nexmark.generator.encoding import FileFormat
from causeway.nexmark.generator.firehose import Firehose
from causeway.runtime.errors import UserError


def events(folder: Path, file_format: FileFormat = "parquet") -> Path:
    write_dataset(
        Firehose("modern", events=1_000, rate=100), folder, file_format=file_format, slice_events=250
    )
    return folder


def by_age(folder: Path) -> list[str]:
    """As Spark takes files."""
    paths = [path for path in folder.iterdir() if not path.name.startswith(".")]
    return [path.name for path in sorted(paths, key=lambda path: path.stat().st_mtime_ns // 1_000_000)]


def test_generated_slices_are_in_order_and_only_linked(tmp_path: Path) -> None:
    source = events(tmp_path / "events")
    feed = FileFeed.of(source, "modern", ["person", "bid"], tmp_path / "feed")
    names = [f"{number:06d}.parquet" for number in range(4)]
    assert by_age(feed.pattern("bid")) == by_age(feed.pattern("person")) == names
    assert all((feed.pattern("bid") / name).is_symlink() for name in names)
    assert not (feed.path / "auction").exists()
    assert feed.format("bid") == "parquet"


def test_slices_in_another_order_are_copied_in_order(tmp_path: Path) -> None:
    source = events(tmp_path / "events", "json")
    for number in range(4):
        os.utime(source / "bid" / f"{number:06d}.jsonl", (2_000_000_000 - number,) * 2)
    feed = FileFeed.of(source, "modern", ["bid"], tmp_path / "feed")
    assert by_age(source / "bid") == [f"{number:06d}.jsonl" for number in (3, 2, 1, 0)]
    assert by_age(feed.pattern("bid")) == [f"{number:06d}.jsonl" for number in range(4)]
    for path in feed.pattern("bid").iterdir():
        assert not path.is_symlink()
        assert path.read_bytes() == (source / "bid" / path.name).read_bytes()
    again = FileFeed.of(source, "modern", ["bid"], tmp_path / "feed")
    assert (again.path, again.format("bid")) == (feed.path, "json")


@pytest.mark.parametrize("file_format", ["parquet", "json"])
def test_the_end_is_a_row_after_the_last_slice(tmp_path: Path, file_format: FileFormat) -> None:
    source = events(tmp_path / "events", file_format)
    feed = FileFeed.of(source, "modern", ["bid"], tmp_path / "feed")
    feed.end(4)
    feed.end(4)
    *_, last = by_age(feed.pattern("bid"))
    path = feed.pattern("bid") / last
    assert path.stem == "000004"
    if file_format == "json":
        row = json.loads(path.read_text())
        assert row == {"auction": 0, "bidder": 0, "price": 0, "dateTime": 253_370_764_800_000}
    else:
        (row,) = pq.read_table(path).to_pylist()
        assert (row["dateTime"].year, row["auction"], row["extra"]) == (9999, 0, None)
    assert len(list((source / "bid").iterdir())) == 4


def test_several_bid_streams_are_read_together(tmp_path: Path) -> None:
    source = tmp_path / "events"
    write_dataset(Firehose("paper", events=2_000, rate=0.1, bid_streams=2), source, slice_events=500)
    feed = FileFeed.of(source, "paper", ["bid", "item"], tmp_path / "feed")
    assert [folder.name for folder in feed.folders("bid")] == ["bid-1", "bid-2"]
    assert feed.pattern("bid").name == "bid-*"
    assert (feed.path / "category.parquet").exists()


def test_a_spool_is_read_as_it_is(tmp_path: Path) -> None:
    begin_spool(tmp_path / "spool", Firehose("modern", events=100, rate=10))
    feed = FileFeed.of(tmp_path / "spool", "modern", ["bid"], tmp_path / "feed")
    assert feed.path == tmp_path / "spool"
    assert feed.format("bid") == "parquet"
    assert not (tmp_path / "feed").exists()


def test_what_spark_does_not_read_is_refused(tmp_path: Path) -> None:
    source = events(tmp_path / "events", "xml")
    with pytest.raises(UserError, match=r"has \*\.xml: Spark's file source takes"):
        FileFeed.of(source, "modern", ["bid"], tmp_path / "feed")
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    (mixed / "events.jsonl").write_text("")
    with pytest.raises(UserError, match="has all streams in one file"):
        FileFeed.of(mixed, "modern", ["bid"], tmp_path / "feed")
    assert not (tmp_path / "feed").exists()
