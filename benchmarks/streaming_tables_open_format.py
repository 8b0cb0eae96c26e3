"""The past of a streaming table as other engines read it, row by row beside our own reading.

    python benchmarks/streaming_tables_open_format.py [--rows 200000] [--delta-spark 4.2] [--folder FOLDER]

A table with a column of every type is appended to, flushed, deleted from and loses compartments. Then its
Delta table is read by deltalake, by DuckDB over the files that the Delta log names, and by Spark with Delta's
own jar from Maven. If Maven has none for the Spark in use, `--delta-spark` names a version of Spark to
install for it, into the user's cache. Exit code 1 if a row differs.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable

from causeway.streaming_tables.storage import (
    SEQ,
    ColumnDefinition,
    IndexDefinition,
    TableDefinition,
    TableStore,
    TimeDefinition,
)
from others.system import UnavailableError, install

_TYPES = {
    "small": "smallint",
    "whole": "int",
    "long": "bigint",
    "single": "float",
    "double": "double",
    "exact": "decimal(20,4)",
    "text": "string",
    "flag": "boolean",
    "bytes": "binary",
    "day": "date",
    "moment": "timestamp",
    "list": "array<int>",
}


def main() -> int:
    """Compare; 1 if an engine reads something else."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--delta-spark", help="Spark version to install for Delta, such as 4.2")
    parser.add_argument("--folder", type=Path, help="where temporary data goes")
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--result", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.read is not None:
        pq.write_table(_by_delta_on_spark(arguments.read), arguments.result)
        return 0
    with tempfile.TemporaryDirectory(prefix="open-format-", dir=arguments.folder) as temporary:
        own = _made(Path(temporary) / "t", arguments.rows)
        past = Path(temporary) / "t/past"
        print(
            f"{own.num_rows:,} rows of {own.num_columns} columns in {len(DeltaTable(past).file_uris())} files"
        )
        readers: dict[str, Callable[[], pa.Table]] = {
            "deltalake": lambda: DeltaTable(past).to_pyarrow_table(),
            "DuckDB": lambda: _by_duckdb(past),
            "Delta on Spark": lambda: _apart(past, Path(temporary), arguments.delta_spark),
        }
        return max([_compare(name, read, own) for name, read in readers.items()])


def _compare(name: str, read: Callable[[], pa.Table], own: pa.Table) -> int:
    began = time.perf_counter()
    try:
        found = read()
    except UnavailableError as failure:
        print(f"{name}: left out. {failure}")
        return 0
    found = found.select(own.column_names).cast(own.schema).sort_by(SEQ)
    seconds = time.perf_counter() - began
    if found.num_rows != own.num_rows:
        print(f"{name}: {found.num_rows:,} rows instead of {own.num_rows:,}")
        return 1
    different = [
        column
        for column in own.column_names
        if found.column(column).to_pylist() != own.column(column).to_pylist()
    ]
    result = "all rows are equal" if not different else f"other values in {', '.join(different)}"
    print(f"{name}: {result} ({seconds:.1f} s)")
    return 1 if different else 0


def _made(folder: Path, rows: int) -> pa.Table:
    """Make the table; what we read of it, in the order of arrival."""
    step = max(1, rows // 8)
    definition = TableDefinition(
        name="t",
        columns=tuple(ColumnDefinition(name, kind) for name, kind in _TYPES.items()),
        time=TimeDefinition("T", "seconds"),
        range=rows * 3 // 4,
        slack=100,
        compartment=max(1, rows // 20),
    )
    chance = np.random.default_rng(1)
    store = TableStore.create(folder, definition)
    with store.writer("open format") as writer:
        writer.add_index(IndexDefinition("by_whole", "whole"))
        for first in range(0, rows, step):
            writer.append(_rows(definition, first, min(step, rows - first), chance))
            writer.flush()
        writer.drop_expired()
        numbers = store.snapshot().scan(["whole"], with_seq=True)
        seventh = pc.equal(pc.subtract(numbers.column("whole"), 7), 0)
        writer.delete(np.asarray(numbers.filter(seventh).column(SEQ).to_numpy(), np.int64))
        # Expired rows that share a compartment with others are still in the files, and others see them.
        return store.snapshot().scan(with_seq=True, keep_expired=True).sort_by(SEQ)


def _rows(definition: TableDefinition, first: int, count: int, chance: np.random.Generator) -> pa.Table:
    whole = chance.integers(0, 1000, count)
    missing = pa.array(chance.random(count) < 0.1)
    values = {
        "small": pa.array((whole - 500).astype(np.int16)),
        "whole": pa.array(whole.astype(np.int32)),
        "long": pa.array(whole * 10**15),
        "single": pa.array((whole / 3).astype(np.float32)),
        "double": pa.array(whole / 7),
        "exact": pa.array([Decimal(number) / 8 for number in whole.tolist()], pa.decimal128(20, 4)),
        "text": pa.array([f"naïve {number} 😀" for number in whole]),
        "flag": pa.array(whole % 2 == 0),
        "bytes": pa.array([bytes([number % 256]) for number in whole]),
        "day": pa.array(whole.astype(np.int32)).cast(pa.date32()),
        "moment": pa.array(whole * 1_234_567_891).cast(pa.timestamp("us", "UTC")),
        "list": pa.array([[number, None] for number in whole.tolist()], pa.list_(pa.int32())),
    }
    schema = definition.arrow_schema()
    columns = [
        pc.if_else(
            missing, pa.scalar(None, schema.field(name).type), values[name].cast(schema.field(name).type)
        )
        if name != "list"
        else values[name].cast(schema.field(name).type)
        for name in _TYPES
    ]
    time = pa.array(np.arange(first, first + count) + 50 - chance.integers(0, 50, count))
    return pa.Table.from_arrays([*columns, time], schema=schema)


def _by_duckdb(past: Path) -> pa.Table:
    # DuckDB's own reader of Delta logs is an extension to be downloaded; its Parquet reader gets the files.
    text = "SET TimeZone = 'UTC'; SELECT * FROM read_parquet($files, hive_partitioning = true)"
    return duckdb.connect().execute(text, {"files": DeltaTable(past).file_uris()}).to_arrow_table()


def _apart(past: Path, folder: Path, version: str | None) -> pa.Table:
    """Read by Delta in a process of its own, whose Spark may be another version."""
    variables = dict(os.environ)
    if version is not None:
        spark = install(f"pyspark-{version}", f"pyspark=={version}.*")
        variables["PYTHONPATH"] = os.pathsep.join([str(spark), variables.get("PYTHONPATH", "")]).rstrip(":")
        variables.pop("SPARK_HOME", None)
    result = folder / "read.parquet"
    command = [sys.executable, __file__, "--read", str(past), "--result", str(result)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UnavailableError((done.stderr.strip().splitlines() or ["no reason"])[-1])
    return pq.read_table(result)


def _by_delta_on_spark(past: Path) -> pa.Table:
    from others.delta import delta_session

    with delta_session("open format", "local[2]", {}) as (spark, _):
        return spark.read.format("delta").load(str(past)).toArrow()


if __name__ == "__main__":
    sys.exit(main())
