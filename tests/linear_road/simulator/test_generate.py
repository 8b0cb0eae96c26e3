"""Whole workloads through Spark: layout, determinism, vehicles, and what a failure leaves behind."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from causeway.linear_road import api
from causeway.linear_road.history import generate as histories
from causeway.linear_road.model.tuples import INPUT_COLUMNS, INPUT_SCHEMA
from causeway.linear_road.simulator import generate as stages
from causeway.linear_road.simulator.generate import generate
from causeway.linear_road.simulator.recording import Direction, Recording
from causeway.linear_road.workload.workload import Workload
from causeway.runtime.errors import UserError
from causeway.runtime.output_folder import begin_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MINUTES = 14


@pytest.fixture(scope="module")
def two(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Workload:
    """Two expressways, long enough for vehicles to come back."""
    return generate(spark, tmp_path_factory.mktemp("two"), expressways=2, minutes=MINUTES, seed=4)


def tuples(workload: Workload, part: int) -> pa.Table:
    return pq.read_table(workload.parts[part])


def test_kernels_are_compiled_for_what_the_simulation_uses(tmp_path: Path) -> None:
    """In a process of its own, where nothing else has compiled them."""
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from causeway.linear_road.simulator import generate, traffic, vehicles\n"
        "kernels = traffic.simulate_minute, vehicles._deal\n"
        "generate.use_kernels()\n"
        "compiled = [list(kernel.signatures) for kernel in kernels]\n"
        "folder, east = Path(sys.argv[1]), generate.Direction(0, 0)\n"
        "generate.simulate_direction(generate.Recording(folder, east), east, 1, 2)\n"
        "assert generate._deal(folder, [east], 1)[0] > 0\n"
        "assert [len(one) for one in compiled] == [1, 1], compiled\n"
        "assert [list(kernel.signatures) for kernel in kernels] == compiled\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


def test_a_workload_with_its_history(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[Path, int]] = []
    monkeypatch.setattr(
        histories,
        "generate_history",
        lambda session, workload, *, seed: made.append((workload.folder, seed)),
    )
    out = tmp_path / "w"
    api.generate(out, expressways=0.5, minutes=1, seed=7, history=True, spark=spark)
    assert made == [(out, 7)]
    with pytest.raises(UserError, match="the seed of a history"):
        api.generate(tmp_path / "other", minutes=1, seed=2**63, history=True, spark=spark)


def test_layout(two: Workload) -> None:
    assert [path.name for path in two.parts] == ["part-00000.parquet", "part-00001.parquet"]
    assert sorted(entry.name for entry in two.folder.iterdir()) == ["stream", "workload.json"]
    facts = json.loads((two.folder / "workload.json").read_text())
    assert (facts["seed"], facts["expressways"], facts["minutes"]) == (4, 2, MINUTES)
    assert Workload.load(two.folder) == two
    for part in range(2):
        file = pq.ParquetFile(two.parts[part])
        assert file.schema_arrow.equals(INPUT_SCHEMA)
        assert file.num_row_groups == MINUTES
        time = tuples(two, part)["Time"].to_numpy()
        assert (np.diff(time) >= 0).all()
        assert set(tuples(two, part)["XWay"].to_numpy()) == {part, -1}


def test_counts_are_those_of_the_rows(two: Workload) -> None:
    rows = pa.concat_tables([tuples(two, 0), tuples(two, 1)])
    kind = rows["Type"].to_numpy()
    vehicle = rows["VID"].to_numpy()
    assert two.counts["reports"] == (kind == 0).sum()
    for number in (2, 3, 4):
        assert two.counts[f"type_{number}"] == (kind == number).sum()
    assert np.array_equal(np.unique(vehicle), np.arange(two.counts["vehicles"]))
    assert two.counts["trips"] > two.counts["vehicles"]


def test_requests_follow_a_report_of_the_same_vehicle_and_second(two: Workload) -> None:
    rows = tuples(two, 1).to_pandas()
    asks = np.flatnonzero(rows["Type"] != 0)
    assert asks.size > 50
    before = rows.iloc[asks - 1]
    assert (before["Type"] == 0).all()
    assert (before["VID"].to_numpy() == rows["VID"].iloc[asks].to_numpy()).all()
    assert (before["Time"].to_numpy() == rows["Time"].iloc[asks].to_numpy()).all()
    assert (rows[["Spd", "Lane", "Dir", "Seg", "Pos"]].iloc[asks] == -1).all(axis=None)
    assert (rows[["QID", "Sinit", "Send", "DOW", "TOD", "Day"]][rows["Type"] == 0] == -1).all(axis=None)


def test_no_vehicle_is_in_two_places(two: Workload) -> None:
    rows = pa.concat_tables([tuples(two, 0), tuples(two, 1)]).to_pandas()
    reports = rows[rows["Type"] == 0].sort_values(["VID", "Time"])
    gap = reports["Time"].diff()[reports["VID"].diff() == 0]
    assert ((gap == 30) | (gap > 60)).all(), "a trip reports every 30 s, the next one comes much later"
    assert (gap > 60).any(), "some make several trips"
    roads = reports.groupby("VID")["XWay"].nunique()
    assert (roads > 1).any(), "some use several expressways"


def test_an_expressway_is_the_same_whatever_l_is(two: Workload, spark: SparkSession, tmp_path: Path) -> None:
    def without_vehicles(table: pa.Table) -> pa.Table:
        return table.drop_columns(["VID"])

    one = generate(spark, tmp_path / "one", expressways=1, minutes=MINUTES, seed=4)
    assert without_vehicles(tuples(one, 0)).equals(without_vehicles(tuples(two, 0)))

    half = generate(spark, tmp_path / "half", expressways=1.5, minutes=MINUTES, seed=4)
    assert without_vehicles(tuples(half, 0)).equals(without_vehicles(tuples(two, 0)))
    east = tuples(two, 1)
    # A request has no direction of its own: its identifier is even in the east.
    direction = np.where(east["Type"].to_numpy() == 0, east["Dir"].to_numpy(), east["QID"].to_numpy() % 2)
    assert without_vehicles(tuples(half, 1)).equals(without_vehicles(east.filter(direction == 0)))


def test_one_core_gives_the_same_bytes_as_two(two: Workload, tmp_path: Path) -> None:
    folder = tmp_path / "simulation"
    folder.mkdir()
    directions = [Direction(xway, side) for xway in (0, 1) for side in (0, 1)]
    for direction in reversed(directions):
        stages.simulate_direction(Recording(folder, direction), direction, 4, MINUTES)
    stages._deal(folder, directions, 4)
    for xway in (1, 0):
        path = tmp_path / f"part-{xway}.parquet"
        stages.write_expressway(folder, directions[2 * xway : 2 * xway + 2], 4, path, "parquet")
        assert path.read_bytes() == two.parts[xway].read_bytes()


def test_csv_has_the_same_tuples(two: Workload, spark: SparkSession, tmp_path: Path) -> None:
    flat = generate(spark, tmp_path / "flat", expressways=2, minutes=MINUTES, seed=4, stream_format="csv")
    assert [path.name for path in flat.parts] == ["part-00000.csv", "part-00001.csv"]
    for part in range(2):
        read = pa_csv.read_csv(
            flat.parts[part],
            read_options=pa_csv.ReadOptions(column_names=list(INPUT_COLUMNS)),
            convert_options=pa_csv.ConvertOptions(column_types=INPUT_SCHEMA),
        )
        assert read.equals(tuples(two, part).cast(read.schema))


@pytest.mark.parametrize("expressways", [0, -1, 0.7, 0.25])
def test_expressways_come_in_halves(spark: SparkSession, tmp_path: Path, expressways: float) -> None:
    with pytest.raises(UserError, match="the number of expressways is"):
        generate(spark, tmp_path / "w", expressways=expressways)


def test_a_used_folder_is_refused(spark: SparkSession, tmp_path: Path, two: Workload) -> None:
    (tmp_path / "letter.txt").write_text("keep me")
    with pytest.raises(UserError, match=r"not empty.*letter.txt"):
        generate(spark, tmp_path, minutes=1)
    with pytest.raises(UserError, match="not empty"):
        generate(spark, two.folder, minutes=1)
    assert two.parts


def test_a_broken_off_generation_leaves_no_workload_and_can_be_repeated(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "w"

    def fail(*_: object) -> list[int]:
        raise OSError("disk full")

    with monkeypatch.context() as patched, pytest.raises(OSError, match="disk full"):
        patched.setattr(stages, "_write", fail)
        generate(spark, out, minutes=1)
    assert list(out.iterdir()) == []
    # As a kill would leave it: both folders half full, no workload.json.
    begin_folder(out / ".simulation")
    begin_folder(out / "stream")
    (out / "stream" / "part-00007.parquet").write_bytes(b"half")
    workload = generate(spark, out, minutes=1)
    assert [path.name for path in workload.parts] == ["part-00000.parquet"]
    assert [path.name for path in (out / "stream").iterdir()] == ["part-00000.parquet"]


@pytest.mark.parametrize("name", ["stream", ".simulation"])
def test_a_folder_that_generate_did_not_make_is_left(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "thesis.txt").touch()
    with pytest.raises(UserError, match=f"is not empty \\(it has {name}\\)"):
        stages.check_output(tmp_path)
    with pytest.raises(UserError, match=f"is not empty \\(it has {name}\\)"):
        generate(None, tmp_path, minutes=1)  # type: ignore[arg-type]
    assert (tmp_path / name / "thesis.txt").exists()
