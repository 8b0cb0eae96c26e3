"""The streams of a query by Spark's own file source: Parquet or JSON lines, with Spark's watermark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from causeway.nexmark.events.file_feed import END_OF_STREAM, FileFeed
from causeway.nexmark.model import ARRIVAL, MODELS, OPTIONAL

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["plain_streams"]

_FILES_LIMIT: Final = (1 << 31) - 1


def plain_streams(
    spark: SparkSession,
    model: str,
    reads: Mapping[str, Sequence[str]],
    feed: FileFeed,
    *,
    limit: int,
    delay: int | None,
) -> dict[str, DataFrame]:
    """Each stream with the columns that are read of it, `limit` slices a batch.

    With a `delay` in milliseconds, a stream has a watermark on its time, and the row that ends it is dropped
    after it has moved the watermark.
    """
    found = {}
    for stream, columns in reads.items():
        fields, time = MODELS[model].streams[stream], MODELS[model].time[stream]
        in_parquet = feed.format(stream) == "parquet"
        files = min(limit * len(feed.folders(stream)), _FILES_LIMIT)
        rows = (
            spark.readStream.format("parquet" if in_parquet else "json")
            .schema(", ".join(f"`{field.name}` {_sql_type(field, in_parquet)}" for field in fields))
            .option("maxFilesPerTrigger", files)
            .option("mode", "DROPMALFORMED")
            .load(str(feed.pattern(stream).resolve()))
        )
        if not in_parquet:
            # Else a line without them would be an event with nulls.
            rows = rows.dropna(subset=[field.name for field in fields if field.name not in OPTIONAL])
        needed = dict.fromkeys(columns if delay is None else (*columns, time))
        rows = rows.selectExpr(*(_expression(fields, name, in_parquet) for name in needed))
        if delay is not None:
            # An event at the watermark is late to Spark, and one that comes as late as it may is not to us.
            rows = rows.withWatermark(time, f"{delay + 1} milliseconds")
            rows = rows.where(f"`{time}` < TIMESTAMP '{END_OF_STREAM.year - 1}-01-01'")
        found[stream] = rows
    return found


def _sql_type(field: pa.Field, in_parquet: bool) -> str:
    if pa.types.is_timestamp(field.type):
        return "TIMESTAMP" if in_parquet else "LONG"
    return "STRING" if pa.types.is_string(field.type) else "LONG"


def _expression(fields: pa.Schema, name: str, in_parquet: bool) -> str:
    if name == ARRIVAL:
        # Spark does not say where a line of JSON stood in its file.
        row = "_metadata.row_index" if in_parquet else "0"
        number = "CAST(regexp_extract(_metadata.file_name, '[0-9]+', 0) AS BIGINT)"
        return f"shiftleft({number}, 32) + {row} AS {ARRIVAL}"
    if pa.types.is_timestamp(fields.field(name).type) and not in_parquet:
        return f"timestamp_millis(`{name}`) AS `{name}`"
    return f"`{name}`"
