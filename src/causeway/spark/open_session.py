"""The session that a library function works in: the caller's own, or one for the length of the call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from causeway.spark import session as sessions
from causeway.spark.master import check_master
from causeway.spark.settings import check_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["SparkOptions", "check_options", "open_session"]


@dataclass(frozen=True)
class SparkOptions:
    """How to start a Spark session."""

    master: str = "local[*]"
    settings: Mapping[str, str] = field(default_factory=dict)
    """Spark's own settings, such as spark.driver.memory; they win over every default here."""
    log_level: str = "OFF"
    """What Spark writes to the terminal: OFF, WARN, INFO and so on."""


def check_options(spark: SparkSession | SparkOptions | None) -> None:
    """Refuse options that cannot work, before anything is made."""
    if isinstance(spark, SparkOptions):
        check_master(spark.master)
        check_settings(spark.settings)


@contextmanager
def open_session(
    spark: SparkSession | SparkOptions | None, application: str, *, log_file: Path | None = None
) -> Iterator[SparkSession]:
    """The caller's session as it is; or a new one, made as the options say and stopped after the block.

    Only a new one writes to `log_file`: where a caller's session logs is the caller's choice.
    """
    if spark is not None and not isinstance(spark, SparkOptions):
        yield spark
        return
    options = spark or SparkOptions()
    with sessions.spark_session(
        application, options.master, options.settings, log_file=log_file, log_level=options.log_level
    ) as own:
        yield own
