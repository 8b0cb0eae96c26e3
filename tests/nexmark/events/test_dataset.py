"""Whole folders: layout, the same bytes from Spark's tasks, errors in the user's words, all or nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from causeway.nexmark.events import dataset as writing
from causeway.nexmark.events.dataset import Dataset, default_slice_events, slice_ranges, write_dataset
from causeway.nexmark.generator.firehose import Firehose
from causeway.nexmark.generator.goods import categories
from causeway.nexmark.generator.scale import scaled_firehose
from causeway.runtime.errors import UserError
from causeway.runtime.output_folder import UNFINISHED, begin_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAPER = Firehose("paper", 6000, 0.5, seed=4, bid_streams=2, disorder=3600.0)
MODERN = Firehose("modern", 6000, 1000.0, seed=4)


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return write_dataset(PAPER, tmp_path_factory.mktemp("paper"), slice_events=1700)


def contents(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_layout(paper: Dataset) -> None:
    assert sorted(entry.name for entry in paper.folder.iterdir()) == [
        "bid-1",
        "bid-2",
        "category.parquet",
        "closed_auction",
        "item",
        "nexmark.json",
        "open_auction",
        "person",
    ]
    assert paper.streams == ["person", "item", "open_auction", "closed_auction", "bid-1", "bid-2"]
    for stream in paper.streams:
        names = [path.name for path in paper.files(stream)]
        assert names == ["000000.parquet", "000001.parquet", "000002.parquet", "000003.parquet"]
        assert sorted(path.name for path in (paper.folder / stream).iterdir()) == names
    assert paper.category_file is not None
    assert pq.read_table(paper.category_file).equals(categories(303))
    assert list(paper.folder.parent.glob(".*unfinished")) == []


def test_facts(paper: Dataset) -> None:
    facts = json.loads((paper.folder / "nexmark.json").read_text())
    expected = {
        "model": "paper",
        "events": 6000,
        "rate": 0.5,
        "seed": 4,
        "bid_streams": 2,
        "disorder": 3600.0,
        "slices": 4,
        "slice_events": 1700,
        "format": "parquet",
    }
    assert expected.items() <= facts.items()
    assert (facts["first_time"], facts["last_time"]) == (PAPER.first_time, PAPER.last_time)
    assert Dataset.load(paper.folder) == paper
    for stream in paper.streams:
        assert paper.bytes[stream] == sum(path.stat().st_size for path in paper.files(stream))
        assert paper.counts[stream] == sum(pq.read_metadata(path).num_rows for path in paper.files(stream))
    persons, items, bids = paper.counts["person"], paper.counts["item"], paper.counts["bid-1"]
    assert persons + items + bids + paper.counts["bid-2"] == 6000


def test_slices_are_deliveries(paper: Dataset) -> None:
    for number, (first, last) in enumerate(slice_ranges(6000, 1700)):
        for stream, table in PAPER.deliver(first, last).items():
            assert table.schema.equals(paper.schema(stream))
            assert pq.read_table(paper.file(stream, number)).cast(table.schema).equals(table)


@pytest.mark.parametrize("file_format", ["parquet", "json", "xml"])
def test_spark_writes_the_same_bytes(file_format: str, spark: SparkSession, tmp_path: Path) -> None:
    kept = {"file_format": file_format, "slice_events": 1500}
    here = write_dataset(MODERN, tmp_path / "here", **kept)  # type: ignore[arg-type]
    there = write_dataset(MODERN, tmp_path / "there", spark=spark, **kept)  # type: ignore[arg-type]
    assert here.slices == 4
    assert contents(here.folder) == contents(there.folder)


def test_a_scale_and_what_is_said_otherwise(tmp_path: Path) -> None:
    firehose = scaled_firehose("paper", "small", events=5000, seed=9)
    made = write_dataset(firehose, tmp_path / "new" / "set", file_format="json", scale="small")
    assert (made.scale, made.events, made.rate, made.seed) == ("small", 5000, 0.111, 9)
    assert made.file("bid-1", 0).name == "000000.jsonl"
    assert (made.slices, made.slice_events) == (5, 1000)
    lines = b"".join(path.read_bytes() for path in made.files("bid-1")).count(b"\n")
    assert lines == made.counts["bid-1"]


def test_slices_are_several_in_small_sets_and_worth_their_replay_in_large_ones() -> None:
    assert default_slice_events(Firehose("modern", 100, 1.0)) == 1000
    assert default_slice_events(Firehose("modern", 50_000, 1.0)) == 5000
    assert default_slice_events(Firehose("modern", 10_000_000, 1.0)) == 100_000
    assert default_slice_events(scaled_firehose("paper")) < 10_000
    assert default_slice_events(scaled_firehose("paper", "large")) > 500_000


def test_a_failure_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(table: pa.Table, path: Path, *_: object) -> int:
        if path.name.startswith("000002"):
            raise OSError("disk full")
        path.touch()
        return 0

    monkeypatch.setattr(writing, "write_file", fail)
    with pytest.raises(OSError, match="disk full"):
        write_dataset(MODERN, tmp_path / "set", slice_events=1500)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_is_no_hindrance(tmp_path: Path) -> None:
    begin_folder(tmp_path / ".set.unfinished")
    (tmp_path / ".set.unfinished" / "bid").mkdir()
    (tmp_path / ".set.unfinished" / "bid" / "000077.parquet").touch()
    made = write_dataset(MODERN, tmp_path / "set")
    assert not (made.folder / "bid" / "000077.parquet").exists()
    assert [entry.name for entry in tmp_path.iterdir()] == ["set"]
    assert UNFINISHED not in [entry.name for entry in made.folder.iterdir()]


def test_a_folder_that_somebody_else_made_is_left(tmp_path: Path) -> None:
    (tmp_path / ".set.unfinished").mkdir()
    (tmp_path / ".set.unfinished" / "thesis.txt").touch()
    with pytest.raises(UserError, match="is in the way"):
        write_dataset(MODERN, tmp_path / "set")
    assert (tmp_path / ".set.unfinished" / "thesis.txt").exists()


def test_a_used_folder_is_refused(paper: Dataset, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not empty"):
        write_dataset(MODERN, paper.folder)
    with pytest.raises(UserError, match="the rate is"):
        scaled_firehose("modern", rate=-1)
    with pytest.raises(UserError, match="the rate is"):
        scaled_firehose("paper", rate=float("nan"))
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="is a file"):
        write_dataset(MODERN, tmp_path / "file")
    with pytest.raises(UserError, match="cannot be made"):
        write_dataset(MODERN, tmp_path / "file" / "below")
    with pytest.raises(UserError, match="the format is one of parquet, json, xml"):
        write_dataset(MODERN, tmp_path / "new", file_format="csv")  # type: ignore[arg-type]
    with pytest.raises(UserError, match="a slice has"):
        write_dataset(MODERN, tmp_path / "new", slice_events=0)


def test_a_folder_that_is_none_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such folder"):
        Dataset.load(tmp_path / "none")
    with pytest.raises(UserError, match=r"has no nexmark\.json"):
        Dataset.load(tmp_path)
    made = write_dataset(MODERN, tmp_path / "set")
    path = made.folder / "nexmark.json"
    facts = json.loads(path.read_text())
    for change, message in (
        ({"layout": 7}, "layout 7"),
        ({"colour": "red"}, "colour"),
        ({"format": "csv"}, "format 'csv' is none of parquet, json, xml"),
        ({"model": "ancient"}, "model 'ancient' is none of"),
    ):
        path.write_text(json.dumps(facts | change))
        with pytest.raises(UserError, match=message):
            Dataset.load(made.folder)
    path.write_text("{")
    with pytest.raises(UserError, match="cannot be read"):
        Dataset.load(made.folder)
    path.write_text(json.dumps(facts))
    made.file("bid", 0).unlink()
    with pytest.raises(UserError, match=r"bid/000000\.parquet is gone"):
        Dataset.load(made.folder)
