"""Answers checked against the workload: the same rows, each as often."""

from __future__ import annotations

import pyarrow as pa

from causeway.linear_road.queries.statements import HistoryQuery
from causeway.linear_road.queries.workload_truth import WorkloadTruth

__all__ = ["difference"]


def difference(truth: WorkloadTruth, query: HistoryQuery, answer: pa.Table) -> str | None:
    """What is wrong with an answer, in words; None if it is right."""
    expected = truth.rows(query.seconds, query.vehicles)
    found, wanted = _sorted(answer, expected.column_names), _sorted(expected, expected.column_names)
    if found.equals(wanted):
        return None
    request = (
        f"seconds {query.seconds[0]} to {query.seconds[1]}, "
        f"vehicles {query.vehicles[0]} to {query.vehicles[1]}"
    )
    if found.num_rows != wanted.num_rows:
        return f"{request}: {found.num_rows:,} rows where the workload has {wanted.num_rows:,}"
    for place in range(wanted.num_rows):
        if not found.slice(place, 1).equals(wanted.slice(place, 1)):
            got, should = found.slice(place, 1).to_pylist()[0], wanted.slice(place, 1).to_pylist()[0]
            return f"{request}: a row is {got} where the workload has {should}"
    return f"{request}: the rows differ"


def _sorted(rows: pa.Table, columns: list[str]) -> pa.Table:
    rows = pa.table({name: rows.column(name).cast(pa.int64()) for name in columns})
    return rows.sort_by([(name, "ascending") for name in columns]).combine_chunks()
