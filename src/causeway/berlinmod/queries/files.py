"""The files of a query, found by their names: one folder a query.

    q04/both.sql                           the statement, if both representations have the same
    q08/oba.sql, q08/tba.sql               else the one of each representation (section 5)
    q04/paper.oba.sql, q04/paper.tba.sql   the paper's own text with our functions, without any index
    q06/places.sql                         where on the map of a report the answer is, if it does not say that

Nothing is registered by hand.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Final

from causeway.runtime.errors import UserError

__all__ = ["QUERIES", "RANGE_QUERIES", "chosen_queries", "is_range_query", "query_number", "query_text"]

_FOLDER: Final = re.compile(r"q(\d\d)")
_NAME: Final = re.compile(r"[qQ]0*(\d+)")
_LAST_RANGE_QUERY: Final = 17


@cache
def _numbers() -> tuple[int, ...]:
    names = (folder.name for folder in files(__package__).iterdir())
    return tuple(sorted(int(match[1]) for name in names if (match := _FOLDER.fullmatch(name))))


QUERIES: Final = tuple(f"q{number}" for number in _numbers())
"""All queries, in order of their numbers."""

RANGE_QUERIES: Final = tuple(f"q{number}" for number in _numbers() if number <= _LAST_RANGE_QUERY)
"""BerlinMOD/R; the others are BerlinMOD/NN."""


def query_number(name: str) -> int:
    """The number of a query by its name: `q5`, `Q5` and `q05` are the same."""
    match = _NAME.fullmatch(name.strip())
    if match is None or int(match[1]) not in _numbers():
        raise UserError(
            f"there is no query {name!r}: {', '.join(QUERIES)}, or r, nn, all for the sets of them"
        )
    return int(match[1])


def is_range_query(name: str) -> bool:
    """Whether it is one of BerlinMOD/R."""
    return query_number(name) <= _LAST_RANGE_QUERY


def chosen_queries(names: str) -> list[str]:
    """The queries of a list such as `q1,q6`, `r`, `nn` or `all`, each once, in the order given."""
    found: list[str] = []
    for name in names.split(","):
        one = name.strip().lower()
        sets = {
            "all": QUERIES,
            "r": RANGE_QUERIES,
            "nn": tuple(query for query in QUERIES if query not in RANGE_QUERIES),
        }
        found += sets.get(one) or (f"q{query_number(one)}",)
    return list(dict.fromkeys(found))


def query_text(name: str, kind: str) -> str | None:
    """A text of a query: `oba`, `tba`, `paper.oba`, `paper.tba` or `places`; `None` where there is none."""
    folder = files(__package__) / f"q{query_number(name):02d}"
    kinds = (kind, "both") if kind in ("oba", "tba") else (kind,)
    found = (folder / f"{one}.sql" for one in kinds)
    return next((file.read_text(encoding="utf-8") for file in found if file.is_file()), None)
