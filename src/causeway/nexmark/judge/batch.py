"""The batch statements: for every query one SQL text that says its rule over complete, static tables.

They are the check of the streaming queries and share no rule with them. `queries.files` says where they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from causeway.nexmark.queries.files import query_number, query_text, with_shared_tables
from causeway.runtime.errors import UserError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["batch_answer", "statement"]


def batch_answer(spark: SparkSession, model: str, query: str, rules: str) -> DataFrame:
    """The final answer of a query over the session's views, which the caller has registered.

    The views are named as the model's streams and have their columns, and one more, `arrival` BIGINT: the
    event's position in the order of delivery, over all streams together. It breaks the ties that nothing
    else breaks. The paper's model has the view `category` (id, name, parent) too, and the modern q13
    `side_input` (key BIGINT, value STRING). Days, hours and minutes are those of the session's time zone.

    The answer supposes that the streams have ended: every auction closes, whether or not an event came
    after its expiry.
    """
    return spark.sql(statement(model, query, rules))


def statement(model: str, query: str, rules: str) -> str:
    """The SQL text of a query, the tables that it shares with other queries written in front of it."""
    number = query_number(model, query)
    text = query_text(model, number, "batch", rules)
    if text is None:
        raise UserError(f"the query {query} of the {model} model has no batch statement (batch.sql)")
    return with_shared_tables(model, text, rules)
