"""Whether Flink's answers are those of our batch statements under `--rules flink`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from causeway.nexmark.judge.batch import batch_answer
from causeway.nexmark.judge.check import register_tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Comparison", "compare"]

Answer = Counter[tuple[str | None, ...]]
_AS_TEXT: Final = {"timestamp": "date_format(`{0}`, 'yyyy-MM-dd HH:mm:ss.SSS')"}


class Comparison:
    """Rows of both, as multisets."""

    def __init__(self, names: list[str], ours: Answer, flink: Answer) -> None:
        self.names = names
        self.rows = ours.total()
        self.missing = ours - flink
        """Ours, and not Flink's."""
        self.extra = flink - ours

    @property
    def equal(self) -> bool:
        return not self.missing and not self.extra

    def report(self, limit: int) -> list[str]:
        """The first differences in words."""
        lines = []
        for whose, rows in (("ours alone", self.missing), ("Flink's alone", self.extra)):
            for values, times in list(rows.items())[:limit]:
                shown = ", ".join(
                    f"{name} {str(value)[:30]}" for name, value in zip(self.names, values, strict=True)
                )
                lines.append(f"{whose}: {shown}" + (f" ({times} times)" if times > 1 else ""))
        return lines


def compare(spark: SparkSession, folder: Path, query: str, answers: Path) -> Comparison:
    """Flink's answers in `answers` against the batch statement over the events in `folder`."""
    register_tables(spark, "modern", folder)
    expected = batch_answer(spark, "modern", query, "flink")
    names = sorted(expected.columns)
    kinds = dict(expected.dtypes)
    as_text = [_AS_TEXT.get(kinds[name], "CAST(`{0}` AS STRING)").format(name) for name in names]
    ours: Answer = Counter(tuple(row) for row in expected.selectExpr(*as_text).collect())
    flink: Answer = Counter()
    with answers.open() as file:
        for times, values in map(json.loads, file):
            if sorted(values) != names:
                raise ValueError(f"{query}: Flink has columns {sorted(values)}, we have {names}")
            flink[tuple(values[name] for name in names)] += times
    return Comparison(names, ours, flink)
