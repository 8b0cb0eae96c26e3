"""Spark's home without its archive of Python modules, so that its Python workers start in half the time.

Spark puts `python/lib/pyspark.zip` of its home first where its workers look for modules, and Python compiles
what it imports from an archive anew in every process: more than a second each, some of them for every query.
The same modules are in the installed package, compiled once.
"""

from __future__ import annotations

import os
import tempfile
import zlib
from pathlib import Path
from typing import Final

from causeway.runtime.cache import cache_entry
from causeway.spark.internals import HOME_FOLDERS

__all__ = ["ensure_spark_home"]

_PREFIX: Final = "causeway-spark-"


def ensure_spark_home() -> None:
    """Leave SPARK_HOME at a folder of links to the installed package, unless the user has set another."""
    import pyspark

    present = os.environ.get("SPARK_HOME")
    if present and not Path(present).name.startswith(_PREFIX):
        return
    package = Path(pyspark.__file__).resolve().parent
    try:
        home = cache_entry(f"{_PREFIX}{pyspark.__version__}-{zlib.crc32(bytes(package)):08x}")
        for name in HOME_FOLDERS:
            _link(home / name, package / name)
    except OSError:
        # No links in this file system: Spark's own home does the same, and takes longer.
        os.environ.pop("SPARK_HOME", None)
        return
    os.environ["SPARK_HOME"] = str(home)


def _link(link: Path, target: Path) -> None:
    if link.is_symlink() and link.readlink() == target:
        return
    with tempfile.TemporaryDirectory(dir=link.parent) as folder:
        fresh = Path(folder) / link.name
        fresh.symlink_to(target)
        fresh.replace(link)
