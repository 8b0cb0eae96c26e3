"""What scans read of random cities, in both representations and however files are cut, by brute force."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.berlinmod.made_city import MadeCity
from tests.berlinmod.random_city import random_city

from causeway.berlinmod.dataset import Dataset
from causeway.berlinmod.judge.city import City
from causeway.berlinmod.scans.gather import Gatherer
from causeway.berlinmod.scans.lengths import length_rows
from causeway.berlinmod.scans.meetings import meeting_rows
from causeway.berlinmod.scans.positions import position_rows
from causeway.berlinmod.scans.rows import EVERYTHING, Rows, read_rows
from causeway.berlinmod.scans.source import Representation, Source
from causeway.berlinmod.scans.visits import visit_rows

CUTS = ((12, 12), (5, 2), (1, 1))


@pytest.fixture(scope="module", params=[1, 2])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Dataset]:
    """One random city, cut in several ways."""
    city: MadeCity = random_city(request.param)
    folder = tmp_path_factory.mktemp("scans")
    return [city.write(folder / f"cut-{k}", *cut) for k, cut in enumerate(CUTS)]


def _groups(dataset: Dataset, representation: Representation) -> tuple[Source, list[Rows]]:
    source = Source(None, dataset, representation)  # type: ignore[arg-type]
    columns = (*EVERYTHING, "length")
    parts = [
        read_rows(dataset.part(source.relation, file), group, columns)
        for file, groups in source.groups().items()
        for group in groups
    ]
    return source, parts


def _everywhere(made: list[Dataset]) -> list[tuple[Source, list[Rows]]]:
    both: tuple[Representation, ...] = ("oba", "tba")
    return [_groups(dataset, representation) for dataset in made for representation in both]


def test_positions(made: list[Dataset]) -> None:
    city = City.load(made[0])
    instants = [row["Instant"] for row in city.rows("QueryInstants")]
    expected = {
        (vehicle, k + 1): place
        for k, t in enumerate(instants)
        for vehicle, place in city.positions(t).items()
    }
    ids = np.arange(1, len(instants) + 1, dtype=np.int32)
    for _, parts in _everywhere(made):
        rows = [
            row for part in parts for row in position_rows(part, ids, np.array(instants), None).to_pylist()
        ]
        found = {(row["vehicle"], row["Id"]): (row["x"], row["y"]) for row in rows}
        assert len(rows) == len(found)
        assert found.keys() == expected.keys()
        assert all(found[key] == pytest.approx(expected[key]) for key in found)


def test_lengths(made: list[Dataset]) -> None:
    city = City.load(made[0])
    periods = [(row["Period"]["begin"], row["Period"]["end"]) for row in city.rows("QueryPeriods")]
    expected = {}
    for vehicle, (times, x, y) in city.histories.items():
        for k, (begin, end) in enumerate(periods):
            inner = sorted({begin, end, *(t for t in times if begin < t < end)})
            places = [(np.interp(t, times, x), np.interp(t, times, y)) for t in inner]
            expected[vehicle, k + 1] = sum(map(math.dist, places[:-1], places[1:]))
    ids = np.arange(1, len(periods) + 1, dtype=np.int32)
    for _, parts in _everywhere(made):
        sums: dict[Any, float] = {}
        for part in parts:
            for row in length_rows(part, ids, np.array(periods), None).to_pylist():
                key = (row["vehicle"], row["Id"])
                sums[key] = sums.get(key, 0.0) + row["Dist"]
        assert sums.keys() == expected.keys()
        assert all(sums[key] == pytest.approx(expected[key], abs=1e-6) for key in sums)


def _times(rows: list[dict[str, Any]], *names: str) -> dict[Any, list[tuple[float, float]]]:
    found: dict[Any, list[tuple[float, float]]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in names), []).append((row["begin"], row["end"]))
    joined: dict[Any, list[tuple[float, float]]] = {}
    for key, spans in found.items():
        mine: list[list[float]] = []
        for begin, end in sorted(spans):
            if mine and begin <= mine[-1][1]:
                mine[-1][1] = max(mine[-1][1], end)
            else:
                mine.append([begin, end])
        joined[key] = [(begin, end) for begin, end in mine]
    return joined


@pytest.mark.parametrize("relation", ["QueryPoints", "QueryRegions"])
def test_visits_are_the_same_in_both_representations_and_in_all_cuts(
    made: list[Dataset], relation: str
) -> None:
    answers = []
    for source, parts in _everywhere(made):
        ids, places = source.places(relation)
        tables = [visit_rows(part, ids, places, None) for part in parts]
        answers.append(_times(pa.concat_tables(tables).to_pylist(), "vehicle", "Id"))
    assert len(answers[0]) > 20
    for other in answers[1:]:
        assert other.keys() == answers[0].keys()
        for key, spans in other.items():
            assert np.array(spans) == pytest.approx(np.array(answers[0][key]), abs=1e-2)


def test_meetings_are_when_two_are_near(made: list[Dataset]) -> None:
    city = City.load(made[0])
    expected = None
    for source, _ in _everywhere(made):
        rows = Gatherer(source).rows(np.arange(12, dtype=np.int32))
        table = meeting_rows(rows, rows, 10.0).to_pylist()
        spans = [
            {"one": row["vehicle1"], "other": row["vehicle2"], "begin": b, "end": e}
            for row in table
            for b, e in zip(row["begin"], row["end"], strict=True)
        ]
        found = _times(spans, "one", "other")
        expected = expected or found
        assert found.keys() == expected.keys()
        for key, mine in found.items():
            assert np.array(mine) == pytest.approx(np.array(expected[key]), abs=1e-2)
    assert expected
    start = made[0].parameters.begin_ms
    for second in range(0, 1500, 7):
        where = city.positions(start + 1000 * second)
        for one, here in where.items():
            for other, there in where.items():
                metres = math.dist(here, there)
                if one != other and abs(metres - 10.0) > 1e-6:
                    spans_of = expected.get((one, other), [])
                    said = any(b <= start + 1000 * second <= e for b, e in spans_of)
                    assert said == (metres < 10.0), (one, other, second)


@pytest.mark.parametrize(("low", "high", "metres"), [(0.1, 3.1, 3.0), (0.3, 10.3, 10.0)])
def test_who_is_just_near_enough_is_near(tmp_path: Path, low: float, high: float, metres: float) -> None:
    """Their boxes are as far apart as the limit; rounding would make that a little more."""
    assert high - low <= metres
    assert high - metres > low
    city = MadeCity(
        histories=[[(0, low, 0.0), (60_000, low, 5.0)], [(0, high, 0.0), (60_000, high, 5.0)]],
        types=["truck", "truck"],
        licences=["A", "B"],
    )
    source = Source(None, city.write(tmp_path / "city"), "oba")  # type: ignore[arg-type]
    rows = Gatherer(source).rows(np.arange(2, dtype=np.int32))
    assert {(row["vehicle1"], row["vehicle2"]) for row in meeting_rows(rows, rows, metres).to_pylist()} == {
        (0, 1),
        (1, 0),
    }
