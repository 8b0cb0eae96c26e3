"""Two answers compared as sets of rows; what is computed is compared with a tolerance."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

__all__ = ["Checked", "compare"]

_SHOWN: Final = 5
_METRES: Final = 1e-3
_RELATIVE: Final = 1e-9
_MS: Final = 2.0
"""Times at which a distance passes a limit depend on the last digits where two movements are alike."""
_COMPUTED: Final[Mapping[str, tuple[str, ...]]] = {"q3": ("Pos",), "q10": ("Pos",)}
"""Columns that are not those of a relation; `Dist`, `begin` and `end` never are."""


@dataclass(frozen=True)
class Checked:
    """The outcome of a comparison."""

    rows: int
    """Rows that both have."""
    missing: int
    extra: int
    differences: tuple[str, ...]
    """The first of both, in words."""

    @property
    def passed(self) -> bool:
        """Whether both are the same."""
        return not self.missing and not self.extra


def compare(query: str, found: pa.Table, expected: pa.Table) -> Checked:
    """Compare an answer with what is expected."""
    names = expected.column_names
    if sorted(names) != sorted(found.column_names):
        difference = f"columns {', '.join(found.column_names)} instead of {', '.join(names)}"
        return Checked(0, 0, 1, (difference,))
    computed = [name for name in names if name in ("Dist", "begin", "end", *_COMPUTED.get(query, ()))]
    keys = [name for name in names if name not in computed]
    if "begin" in computed:
        return _compare_intervals(_intervals(found, keys), _intervals(expected, keys))
    mine, theirs = _by_key(found, keys, computed), _by_key(expected, keys, computed)
    same = 0
    missing: list[Any] = []
    extra: list[Any] = []
    for key in mine.keys() | theirs.keys():
        left = list(mine.get(key, ()))
        for value in theirs.get(key, ()):
            place = next((k for k, one in enumerate(left) if _alike(one, value)), None)
            if place is None:
                missing.append((key, value))
            else:
                same += 1
                del left[place]
        extra += [(key, value) for value in left]
    return Checked(same, len(missing), len(extra), _words(missing, extra))


def _words(missing: list[Any], extra: list[Any]) -> tuple[str, ...]:
    texts = [f"missing: {str(one)[:160]}" for one in sorted(missing, key=str)[:_SHOWN]]
    return tuple(texts + [f"not expected: {str(one)[:160]}" for one in sorted(extra, key=str)[:_SHOWN]])


def _by_key(table: pa.Table, keys: list[str], computed: list[str]) -> dict[Any, list[Any]]:
    rows: dict[Any, list[Any]] = defaultdict(list)
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    for k in range(table.num_rows):
        key = tuple(_fixed(columns[name][k]) for name in keys)
        rows[key].append([columns[name][k] for name in computed])
    return rows


def _fixed(value: Any) -> Any:
    """A value that can be a key."""
    if isinstance(value, dict):
        return tuple((name, _fixed(one)) for name, one in sorted(value.items()))
    return tuple(_fixed(one) for one in value) if isinstance(value, list) else value


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and "begin_closed" in one:
        return _same_movement(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_alike(one[name], other[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= max(_METRES, _RELATIVE * abs(other))
    return bool(one == other)


def _same_movement(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two moving points are defined at the same times, and are at the same places then."""
    mine, theirs = _pieces(one), _pieces(other)
    if len(mine) != len(theirs):
        return False
    for a, b in zip(mine, theirs, strict=True):
        if abs(a[0][0] - b[0][0]) > _MS or abs(a[-1][0] - b[-1][0]) > _MS:
            return False
        inner = [instant for instant in a if b[0][0] <= instant[0] <= b[-1][0]]
        if any(abs(x - px) > 0.2 or abs(y - py) > 0.2 for t, x, y in inner for px, py in [_place(b, t)]):
            return False
    return True


def _pieces(value: dict[str, Any]) -> list[list[tuple[float, float, float]]]:
    """The pieces, joined where less than two milliseconds part them; shorter ones are left out."""
    instants = list(zip(value["t"], value["x"], value["y"], strict=True))
    firsts = [*value["first"], len(instants)]
    pieces = [instants[a:b] for a, b in itertools.pairwise(firsts)]
    joined: list[list[tuple[float, float, float]]] = []
    for piece in pieces:
        if joined and piece[0][0] - joined[-1][-1][0] <= _MS:
            joined[-1] = joined[-1] + piece
        else:
            joined.append(piece)
    return [piece for piece in joined if piece[-1][0] - piece[0][0] > _MS]


def _place(piece: list[tuple[float, float, float]], t: float) -> tuple[float, float]:
    for (t0, x0, y0), (t1, x1, y1) in itertools.pairwise(piece):
        if t0 <= t <= t1 and t1 > t0:
            part = (t - t0) / (t1 - t0)
            return x0 + part * (x1 - x0), y0 + part * (y1 - y0)
    return piece[0][1:]


Interval = tuple[float, float]


def _intervals(table: pa.Table, keys: list[str]) -> dict[Any, list[Interval]]:
    found: dict[Any, list[Interval]] = defaultdict(list)
    columns = {name: table.column(name).to_pylist() for name in (*keys, "begin", "end")}
    for k in range(table.num_rows):
        key = tuple(_fixed(columns[name][k]) for name in keys)
        found[key].append((columns["begin"][k], columns["end"][k]))
    return {key: sorted(one) for key, one in found.items()}


def _compare_intervals(mine: dict[Any, list[Interval]], theirs: dict[Any, list[Interval]]) -> Checked:
    """Each interval must have one of the other side with both ends within two milliseconds."""
    same = 0
    missing: list[Any] = []
    extra: list[Any] = []
    for key in mine.keys() | theirs.keys():
        a, b = mine.get(key, []), theirs.get(key, [])
        lacking = _unmatched(b, a)
        missing += [(key, one) for one in lacking]
        extra += [(key, one) for one in _unmatched(a, b)]
        same += len(b) - len(lacking)
    return Checked(same, len(missing), len(extra), _words(missing, extra))


def _unmatched(ones: list[Interval], others: list[Interval]) -> list[Interval]:
    left: list[Interval] = []
    k = 0
    for begin, end in ones:
        while k < len(others) and others[k][1] < end - _MS:
            k += 1
        near = others[k : k + 2]
        if not any(abs(b - begin) <= _MS and abs(e - end) <= _MS for b, e in near) and end - begin > _MS:
            left.append((begin, end))
    return left
