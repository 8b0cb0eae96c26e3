"""The files of a query, found by their names: one folder a query, and one of what several queries share.

    modern/q05/operator.py       the columnar operator, where streaming SQL can't say the query or is slow
    modern/q01/columns.py        a function over columns, where each event is answered by itself
    modern/q01/stream.sql        the streaming text, over views that are named as the streams: plain Spark's,
                                 and where there is neither of the above also the columnar engine's
    modern/q05/spark.sql         plain Spark's own text, or spark.py, in place of it
    modern/q01/stream.beam.sql   the same under Beam's rules, where these differ
    modern/q05/batch.sql         the batch statement: the rule over complete tables, written separately
    modern/q05/batch.beam.sql    the same under Beam's rules
    modern/q05/ideal.sql         what an ideal system would emit, and when
    modern/shared/*.sql          tables that several batch statements select from, also by rule set

Nothing is registered by hand.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Final

from causeway.nexmark.model import MODELS
from causeway.runtime.errors import UserError

__all__ = [
    "RULE_SETS",
    "check_rules",
    "has_module",
    "query_names",
    "query_number",
    "query_text",
    "query_title",
    "with_shared_tables",
]

RULE_SETS: Final = ("ours", "beam", "flink")
"""Whose reading of a query: this project's, Apache Beam's model simulators', nexmark/nexmark's for Flink."""

_FOLDER: Final = re.compile(r"q(\d\d)")
_NAME: Final = re.compile(r"[qQ]0*(\d+)")
_COMMENT: Final = re.compile(r"--.*")


def query_names(model: str) -> list[str]:
    """All queries of a model in order of their numbers: q0, q1, …"""
    return [f"q{number}" for number in _numbers(model)]


def query_number(model: str, name: str) -> int:
    """The number of a query by its name: `q5`, `Q5` and `q05` are the same."""
    match = _NAME.fullmatch(name.strip())
    if match is None or int(match[1]) not in _numbers(model):
        raise UserError(f"there is no query {name!r} in the {model} model: {', '.join(query_names(model))}")
    return int(match[1])


def query_text(model: str, number: int, kind: str, rules: str = "ours") -> str | None:
    """The SQL of a query: its `stream`, `spark`, `batch` or `ideal` text; `None` where there is no such file.

    A rule set without a file of its own shares that of `ours`.
    """
    check_rules(rules)
    folder = files(__package__) / model / f"q{number:02d}"
    for file in (folder / f"{kind}.{rules}.sql", folder / f"{kind}.sql"):
        if file.is_file():
            return file.read_text(encoding="utf-8")
    return None


def query_title(model: str, name: str) -> str:
    """What a query is called, as its batch statement has it; nothing for one that there is not."""
    try:
        text = query_text(model, query_number(model, name), "batch") or ""
    except UserError:
        return ""
    title = text.partition("\n")[0].removeprefix("-- ").partition(":")[0]
    return title.partition(", ")[2] or title


def has_module(model: str, number: int, name: str) -> bool:
    """Whether a query has a Python module of that name."""
    return (files(__package__) / model / f"q{number:02d}" / f"{name}.py").is_file()


def check_rules(rules: str) -> None:
    """Refuse a rule set that does not exist."""
    if rules not in RULE_SETS:
        raise UserError(f"there are no rules {rules!r}: {', '.join(RULE_SETS)}")


def with_shared_tables(model: str, text: str, rules: str, **tables: str) -> str:
    """A statement behind the shared tables that it names, and the `tables` that it names, as SQL does it."""
    shared = files(__package__) / model / "shared"
    texts = {file.name.removesuffix(".sql"): file.read_text(encoding="utf-8") for file in shared.iterdir()}
    readings = {name: texts.get(f"{name}.{rules}", texts[name]) for name in sorted(texts) if "." not in name}
    for name, table in (tables | readings).items():
        # A name that is no table's here costs a common table expression that nobody selects from.
        if re.search(rf"\b{name}\b", _COMMENT.sub("", text)):
            text = f"WITH {name} AS (\n{table})\nSELECT * FROM (\n{text})\n"
    return text


@cache
def _numbers(model: str) -> list[int]:
    if model not in MODELS:
        raise UserError(f"there is no model {model!r}: {', '.join(MODELS)}")
    names = (folder.name for folder in (files(__package__) / model).iterdir())
    return sorted(int(match[1]) for name in names if (match := _FOLDER.fullmatch(name)))
