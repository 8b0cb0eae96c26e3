"""The batch statements: for every query one SQL text that says its rule over complete, static tables.

They are the check of the streaming queries and share nothing with them. A query's statement is the file of
its number (`modern/q05.sql`); where a rule set has its own reading, the file that names it
(`modern/q05.beam.sql`). A file that is no query's is a table which several queries select from
(`modern/winning_bid.sql`), and has its readings in the same way. Nothing is registered by hand.
"""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from causeway.runtime.errors import UserError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["RULES", "batch_answer", "queries", "statement"]

RULES: Final = ("ours", "beam", "flink")
"""Whose reading of a query: this project's, Apache Beam's model simulators', nexmark/nexmark's for Flink."""

_LETTER: Final = {"modern": "q", "paper": "Q"}
_QUERY: Final = re.compile(r"q(\d\d)")


def queries(model: str) -> list[str]:
    """The names of a model's queries in order of their numbers: q0 to q22, or the paper's Q1 to Q8."""
    numbers = sorted({int(found[1]) for name in _texts(model) if (found := _QUERY.match(name))})
    return [f"{_LETTER[model]}{number}" for number in numbers]


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
    if rules not in RULES:
        raise UserError(f"there are no rules {rules!r}; there are {', '.join(RULES)}")
    if query not in (known := queries(model)):
        raise UserError(f"the {model} model has no query {query!r}; it has {', '.join(known)}")
    texts = _texts(model)

    def reading(name: str) -> str:
        return texts.get(f"{name}.{rules}", texts[name])

    text = reading(f"q{int(query[1:]):02d}")
    for table in sorted(name for name in texts if "." not in name and not _QUERY.fullmatch(name)):
        if re.search(rf"\b{table}\b", text):
            text = f"WITH {table} AS (\n{reading(table)})\nSELECT * FROM (\n{text})\n"
    return text


def _texts(model: str) -> dict[str, str]:
    """What the model's SQL files say, by their names without the suffix."""
    if model not in _LETTER:
        raise UserError(f"there is no model {model!r}; there are {', '.join(_LETTER)}")
    return {
        file.name.removesuffix(".sql"): file.read_text(encoding="utf-8")
        for file in files(__package__).joinpath(model).iterdir()
        if file.name.endswith(".sql")
    }
