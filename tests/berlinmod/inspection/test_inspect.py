"""Inspection: a generated data set holds, and what is changed in it is noticed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.berlinmod.small_city import small_city
from tests.browser import Browser

from causeway import berlinmod
from causeway.berlinmod.dataset import HISTORIES, Dataset, Movements, table_of_movements
from causeway.berlinmod.dataset.movements import RowGroupWriter, read_movements
from causeway.berlinmod.dataset.schemas import HISTORIES_SCHEMA
from causeway.berlinmod.inspection import Inspection
from causeway.berlinmod.inspection.expectations import expected_legs, published_for
from causeway.berlinmod.inspection.measure import measure_file
from causeway.berlinmod.inspection.street_index import index_streets, limit_at
from causeway.berlinmod.model.parameters import make_parameters
from causeway.report.figures import Verdict

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def made(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("made")
    small_city().save(folder / "map")
    return berlinmod.generate(
        folder / "data", cars=120, days=7, map=folder / "map", mode="region", spark=spark
    )


@pytest.fixture(scope="module")
def inspected(spark: SparkSession, made: Dataset) -> Inspection:
    return berlinmod.inspect(made, spark=spark).inspection


def test_a_generated_data_set_holds(made: Dataset, inspected: Inspection) -> None:
    out = [figure for figure in inspected.figures if figure.verdict is Verdict.OUT]
    assert out == []
    figures = {figure.name: figure for figure in inspected.figures}
    assert figures["trips"].value == made.counts["trips"]
    assert figures["units"].value == made.counts["units"]
    assert figures["units over the limit"].verdict is Verdict.HOLDS
    assert figures["West: homes"].verdict is Verdict.HOLDS
    written = json.loads((made.folder / "inspection.json").read_text())
    assert written["holds"] is True
    assert len(written["figures"]) == len(inspected.figures)


def test_traffic_is_counted_when_and_where_it_is(made: Dataset, inspected: Inspection) -> None:
    assert inspected.under_way.shape == (7 * 96,)
    days = inspected.under_way.reshape(7, 96)
    assert days[:5, 24:44].sum() > days[:5, :24].sum(), "mornings have more traffic than nights"
    hours = inspected.presence.sum() / 3_600_000
    # The bins end with the last day's midnight; a few drives go on after it.
    assert 0.99 * hours < days.sum() / 4 <= hours
    assert inspected.durations.sum() > 0


def _changed(made: Dataset, tmp_path: Path, change: object) -> Dataset:
    """A copy of the data set in which the first history is changed."""
    shutil.copytree(made.folder, tmp_path / "copy")
    copy = Dataset.load(tmp_path / "copy")
    path = copy.part(HISTORIES, 0)
    groups = pq.ParquetFile(path).num_row_groups
    tables = []
    for group in range(groups):
        movements, _ = read_movements(path, group)
        table = pq.ParquetFile(path).read_row_group(group)
        columns = {
            name: table.column(name).combine_chunks() for name in ("vehicle", "Licence", "Type", "Model")
        }
        arrays = Movements(*(array.copy() for array in movements))
        if group == 0:
            change(arrays)  # type: ignore[operator]
        tables.append(table_of_movements(HISTORIES_SCHEMA, columns, arrays))
    with RowGroupWriter(path, HISTORIES_SCHEMA) as writer:
        for table in tables:
            writer.append(table)
    return copy


def _moving(arrays: Movements) -> int:
    """The start of a unit that moves, and so does the next."""
    x, y = np.diff(arrays.x) != 0, np.diff(arrays.y) != 0
    return int(np.flatnonzero((x | y)[:-1] & (x | y)[1:])[3])


def test_damage_is_noticed(made: Dataset, tmp_path: Path) -> None:
    def off_the_street(arrays: Movements) -> None:
        arrays.y[_moving(arrays) + 1] += 0.5

    def too_fast(arrays: Movements) -> None:
        unit = _moving(arrays)
        arrays.t[unit + 1] = arrays.t[unit] + 1

    def backwards(arrays: Movements) -> None:
        unit = _moving(arrays)
        arrays.t[unit + 1] = arrays.t[unit]

    def short(arrays: Movements) -> None:
        arrays.t[0] += 1000

    for number, (change, names) in enumerate(
        [
            (off_the_street, {"off_street", "not_equal"}),
            (too_fast, {"too_fast", "not_equal"}),
            (backwards, {"not_rising", "not_equal"}),
            (short, {"not_padded", "not_equal"}),
        ]
    ):
        (tmp_path / str(number)).mkdir()
        measured = measure_file(_changed(made, tmp_path / str(number), change), 0)
        assert all(getattr(measured, name) > 0 for name in names), names


def test_wrong_boxes_and_lengths_are_noticed(made: Dataset, tmp_path: Path) -> None:
    shutil.copytree(made.folder, tmp_path / "copy")
    copy = Dataset.load(tmp_path / "copy")
    path = copy.part(HISTORIES, 0)
    table = pq.read_table(path)
    wrong = table.set_column(
        table.schema.get_field_index("x_max"), "x_max", pa.compute.subtract(table.column("x_max"), 1.0)
    )
    lengths = table.column("length").combine_chunks()
    values = pa.array(lengths.values.to_numpy() * 1.01)
    longer = pa.ListArray.from_arrays(lengths.offsets, values)
    wrong = wrong.set_column(table.schema.get_field_index("length"), "length", longer)
    pq.write_table(wrong, path, row_group_size=made.vehicles_per_group)
    measured = measure_file(copy, 0)
    rows = min(made.vehicles_per_file, 120)
    assert measured.wrong_box == rows
    assert measured.wrong_length == rows


def test_the_index_of_streets_finds_what_a_plain_search_finds() -> None:
    city = small_city()
    index = index_streets(city)
    random = np.random.default_rng(1)
    segments = []
    for edge in range(city.edges):
        for corner in range(city.edge_offsets[edge], city.edge_offsets[edge + 1] - 1):
            segments.append((corner, city.edge_vmax[edge]))
    for _ in range(200):
        corner, _ = segments[random.integers(len(segments))]
        share = random.uniform()
        x = city.edge_x[corner] + share * (city.edge_x[corner + 1] - city.edge_x[corner])
        y = (
            city.edge_y[corner]
            + share * (city.edge_y[corner + 1] - city.edge_y[corner])
            + random.choice([0, 0.3])
        )
        best, nearest = 0.0, np.inf
        for first, vmax in segments:
            a = np.array([city.edge_x[first], city.edge_y[first]])
            b = np.array([city.edge_x[first + 1], city.edge_y[first + 1]])
            along = np.clip(np.dot([x, y] - a, b - a) / np.dot(b - a, b - a), 0, 1)
            metres = float(np.hypot(*([x, y] - a - along * (b - a))))
            nearest = min(nearest, metres)
            if metres <= 0.01:
                best = max(best, vmax)
        limit, off = limit_at(index, x, y, 0.01)
        assert limit == best
        assert off == pytest.approx(nearest, abs=1e-9)


def test_what_was_published_is_expected_only_for_berlin_and_the_defaults() -> None:
    found = published_for(make_parameters(scale=0.05, mode="region"), on_berlin=True)
    assert found is not None and found.trips == 15_045
    assert published_for(make_parameters(scale=0.05, mode="region"), on_berlin=False) is None
    assert published_for(make_parameters(scale=0.05, disturb=True), on_berlin=True) is None
    assert published_for(make_parameters(scale=0.07), on_berlin=True) is None
    # 20 weekdays and 8 days of weekends: 40 drives to and from work, 0.4 * 36 blocks of 2.3 drives.
    assert expected_legs(make_parameters(scale=1.0)) == pytest.approx(40 + 0.4 * 36 * 2.3)


@pytest.mark.parametrize("width", [1200, 390])
def test_the_page_draws_the_city(browser: Browser, made: Dataset, inspected: Inspection, width: int) -> None:
    browser.load(made.folder / "inspection.html", width)
    browser.wait_for("document.querySelectorAll('.main-svg').length >= 4")
    assert browser.errors() == []
    assert browser.texts("h2")[:4] == [
        "The city",
        "Homes, work places and traffic",
        "How long drives take",
        "Traffic over the week",
    ]
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
