"""The rooms of the package stand in an order: a module imports from its own room and from those below it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "causeway"

SHARED = ("runtime", "spark", "streaming", "report")
"""Used by all benchmarks, from the bottom up."""

BENCHMARKS = {
    "linear_road": (
        "model",
        "workload",
        "simulator",
        "history",
        "inspection",
        "driver",
        "keeping",
        "pipeline",
        "tables",
        "runner",
        "validation",
        "rating",
        "queries",
        "report",
        "results",
        "api",
    ),
    "nexmark": (
        "model",
        "generator",
        "events",
        "operators",
        "queries",
        "judge",
        "runner",
        "report",
        "api",
    ),
    "berlinmod": (
        "model",
        "city",
        "routes",
        "trips",
        "dataset",
        "relations",
        "generator",
        "inspection",
        "exchange",
        "scans",
        "neighbours",
        "queries",
        "judge",
        "runner",
        "report",
        "api",
    ),
}
"""The rooms of each benchmark, from the bottom up; `api` stands for the modules that are in no room."""

STREAMING_TABLES = ("language", "storage", "sources", "engine", "api")
"""The rooms of the streaming tables, from the bottom up. They stand below the benchmarks."""

MOVING_OBJECTS = ("kernels", "conversions", "spark", "api")
"""The rooms of the moving objects, from the bottom up. They stand below the streaming tables."""

INNER_ROOMS = {
    "causeway.streaming_tables.storage": ("log", "past", "reads"),
    "causeway.streaming_tables.engine": ("plans", "catalog", "reads", "windows", "continuous", "writes"),
}
"""The rooms inside of a large room, from the bottom up. Its own modules use them all."""

TOP = ("cli", "__main__")


class Import(NamedTuple):
    """A module of the package that another one imports."""

    importer: str
    line: int
    imported: str


def _module_name(file: Path) -> str:
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(file: Path) -> Iterator[Import]:
    importer = _module_name(file)
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno} imports by a relative path"
            assert node.module is not None
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            names = [name for name in names[1:] if _is_module(name)] or names[:1]
        else:
            continue
        yield from (Import(importer, node.lineno, name) for name in names if name.split(".")[0] == "causeway")


def _is_module(name: str) -> bool:
    path = PACKAGE.parent.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def _place(module: str) -> tuple[int, int]:
    """Where a module stands: a number for its benchmark or shared room, and one for the room in there."""
    parts = module.split(".")[1:]
    if not parts:
        return 0, 0
    if parts[0] in SHARED:
        return 1 + SHARED.index(parts[0]), 0
    if parts[0] == "moving_objects":
        rooms = MOVING_OBJECTS
        return 40, rooms.index(parts[1]) if len(parts) > 1 and parts[1] in rooms else len(rooms)
    if parts[0] == "streaming_tables":
        rooms = STREAMING_TABLES
        return 50, rooms.index(parts[1]) if len(parts) > 1 and parts[1] in rooms else len(rooms)
    if parts[0] in BENCHMARKS:
        rooms = BENCHMARKS[parts[0]]
        return 100, rooms.index(parts[1]) if len(parts) > 1 and parts[1] in rooms else len(rooms)
    assert parts[0] in TOP, f"{module} is in no room that this test knows"
    return 200, 0


def _complaint(found: Import) -> str | None:
    importer, imported = found.importer.split("."), found.imported.split(".")
    where = f"{found.importer}, line {found.line}: imports {found.imported}"
    benchmarks = {*importer[1:2], *imported[1:2]} & set(BENCHMARKS)
    if len(benchmarks) > 1:
        return f"{where}, of another benchmark"
    if _place(found.imported) > _place(found.importer):
        return f"{where}, of a room above its own"
    for room, inner_rooms in INNER_ROOMS.items():
        inner = [name.removeprefix(f"{room}.").split(".")[0] for name in (found.importer, found.imported)]
        if set(inner) <= set(inner_rooms) and inner_rooms.index(inner[1]) > inner_rooms.index(inner[0]):
            return f"{where}, of a room above its own"
    return None


def test_every_room_is_in_the_order() -> None:
    others = {"moving_objects": MOVING_OBJECTS, "streaming_tables": STREAMING_TABLES}
    for benchmark, rooms in {**BENCHMARKS, **others}.items():
        folders = {path.parent.name for path in (PACKAGE / benchmark).glob("*/__init__.py")}
        assert folders <= set(rooms), f"{benchmark} has rooms without a place: {folders - set(rooms)}"
    for room, inner_rooms in INNER_ROOMS.items():
        folders = {
            path.parent.name for path in PACKAGE.parent.joinpath(*room.split(".")).glob("*/__init__.py")
        }
        assert folders == set(inner_rooms)
    top_level = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert top_level == {*SHARED, *BENCHMARKS, *others, "cli"}


@pytest.mark.parametrize("part", [*SHARED, "moving_objects", "streaming_tables", *BENCHMARKS])
def test_no_import_goes_up_or_across(part: str) -> None:
    found = [one for file in sorted((PACKAGE / part).rglob("*.py")) for one in _imports(file)]
    assert [complaint for one in found if (complaint := _complaint(one))] == []


def test_an_import_that_goes_up_or_across_is_noticed() -> None:
    up = Import("causeway.linear_road.model.rules", 1, "causeway.linear_road.history.prepared")
    across = Import("causeway.nexmark.runner.answers", 1, "causeway.linear_road.model.rules")
    to_the_command_line = Import("causeway.linear_road.rating.rate", 1, "causeway.cli.main")
    to_a_benchmark = Import("causeway.streaming_tables.engine.run", 1, "causeway.linear_road.model.rules")
    to_the_storage = Import(
        "causeway.streaming_tables.language.parser", 1, "causeway.streaming_tables.storage.log"
    )
    inside = Import(
        "causeway.streaming_tables.engine.plans.tree", 1, "causeway.streaming_tables.engine.reads.relations"
    )
    down = Import("causeway.linear_road.history.prepared", 1, "causeway.linear_road.model.rules")
    assert _complaint(up) is not None
    assert _complaint(across) is not None
    assert _complaint(to_the_command_line) is not None
    assert _complaint(to_a_benchmark) is not None
    assert _complaint(to_the_storage) is not None
    assert _complaint(inside) is not None
    assert _complaint(down) is None
