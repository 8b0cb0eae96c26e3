"""The functions of moving objects, for the statements that call them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from causeway.streaming_tables.language.tokens import identifier_value, significant, tokenize

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["provide_functions"]


def provide_functions(spark: SparkSession, text: str) -> None:
    """Register the functions of moving objects that a statement calls.

    Registering all of them when a connection opens would delay every connection, also those that never use
    them. A function of the user's own goes first: one that Spark knows is left as it is.
    """
    from causeway.moving_objects import register, sql_names

    called = _called_names(text)
    missing = [name for name in sorted(called & sql_names()) if not spark.catalog.functionExists(name)]
    if missing:
        register(spark, missing)


def _called_names(text: str) -> set[str]:
    """Names before a parenthesis, in lower case, unless they are qualified."""
    tokens = significant(tokenize(text))
    called = set()
    for place, (name, after) in enumerate(pairwise(tokens)):
        qualified = place > 0 and tokens[place - 1].symbol() == "."
        if name.is_name and after.symbol() == "(" and not qualified:
            called.add(identifier_value(name).lower())
    return called
