"""Statements of plain Spark SQL, written to cover its grammar where our extensions could be seen by mistake.

None of them names a streaming table of `made_catalog` in the place of a relation. Each must reach Spark
byte for byte, and Spark's own parser takes each. In the files a line with `%%` separates two of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

__all__ = ["COMPOUND", "STATEMENTS"]


def _read(name: str) -> tuple[str, ...]:
    text = (Path(__file__).parent / name).read_text(encoding="utf-8")
    return tuple(text.removesuffix("\n").split("\n%%\n"))


COMPOUND: Final = _read("spark_scripts.sql")
"""Scripts with `;` inside that are one statement."""

STATEMENTS: Final = (*_read("spark_statements.sql"), *COMPOUND)
