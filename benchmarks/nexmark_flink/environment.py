"""Flink's own environment: PyPI's `apache-flink` in the user's cache folder, made once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from causeway.runtime.cache import user_cache
from causeway.runtime.errors import UserError
from causeway.spark.java import ensure_java

__all__ = ["flink_python", "flink_variables"]

_WANTED: Final = "apache-flink==2.3.*"
_PYTHONS: Final = ((3, 12), (3, 11), (3, 10), (3, 9))
"""Those that apache-flink 2.3 has wheels for."""
_FORMATS: Final = {"parquet": ("flink-sql-parquet", "org/apache/flink/flink-sql-parquet")}


def flink_python() -> Path:
    """The Python of Flink's environment, which is installed now if it has not been."""
    base, version = _base_python()
    folder = user_cache() / f"flink-2.3-python{version[0]}.{version[1]}"
    python, done = folder / "bin" / "python", folder / "installed"
    if done.exists() and python.exists():
        return python
    print(f"Installing {_WANTED} into {folder}: some 700 MB, a minute or two, once.", file=sys.stderr)
    shutil.rmtree(folder, ignore_errors=True)
    for command in (
        [base, "-m", "venv", str(folder)],
        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", _WANTED],
    ):
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        if made.returncode:
            output = (made.stderr or made.stdout).strip()[-2000:]
            raise UserError(f"Flink could not be installed; `{' '.join(command)}` said:\n{output}")
    done.touch()
    return python


def _base_python() -> tuple[str, tuple[int, int]]:
    if sys.version_info[:2] in _PYTHONS:
        return sys.executable, sys.version_info[:2]
    for version in _PYTHONS:
        found = shutil.which(f"python{version[0]}.{version[1]}")
        if found and not subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode:
            return found, version
    raise UserError("apache-flink 2.3 runs on Python 3.9 to 3.12, and none of these is on the PATH")


def flink_variables(file_format: str, jars: Sequence[Path], java: str, logs: Path) -> dict[str, str]:
    """The environment variables of Flink's processes; `java` has the options of its Java.

    A jar that a format needs must be given.
    """
    for jar in jars:
        if not jar.is_file():
            raise UserError(f"--flink-jar {jar}: no such file")
    wanted, place = _FORMATS.get(file_format, ("", ""))
    if wanted and not any(jar.name.startswith(wanted) for jar in jars):
        raise UserError(
            f"Flink from PyPI reads no {file_format}: give --flink-jar {wanted}-2.3.0.jar, which Maven "
            f"Central has under {place}, or take --format json"
        )
    ensure_java()
    # The one variable by which jars come into the class path of the gateway's Java.
    path = [str(jar.resolve()) for jar in jars] + (_hadoop_jars() if wanted else [])
    return os.environ | {
        "HADOOP_CLASSPATH": os.pathsep.join(path),
        "JVM_ARGS": java,
        "FLINK_LOG_DIR": str(logs),
    }


def _hadoop_jars() -> list[str]:
    """What Flink's Parquet reader needs besides its own jar, and Spark has."""
    import pyspark

    jars = Path(pyspark.__file__).parent / "jars"
    return [str(jar) for name in ("hadoop-client-*.jar", "zstd-jni-*.jar") for jar in sorted(jars.glob(name))]
