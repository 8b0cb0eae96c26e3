from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark
import pytest

from causeway.spark.home import ensure_spark_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PACKAGE = Path(pyspark.__file__).resolve().parent


@pytest.fixture(autouse=True)
def no_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("SPARK_HOME", "")


def test_the_home_has_sparks_programs_and_no_archive() -> None:
    ensure_spark_home()
    home = Path(os.environ["SPARK_HOME"])
    assert (home / "bin" / "spark-submit").is_file()
    assert (home / "jars").resolve() == PACKAGE / "jars"
    assert not (home / "python").exists()


def test_a_link_to_another_installation_is_made_anew(tmp_path: Path) -> None:
    ensure_spark_home()
    jars = Path(os.environ["SPARK_HOME"]) / "jars"
    jars.unlink()
    jars.symlink_to(tmp_path)
    ensure_spark_home()
    assert jars.resolve() == PACKAGE / "jars"
    assert sorted(path.name for path in jars.parent.iterdir()) == ["bin", "jars", "sbin"]


def test_the_users_home_is_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    ensure_spark_home()
    assert os.environ["SPARK_HOME"] == str(tmp_path)


def test_without_links_spark_has_its_own_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(Path, "symlink_to", refused)
    ensure_spark_home()
    assert "SPARK_HOME" not in os.environ


def test_workers_import_the_installed_package(spark: SparkSession) -> None:
    def where(_: object) -> list[str]:
        import pyspark

        return [pyspark.__file__]

    (found,) = spark.sparkContext.parallelize([0], 1).mapPartitions(where).collect()
    assert Path(found).resolve().parent == PACKAGE
