"""Rows that are no rows of a table, whoever made them."""

from __future__ import annotations

import pyarrow as pa

from causeway.streaming_tables.sources.parsing.casts import column_rules, convert, is_readable
from causeway.streaming_tables.sources.parsing.target import Reading, TargetColumns

__all__ = ["unfit_rows"]


def unfit_rows(rows: pa.Table, target: TargetColumns) -> dict[int, str]:
    """Why rows do not fit, by their place. `rows` has the target's columns by position, the time last."""
    reasons: dict[int, str] = {}
    for column, rule in zip(rows.columns, column_rules(Reading(target)), strict=True):
        if is_readable(column.type, rule):
            _, unfit = convert(column.combine_chunks(), rule)
            for place, reason in unfit.items():
                reasons.setdefault(place, reason)
    return reasons
