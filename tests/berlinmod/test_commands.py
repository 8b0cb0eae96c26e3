"""The path of a new user through the commands, and what each says of mistakes."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.berlinmod.command_line import Causeway, run_causeway
from tests.berlinmod.small_city import small_city

from causeway import berlinmod
from causeway.runtime import progress
from causeway.spark import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def causeway(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Causeway:
    # A slow machine would print lines of progress.
    monkeypatch.setattr(progress, "_LINE_SECONDS", 1e6)
    return lambda *arguments: run_causeway(monkeypatch, capsys, *arguments)


@pytest.fixture(scope="module")
def city(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("user")
    small_city().save(folder / "map")
    return berlinmod.generate(folder / "city", cars=6, days=1, map=folder / "map", spark=spark).folder


def test_play_says_where_the_page_is(causeway: Causeway, city: Path, tmp_path: Path) -> None:
    page = tmp_path / "all.html"
    code, out, err = causeway("play", city, "--out", page)
    assert (code, err) == (0, "")
    assert f"Open it in a browser: {page} (" in out
    assert "6 vehicles are driving" in page.read_text()
    page = tmp_path / "some.html"
    code, _, _ = causeway(
        *("play", city, "--from", "2007-05-28T08:00:00", "--hours", 2, "--vehicles", 3, "--out", page)
    )
    assert code == 0
    assert "3 (of 6) vehicles are driving" in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere",), "nowhere: no such folder"),
        (("city", "--from", "2008-01-01T00:00:00"), "the data begins 2007-05-28 00:00"),
        (("city", "--from", "tomorrow"), "Invalid value for '--from'"),
        (("city", "--hours", "0"), "0 hours cannot be shown"),
    ],
)
def test_play_tells_mistakes(
    causeway: Causeway, city: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(city.parent)
    code, _, err = causeway("play", *arguments)
    assert code == 2
    assert message in err
    assert not (city / "play.html").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("generate", "--out", "new", "--map", "nowhere"), "nowhere: no such map"),
        (("generate", "--out", "new", "--map", "notes.txt"), "notes.txt"),
        (("generate", "--out", "new", "--map", "."), "streets.data"),
        (("generate", "--out", "new", "--scale", "0"), "scale is a number above 0; got 0"),
        (("generate", "--out", "notes.txt"), "notes.txt is a file; give a folder"),
        (("inspect", "nowhere"), "nowhere: no such folder"),
        (("export", "nowhere", "--format", "csv", "--out", "new"), "nowhere: no such folder"),
        (("export", ".", "--format", "csv", "--out", "new"), "berlinmod.json"),
        (("import", "nowhere", "--out", "new"), "nowhere is no folder; give the one with trips.csv"),
        (("import", ".", "--out", "new"), "trips.csv"),
    ],
)
def test_mistakes_are_told_before_anything_is_made(
    causeway: Causeway,
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.setattr(session, "spark_session", lambda *_, **__: contextlib.nullcontext(spark))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("no map\n")
    code, _, err = causeway(*arguments)
    assert code == 2
    assert message in err
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_from_a_map_to_a_data_set_that_was_exported_and_imported(
    causeway: Causeway, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "spark_session", lambda *_, **__: contextlib.nullcontext(spark))
    monkeypatch.chdir(tmp_path)
    small_city().save("map")
    code, out, err = causeway("generate", "--out", "city", "--map", "map", "--cars", 12, "--days", 1)
    assert (code, err) == (0, "")
    assert "city: network-based" in out
    code, out, err = causeway("inspect", "city")
    assert (code, err) == (0, "")
    assert (tmp_path / "city" / "inspection.html").is_file()
    for written, read in (("csv", "csv"), ("meos", "mobilitydb")):
        code, out, err = causeway("export", "city", "--format", written, "--out", written)
        assert (code, err) == (0, "")
        assert f"units as {written}" in out
        bad = tmp_path / written / "trips.csv"
        bad.write_text(bad.read_text() + "not a trip\n")
        lines = bad.read_text().count("\n")
        again = f"{written}-again"
        code, out, err = causeway("import", written, "--format", read, "--map", "map", "--out", again)
        assert (code, err) == (0, "")
        assert f"1 lines rejected, see {again}/rejects.csv; the first: trips.csv, line {lines}: " in out
        code, out, err = causeway("inspect", again)
        assert (code, err) == (0, "")
        code, out, err = causeway("play", again)
        assert (code, err) == (0, "")
        assert "12 vehicles" in (tmp_path / again / "play.html").read_text()
