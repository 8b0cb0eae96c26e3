"""An installed package has every file that the code reads."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_files_that_are_not_python_are_package_data() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    patterns = settings["tool"]["setuptools"]["package-data"]["causeway"]
    package = ROOT / "src" / "causeway"
    data = {path for pattern in patterns for path in package.glob(pattern)}
    found = {path for path in package.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")}
    assert found == data
    assert any(path.suffix == ".sql" for path in found)
