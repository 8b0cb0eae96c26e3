"""The examples of docs/moving-objects.md give what the page says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import causeway.moving_objects as mo

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = Path(__file__).parents[3] / "docs" / "moving-objects.md"
EXAMPLE = re.compile(r"\| `([^`]*)` \| `([^`]*)` \|$")


def _words(value: Any) -> str:
    """A value of Spark's as the page writes it; what rounding leaves of 0 is 0."""
    if hasattr(value, "asDict"):
        return f"{{{', '.join(f'{name}: {_words(one)}' for name, one in value.asDict().items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_words, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{round(value, 9) + 0.0:.12g}" if isinstance(value, float) else str(value)


def test_every_example_gives_what_the_page_says(spark: SparkSession) -> None:
    mo.register(spark)
    text = PAGE.read_text(encoding="utf-8")
    section = text[text.index("## Functions") : text.index("What cannot be is refused")]
    values = re.search(r"```sql\n(SELECT named_struct.*?)```", section, re.DOTALL)
    assert values is not None
    examples = [match.groups() for line in section.splitlines() if (match := EXAMPLE.search(line))]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    assert len(examples) == len(rows) > 25
    columns = ", ".join(f"{example} AS example_{k}" for k, (example, _) in enumerate(examples))
    answers = spark.sql(f"SELECT {columns} FROM ({values[1]})").collect()[0]
    for k, (example, expected) in enumerate(examples):
        assert _words(answers[f"example_{k}"]) == expected, example
