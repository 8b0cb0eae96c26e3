"""`causeway berlinmod map`, as a user types it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.berlinmod.command_line import run_causeway

from causeway.berlinmod.city import RoadMap

STREETS = """(OBJECT streets () (rel (tuple ((Vmax real) (geoData line))))
 ((50.0 ((0 0 1000 0)))
  (fast ((0 0 1000 0)))
  (50.0 ((5000 5000 6000 5000)))
  (30.0 ((500 -500 500 500)))))
"""


def test_a_city_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run_causeway(monkeypatch, capsys, "map", "--out", tmp_path / "map", "--seed", 3)
    assert code == 0
    assert re.search(r"4,4\d\d nodes, 13,3\d\d edges, 2,722 streets, 2,4\d\d km", out)
    assert "Treptow-Köpenick" in out
    assert RoadMap.load(tmp_path / "map").origin == {"source": "drawn", "seed": 3}


def test_an_import_says_what_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    streets = tmp_path / "streets.data"
    streets.write_text(STREETS)
    code, out, _ = run_causeway(monkeypatch, capsys, "map", "--from", streets, "--out", tmp_path / "map")
    assert code == 0
    assert "5 nodes, 8 edges, 3 streets" in out
    assert "1 streets rejected" in out
    assert "streets.data, line 3: Vmax is fast; a number was expected" in out
    assert (
        "Left out, since no way leads there and back: 1 parts of the map with 2 nodes, 2 edges, 2.0 km" in out
    )
    assert "No regions" in out
    code, _, err = run_causeway(monkeypatch, capsys, "map", "--from", streets, "--out", tmp_path / "map")
    assert code == 2
    assert "not empty" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--from", "nowhere.osm"), "nowhere.osm: no such file"),
        (("--from", "x.data", "--seed", "4"), "--seed is for our own city"),
        (("--name", "x"), "go with --from"),
    ],
)
def test_mistakes_are_told(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = run_causeway(monkeypatch, capsys, "map", "--out", "map", *arguments)
    assert code == 2
    assert message in err
    assert not (tmp_path / "map").exists()
