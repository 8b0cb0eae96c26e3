"""Plain scans that differ from an earlier one in constants only, without asking Spark again.

Spark needs about 10 ms to parse and analyze a statement. The *shape* of a statement is its text with markers
in the place of constants, one for each type, together with the session's settings. When a shape that is a
plain scan is met for the second time, Spark analyzes it once more, with a constant of our own for each
marker. From its plan it is known where each constant goes, and later statements only fill them in.

A shape is used only if each of its constants ends up, unchanged, in a condition or in the limit of the scan,
and if filling in gives the very scan that Spark's plan of the statement itself gives. What Spark's analysis
makes of such a constant depends on its type and not on its value: a whole number of the column's type or
widened to it, or a string compared with a string. The constants of our own are as large as their types allow,
so a place where the value matters (a number that must fit a smaller type) is refused. Numbers with a sign, a
fraction or an exponent, and strings with escapes stay in the shape's text.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from causeway.streaming_tables.engine.plans.conditions import Condition
from causeway.streaming_tables.engine.plans.scans import Scan
from causeway.streaming_tables.language.tokens import Kind, Token, tokenize

__all__ = ["Shape", "ShapeCache", "shape_of"]

_MOST_SHAPES: Final = 512
_LONGEST_TEXT: Final = 20_000
_WHOLE: Final = re.compile(r"[0-9]+[lL]?")
_PLAIN_STRING: Final = re.compile(r"'[^'\\]*'")
_INT_MAX: Final = 2**31 - 1
_LONG_MAX: Final = 2**63 - 1
_MARK: Final = "\0"
"""Begins a marker; a statement that has the character itself has no shape."""


@dataclass(frozen=True)
class Shape:
    """A statement's text with markers for its constants, and the constants."""

    parts: tuple[str, ...]
    """The text before, between and after the constants."""
    types: str
    """A letter for each constant: i and l for whole numbers by their size, L with the suffix, s for text."""
    values: tuple[Any, ...]
    settings: str
    """The settings of Spark's session, which its analysis depends on."""

    @property
    def key(self) -> tuple[tuple[str, ...], str, str]:
        """What two statements of one shape have in common."""
        return self.parts, self.types, self.settings

    def probe(self) -> tuple[str, tuple[Any, ...]]:
        """The statement with constants of our own, and these."""
        values = tuple(_PROBES[kind](number) for number, kind in enumerate(self.types))
        texts = (_written(value, kind) for value, kind in zip(values, self.types, strict=True))
        return self.parts[0] + "".join(map("".join, zip(texts, self.parts[1:], strict=True))), values


_PROBES: Final[dict[str, Callable[[int], Any]]] = {
    "i": lambda number: _INT_MAX - 7 - number,
    "l": lambda number: _LONG_MAX - 7 - number,
    "L": lambda number: _LONG_MAX - 7 - number,
    "s": lambda number: f"causeway constant {number}",
}


def _written(value: Any, kind: str) -> str:
    return f"'{value}'" if kind == "s" else f"{value}L" if kind == "L" else str(value)


def shape_of(text: str, settings: str) -> Shape | None:
    """The shape of a statement of Spark's; None if it is too long or may be changed before it is parsed."""
    if len(text) > _LONGEST_TEXT or _MARK in text or "$" in text:
        return None
    parts: list[str] = []
    types: list[str] = []
    values: list[Any] = []
    text_so_far: list[str] = []
    before = ""
    for token in tokenize(text):
        found = None if before in ("-", "+", ".") else _constant(token)
        if found is None:
            text_so_far.append(token.text)
        else:
            parts.append("".join(text_so_far))
            text_so_far = []
            types.append(found[0])
            values.append(found[1])
        if token.kind not in (Kind.SPACE, Kind.COMMENT):
            before = token.text
    parts.append("".join(text_so_far))
    return Shape(tuple(parts), "".join(types), tuple(values), settings)


def _constant(token: Token) -> tuple[str, Any] | None:
    """Type and value of a constant that may differ within a shape."""
    if token.kind is Kind.STRING and _PLAIN_STRING.fullmatch(token.text):
        return "s", token.text[1:-1]
    if token.kind is not Kind.NUMBER or not _WHOLE.fullmatch(token.text):
        return None
    suffixed = token.text[-1] in "lL"
    value = int(token.text[:-1] if suffixed else token.text)
    if value > _LONG_MAX:
        return None
    return "L" if suffixed else "i" if value <= _INT_MAX else "l", value


class ShapeCache:
    """The shapes that a connection has met, the most recently used ones. Thread-safe."""

    def __init__(self, analyze: Callable[[str], Scan | None]) -> None:
        """`analyze` gives the plain scan that Spark's own plan of a statement is, if it is one."""
        self._analyze = analyze
        self._lock = threading.Lock()
        self._met: OrderedDict[Any, int] = OrderedDict()
        self._templates: OrderedDict[Any, _Template | None] = OrderedDict()

    def scan(self, shape: Shape) -> Scan | None:
        """The scan of a statement, if its shape is known."""
        with self._lock:
            template = self._templates.get(shape.key)
            if template is None:
                return None
            self._templates.move_to_end(shape.key)
        return template.filled(shape.values)

    def learn(self, shape: Shape, scan: Scan) -> None:
        """Take in that Spark's plan of a statement of this shape is that scan."""
        key = shape.key
        with self._lock:
            if key in self._templates:
                return
            self._met[key] = self._met.pop(key, 0) + 1
            if len(self._met) > _MOST_SHAPES:
                self._met.popitem(last=False)
            if self._met[key] < 2:
                return
        template = self._template(shape, scan)
        with self._lock:
            self._met.pop(key, None)
            self._templates[key] = template
            if len(self._templates) > _MOST_SHAPES:
                self._templates.popitem(last=False)

    def _template(self, shape: Shape, scan: Scan) -> _Template | None:
        """The shape's scan with places for constants; None if a constant is used in any other way."""
        text, probes = shape.probe()
        if any(str(probe) in part for probe in probes for part in shape.parts):
            return None
        probed = self._analyze(text)
        if probed is None:
            return None
        template = _Template(probed, probes)
        if template.used != set(probes) or template.filled(shape.values) != scan:
            return None
        return template


class _Template:
    """A scan with constants of our own, to be replaced by those of a statement."""

    def __init__(self, scan: Scan, probes: tuple[Any, ...]) -> None:
        self._scan = scan
        self._probes = probes
        found = [one.value for conjunction in scan.conditions for one in conjunction]
        flat = [item for value in found for item in (value if isinstance(value, tuple) else (value,))]
        self.used = set(probes) & {*flat, scan.limit}
        """Those of the constants that the scan has."""

    def filled(self, values: tuple[Any, ...]) -> Scan:
        """The scan with these constants."""
        places = dict(zip(self._probes, values, strict=True))
        conditions = tuple(
            tuple(Condition(one.column, one.operator, _filled(one.value, places)) for one in conjunction)
            for conjunction in self._scan.conditions
        )
        return replace(self._scan, conditions=conditions, limit=_filled(self._scan.limit, places))


def _filled(value: Any, places: Mapping[Any, Any]) -> Any:
    if isinstance(value, tuple):
        return tuple(_filled(item, places) for item in value)
    if value is None or value not in places:
        return value
    # A whole number that Spark widens to a fraction.
    return float(places[value]) if isinstance(value, float) else places[value]
