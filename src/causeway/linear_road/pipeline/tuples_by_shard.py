"""Input tuples dealt to shards, and each shard's as arrays.

A shard has every n-th road (an expressway's direction) and answers all that is asked about them. Accounts
belong to a vehicle, which may drive on roads of several shards: a balance request goes to every shard, each
answers with its part, and the sink adds them up.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from causeway.linear_road.model.expressway import (
    ENTRY_LANE,
    EXIT_LANE,
    FEET_PER_EXPRESSWAY,
    MAX_SPEED,
    SEGMENTS,
)
from causeway.linear_road.model.tuples import TupleType
from causeway.streaming.cells import Arrays

__all__ = ["REPORT_FIELDS", "deal"]

REPORT_FIELDS: Final = ("time", "vid", "road", "cell", "seg", "lane", "spd", "pos")

_REQUEST_FIELDS: Final = {
    TupleType.ACCOUNT_BALANCE: ("Time", "VID", "QID"),
    TupleType.DAILY_EXPENDITURE: ("Time", "VID", "XWay", "QID", "Day"),
    TupleType.TRAVEL_TIME: ("Time", "XWay", "QID", "Sinit", "Send", "DOW", "TOD"),
}
_NAMES: Final = {
    TupleType.ACCOUNT_BALANCE: "balance",
    TupleType.DAILY_EXPENDITURE: "expenditure",
    TupleType.TRAVEL_TIME: "journey",
}

_EXPRESSWAY_LIMIT: Final = 1 << 18


def deal(tuples: pa.Table | pa.RecordBatch, shards: int) -> list[Arrays]:
    """The tuples of each shard, in the order they have.

    Reports are found by the name of a field, requests by `balance_time` and so on.
    """
    columns = {name: tuples.column(name).to_numpy() for name in tuples.schema.names}
    kind = columns["Type"]
    reports = {
        "time": columns["Time"],
        "vid": columns["VID"],
        "spd": columns["Spd"],
        "seg": columns["Seg"],
        "lane": columns["Lane"],
        "pos": columns["Pos"],
        "road": 2 * columns["XWay"] + columns["Dir"],
    }
    is_report = kind == TupleType.POSITION_REPORT
    if not is_report.all():
        reports = {name: values[is_report] for name, values in reports.items()}
    _check(reports)
    dealt: list[Arrays] = []
    for shard in range(shards):
        arrays = reports
        if shards > 1:
            mine = reports["road"] % shards == shard
            arrays = {name: values[mine] for name, values in reports.items()}
        arrays = arrays | {"cell": arrays["road"] // shards * SEGMENTS + arrays["seg"]}
        dealt.append({name: arrays[name] for name in REPORT_FIELDS})
    for request, fields in _REQUEST_FIELDS.items():
        which = np.flatnonzero(kind == request)
        for shard, arrays in enumerate(dealt):
            mine = which
            if request != TupleType.ACCOUNT_BALANCE:
                mine = which[columns["XWay"][which] % shards == shard]
            for field in fields:
                arrays[f"{_NAMES[request]}_{field.lower()}"] = columns[field][mine]
    return dealt


def _check(reports: dict[str, NDArray[np.int32]]) -> None:
    """Refuse what no road has; `import` keeps such lines out, and kernels trust it."""
    for name, lowest, highest in (
        ("seg", 0, SEGMENTS - 1),
        ("pos", 0, FEET_PER_EXPRESSWAY - 1),
        ("spd", 0, MAX_SPEED),
        ("lane", ENTRY_LANE, EXIT_LANE),
        ("vid", 0, (1 << 31) - 1),
        ("road", 0, 2 * _EXPRESSWAY_LIMIT - 1),
    ):
        values = reports[name]
        if len(values) and (values.min() < lowest or values.max() > highest):
            wrong = int(np.flatnonzero((values < lowest) | (values > highest))[0])
            raise ValueError(
                f"the report of vehicle {reports['vid'][wrong]} at second {reports['time'][wrong]} has "
                f"{name} = {values[wrong]}, which is none of {lowest} to {highest}"
            )
