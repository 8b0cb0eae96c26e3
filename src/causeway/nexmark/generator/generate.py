"""`causeway nexmark generate`: a scale level and what is said otherwise, made into a folder of events."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from causeway.nexmark.events.dataset import Dataset, write_dataset
from causeway.nexmark.generator.encoding import FileFormat
from causeway.nexmark.generator.firehose import ModelName
from causeway.nexmark.generator.scale import ScaleName, scaled_firehose
from causeway.runtime.output_folder import refuse_used_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["check", "generate"]


def generate(
    spark: SparkSession | None,
    out: Path,
    *,
    model: ModelName = "modern",
    scale: ScaleName = "small",
    events: int | None = None,
    rate: float | None = None,
    bid_streams: int | None = None,
    disorder: float = 0.0,
    seed: int = 1,
    file_format: FileFormat = "parquet",
    slice_events: int | None = None,
) -> Dataset:
    """Write the events of a model to `out`, which is new or empty; see `scaled_firehose` for the settings."""
    firehose = scaled_firehose(
        model, scale, events=events, rate=rate, bid_streams=bid_streams, disorder=disorder, seed=seed
    )
    return write_dataset(
        firehose, out, file_format=file_format, slice_events=slice_events, scale=scale, spark=spark
    )


def check(
    out: Path,
    *,
    model: ModelName = "modern",
    scale: ScaleName = "small",
    events: int | None = None,
    rate: float | None = None,
    bid_streams: int | None = None,
    disorder: float = 0.0,
    seed: int = 1,
) -> None:
    """Refuse what `generate` would refuse, before Spark takes its seconds to start."""
    scaled_firehose(
        model, scale, events=events, rate=rate, bid_streams=bid_streams, disorder=disorder, seed=seed
    )
    refuse_used_folder(out)
