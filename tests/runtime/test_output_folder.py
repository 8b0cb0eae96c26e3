"""Nothing is removed that was not made here: only folders with the marker are."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from causeway.runtime.errors import UserError
from causeway.runtime.output_folder import (
    UNFINISHED,
    begin_folder,
    finish_folder,
    is_replaceable,
    prepare_folder,
    remove_unfinished,
    scratch_folder,
    write_json,
)
from causeway.runtime.process_folder import temporary_folder

_REPOSITORY = Path(__file__).parents[2]


def _users_folder(path: Path) -> Path:
    path.mkdir()
    (path / "thesis.txt").write_text("years of work")
    return path


def test_a_users_folder_is_neither_replaced_nor_removed(tmp_path: Path) -> None:
    folder = _users_folder(tmp_path / "stream")
    assert not is_replaceable(folder)
    with pytest.raises(UserError, match="is in the way"):
        begin_folder(folder)
    remove_unfinished(folder)
    assert (folder / "thesis.txt").exists()


def test_an_unfinished_folder_is_replaced_and_removed(tmp_path: Path) -> None:
    folder = tmp_path / "stream"
    begin_folder(folder)
    (folder / "part").mkdir()
    (folder / "part" / "file").touch()
    assert is_replaceable(folder)
    begin_folder(folder)
    assert [entry.name for entry in folder.iterdir()] == [UNFINISHED]
    remove_unfinished(folder)
    assert not folder.exists()


def test_a_finished_folder_stays(tmp_path: Path) -> None:
    folder = tmp_path / "stream"
    begin_folder(folder)
    (folder / "file").touch()
    finish_folder(folder)
    remove_unfinished(folder)
    assert [entry.name for entry in folder.iterdir()] == ["file"]


def test_a_link_to_an_unfinished_folder_is_not_followed(tmp_path: Path) -> None:
    begin_folder(tmp_path / "target")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    remove_unfinished(tmp_path / "link")
    assert (tmp_path / "target").is_dir()
    assert not is_replaceable(tmp_path / "link")


def test_a_removal_that_is_broken_off_can_be_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "stream"
    begin_folder(folder)
    (folder / "part").mkdir()

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "rmtree", killed)
    with pytest.raises(KeyboardInterrupt):
        remove_unfinished(folder)
    monkeypatch.undo()
    remove_unfinished(folder)
    assert not folder.exists()


def test_a_scratch_folder_lasts_for_the_block(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), scratch_folder(tmp_path / "scratch") as folder:
        (folder / "file").touch()
        raise ZeroDivisionError
    assert not (tmp_path / "scratch").exists()
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="is in the way"), scratch_folder(tmp_path / "file"):
        pass


def test_temporary_folders_of_the_living_and_of_others_stay(tmp_path: Path) -> None:
    """Two may be at work in one place; what a killed process left goes, what a user made does not."""
    users = _users_folder(tmp_path / ".validation-2024-notes")
    abandoned = tmp_path / ".validation-99999-abandoned"
    abandoned.mkdir()
    (abandoned / ".lock").write_text('{"pid": 99999}')
    (abandoned / "rows").mkdir()
    with (
        temporary_folder(tmp_path, ".validation-") as first,
        temporary_folder(tmp_path, ".validation-") as second,
    ):
        assert sorted(tmp_path.iterdir()) == sorted([users, first, second])
    assert list(tmp_path.iterdir()) == [users]


def test_json_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        write_json(tmp_path / "facts.json", {"impossible": object()})
    assert list(tmp_path.iterdir()) == []


def test_a_used_folder_is_refused(tmp_path: Path) -> None:
    _users_folder(tmp_path / "out")
    with pytest.raises(UserError, match=r"is not empty \(it has thesis.txt\)"):
        prepare_folder(tmp_path / "out")


@pytest.fixture
def make(tmp_path: Path) -> list[str]:
    """The Makefile with an environment in which every program does nothing."""
    environment = tmp_path / "venv"
    (environment / "bin").mkdir(parents=True)
    program = environment / "bin" / "causeway"
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    (environment / ".installed").touch()
    later = (_REPOSITORY / "pyproject.toml").stat().st_mtime + 1000
    os.utime(environment / ".installed", (later, later))
    return ["make", "-C", str(_REPOSITORY), f"VENV={environment}"]


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
@pytest.mark.parametrize(("target", "variable"), [("run", "DEMO"), ("nexmark", "NEXMARK")])
def test_make_removes_only_what_it_made(make: list[str], tmp_path: Path, target: str, variable: str) -> None:
    users = _users_folder(tmp_path / "folder with words")
    ran = subprocess.run([*make, target, f"{variable}={users}"], capture_output=True, text=True, check=False)
    assert ran.returncode != 0
    assert f"was not made by `make {target}`" in ran.stdout
    assert (users / "thesis.txt").exists()
    demo = tmp_path / "demo"
    for _ in range(2):
        ran = subprocess.run(
            [*make, target, f"{variable}={demo}"], capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr
        assert not (demo / "old").exists()
        (demo / "old").touch()
