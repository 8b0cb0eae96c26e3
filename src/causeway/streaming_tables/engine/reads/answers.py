"""Answers of statements: rows that are read when somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow as pa

from causeway.streaming_tables.engine.plans.spark_errors import Text, in_users_text

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame

__all__ = ["Answer"]


class Answer:
    """The rows of a one-time statement, over the snapshot that was taken when it was issued."""

    def __init__(
        self,
        frame: DataFrame | Callable[[], DataFrame] | None = None,
        *,
        text: Text = "",
        scan: Callable[[], pa.Table] | None = None,
        rows: pa.Table | None = None,
        summary: str | None = None,
    ) -> None:
        """`text` is what Spark's errors are about.

        `scan` answers without Spark; `rows` are an answer that is there already.
        """
        self.summary = summary
        """What a statement did that is no query, in a sentence; None for a query."""
        self._frame = frame
        self._text = text
        self._scan = scan
        self._rows = rows

    @property
    def df(self) -> DataFrame:
        """The answer as a DataFrame, for any Spark job."""
        from pyspark.sql import DataFrame, SparkSession

        if self._frame is None:
            # A thread that has not used Spark yet has no active session.
            spark = SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
            assert self._rows is not None
            self._frame = spark.createDataFrame(self._rows)
        frame = self._frame if isinstance(self._frame, DataFrame) else self._frame()
        self._frame = frame
        return frame

    def to_arrow(self) -> pa.Table:
        """All rows as an Arrow table."""
        if self._rows is None:
            self._rows = self._collected() if self._scan is None else self._scan()
        return self._rows

    def to_pandas(self) -> pd.DataFrame:
        """All rows as a pandas DataFrame."""
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    def show(self, limit: int = 20) -> None:
        """Print the first rows as a table."""
        from rich.console import Console

        from causeway.report.text_table import text_table

        Console(markup=False, highlight=False).print(text_table(self.to_arrow(), limit))

    def _collected(self) -> pa.Table:
        frame = self.df
        with in_users_text(self._text):
            return frame.toArrow()
