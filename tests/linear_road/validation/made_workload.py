"""Small workloads with history on disk, and answers files, as the validator's tests need them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from tests.linear_road.literal_reading import Expected

from causeway.linear_road.model.tuples import INPUT_COLUMNS, INPUT_SCHEMA
from causeway.linear_road.workload.workload import StreamFormat, Workload

__all__ = [
    "LATENCY",
    "answer_lines",
    "write_answers",
    "write_segment_history",
    "write_toll_history",
    "write_workload",
]

LATENCY = {0: 4.9, 1: 5.0, 2: 0.25, 3: 9.99, 4: 30.0}
"""Seconds that answers of each type take, none too many."""

SEGMENT_COLUMNS = ("Day", "Min", "XWay", "Dir", "Seg", "Lav", "Cnt", "Toll")


def write_workload(
    folder: Path, tuples: Iterable[Sequence[int]], stream_format: StreamFormat = "parquet"
) -> Workload:
    """Write a workload whose stream is `tuples`, fifteen numbers each."""
    rows = sorted(tuples, key=lambda fields: fields[1])
    reports = sum(fields[0] == 0 for fields in rows)
    made = Workload(folder, "imported", stream_format, 1.0, 15, 1, {"reports": reports})
    made.stream.mkdir(parents=True)
    columns = dict(zip(INPUT_COLUMNS, zip(*rows, strict=True), strict=True))
    table = pa.table({name: list(values) for name, values in columns.items()}, schema=INPUT_SCHEMA)
    if stream_format == "csv":
        options = pa.csv.WriteOptions(include_header=False)
        pa.csv.write_csv(table, made.stream / "part-00000.csv", options)
    else:
        pq.write_table(table, made.stream / "part-00000.parquet")
    made.save()
    return made


def write_toll_history(
    workload: Workload, rows: Mapping[tuple[int, int, int], int], *, flat: bool = False
) -> None:
    """Write TollHistory; `rows` are tolls by (VID, Day, XWay)."""
    folder = workload.history if flat else workload.history / "toll_history"
    folder.mkdir(parents=True, exist_ok=True)
    for xway in sorted({key[2] for key in rows} | {0}):
        of_xway = [(*key, tolls) for key, tolls in rows.items() if flat or key[2] == xway]
        columns = list(zip(*of_xway, strict=True)) or [[], [], [], []]
        table = pa.table(
            [pa.array(list(column), pa.int32()) for column in columns], names=["VID", "Day", "XWay", "Tolls"]
        )
        _write(table, folder / ("TollHistory.csv" if flat else f"xway-{xway:05d}-00000.parquet"))


def write_segment_history(
    workload: Workload, xway: int, columns: Sequence[np.ndarray], *, flat: bool = False
) -> None:
    """Write one expressway's SegmentHistory; `columns` are Day, Min, Dir, Seg, Lav and Cnt."""
    folder = workload.history if flat else workload.history / "segment_history"
    folder.mkdir(parents=True, exist_ok=True)
    day, minute, direction, segment, lav, cnt = (np.asarray(column, np.int32) for column in columns)
    same = np.full_like(day, xway)
    arrays = [day, minute, same, direction, segment, lav, cnt, np.zeros_like(day)]
    _write(
        pa.table(arrays, names=list(SEGMENT_COLUMNS)),
        folder / ("SegmentHistory.csv" if flat else f"xway-{xway:05d}-00000.parquet"),
    )


def answer_lines(expected: Expected, choose: Random | None = None) -> list[str]:
    """All answers as lines of the flat file; with `choose`, any of the valid ones, each as likely."""

    def emit(kind: int, time: int) -> str:
        return f"{time + LATENCY[kind]:.3f}"

    lines = [f"0,{n.vid},{n.time},{emit(0, n.time)},{n.lav},{n.toll}" for n in expected.toll_notifications]
    for alert in expected.accident_alerts:
        segment = choose.choice(sorted(alert.segments)) if choose else alert.nearest
        lines.append(f"1,{alert.time},{emit(1, alert.time)},{alert.vid},{segment}")
    for balance in expected.account_balances:
        tau = choose.choice(sorted(balance.balances)) if choose else balance.time
        at = emit(2, balance.time)
        lines.append(f"2,{balance.time},{at},{balance.qid},{tau},{balance.balances[tau]}")
    lines += [
        f"3,{daily.time},{emit(3, daily.time)},{daily.qid},{daily.bal}"
        for daily in expected.daily_expenditures
    ]
    for journey in expected.travel_times:
        seconds = journey.travel_time + (choose.choice([-1, 0, 1]) if choose else 0)
        lines.append(f"4,{journey.time},{emit(4, journey.time)},{journey.qid},{seconds},{journey.toll}")
    return lines


def write_answers(path: Path, lines: Iterable[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def _write(table: pa.Table, path: Path) -> None:
    if path.suffix == ".csv":
        pa.csv.write_csv(table, path, pa.csv.WriteOptions(include_header=False))
    else:
        pq.write_table(table, path)
