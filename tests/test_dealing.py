"""How `make test` deals tests to processes."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder in a place that all processes share; it can be made once."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "made-once"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("number", range(4))
def test_the_tests_of_a_file_are_in_one_process(made_once: Path, number: int) -> None:
    """A module's fixtures would otherwise be made in every process, and some take a minute."""
    assert len(list(made_once.iterdir())) == number
    (made_once / str(number)).touch()
