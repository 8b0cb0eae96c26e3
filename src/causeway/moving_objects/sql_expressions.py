"""Functions of moving objects that are expressions of Spark's SQL: they run without Python."""

from __future__ import annotations

from typing import Final

from causeway.moving_objects import types

__all__ = ["SQL_FUNCTIONS"]

SQL_FUNCTIONS: Final = {
    "val": (
        f"p {types.INSTANT_POINT}",
        types.POINT,
        # Without the test, the position of NULL would be a point whose x and y are NULL.
        "CASE WHEN p IS NOT NULL THEN named_struct('x', p.x, 'y', p.y) END",
    ),
    "inst": (f"p {types.INSTANT_POINT}", "double", "p.t"),
    "create_instant": (
        "text string",
        "bigint",
        # By way of text, since a timestamp without zone would else be taken for one of the session's zone.
        "unix_millis(to_timestamp(concat(CAST(to_timestamp_ntz("
        "regexp_replace(text, '^([0-9]+-[0-9]+-[0-9]+)-', '$1 ')) AS STRING), 'Z')))",
    ),
    "cells": (
        "low double, high double, size double",
        "array<bigint>",
        "sequence(floor(low / size), floor(high / size))",
    ),
    "first_cell": (
        "low double, other_low double, size double",
        "bigint",
        "floor(greatest(low, other_low) / size)",
    ),
    "units_of": (
        "t array<double>, x array<double>, y array<double>,"
        " start int, units int, begin_closed boolean, end_closed boolean",
        types.MOVING_POINT,
        "named_struct('t', slice(t, start + 1, units + 1), 'x', slice(x, start + 1, units + 1),"
        " 'y', slice(y, start + 1, units + 1), 'first', array(0), 'begin_closed', array(begin_closed),"
        " 'end_closed', array(end_closed))",
    ),
}
"""For each name: parameters, type of the result, and the expression."""
