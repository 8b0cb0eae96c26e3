"""Lengths of time as SQL writes them, in microseconds."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from causeway.streaming_tables.language.cursor import Cursor
from causeway.streaming_tables.language.errors import StatementError
from causeway.streaming_tables.language.tokens import Kind, string_value, tokenize

__all__ = ["SECOND", "is_unit", "read_duration"]

SECOND: Final = 1_000_000
_UNITS: Final = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": SECOND,
    "MINUTE": 60 * SECOND,
    "HOUR": 3_600 * SECOND,
    "DAY": 86_400 * SECOND,
    "WEEK": 7 * 86_400 * SECOND,
}
_CALENDAR_UNITS: Final = ("MONTH", "YEAR", "QUARTER")
_FIELDS: Final = ("DAY", "HOUR", "MINUTE", "SECOND")
_LIMITS: Final = {"HOUR": 23, "MINUTE": 59, "SECOND": 59}
_NUMBER: Final = re.compile(r"\s*([+-]?)(\d+(?:\.\d*)?|\.\d+)\s*")


def _unit(word: str) -> str:
    return word[:-1] if word.endswith("S") else word


def is_unit(word: str) -> bool:
    """Whether an upper-case word is a unit of time, a month or a year included."""
    return _unit(word) in _UNITS or _unit(word) in _CALENDAR_UNITS


def read_duration(cursor: Cursor) -> int:
    """Read `INTERVAL …` and give its microseconds. A number without a unit is seconds.

    Months, quarters and years are refused: they have no fixed length.
    """
    cursor.expect("INTERVAL")
    sign = _sign(cursor)
    first = cursor.peek()
    if first.kind not in {Kind.STRING, Kind.NUMBER}:
        raise cursor.unexpected("a length of time such as '5' MINUTE")
    if first.kind is Kind.STRING and _NUMBER.fullmatch(string_value(first)) is None:
        return sign * _from_string(cursor)
    if not is_unit(cursor.peek(1).word()):
        amount = _amount(cursor, "SECOND")
        return sign * amount
    if cursor.peek(2).word() == "TO":
        return sign * _from_fields(cursor)
    total = 0
    while True:
        total += sign * _amount_with_unit(cursor)
        ahead = 1 if cursor.peek().symbol() in {"-", "+"} else 0
        value, unit = cursor.peek(ahead), cursor.peek(ahead + 1)
        if value.kind not in {Kind.STRING, Kind.NUMBER} or not is_unit(unit.word()):
            return total
        sign = _sign(cursor)


def _sign(cursor: Cursor) -> int:
    if cursor.symbol("-"):
        return -1
    cursor.symbol("+")
    return 1


def _amount_with_unit(cursor: Cursor) -> int:
    word = cursor.peek(1).word()
    unit = _unit(word)
    if unit in _CALENDAR_UNITS:
        raise cursor.error(
            f"a {unit.lower()} has no fixed length; write it in WEEK, DAY, HOUR, MINUTE or SECOND",
            cursor.position + 1,
        )
    amount = _amount(cursor, unit)
    cursor.next()
    return amount


def _amount(cursor: Cursor, unit: str) -> int:
    """Read the number before a unit."""
    position, token = cursor.position, cursor.next()
    written = string_value(token) if token.kind is Kind.STRING else token.text
    found = _NUMBER.fullmatch(written)
    if found is None:
        raise cursor.error(f"{token.text} is not a number of {unit.lower()}s", position)
    sign, digits = found.groups()
    if "." in digits and unit != "SECOND":
        raise cursor.error(f"only seconds can have a fraction; {token.text} {unit} has one", position)
    exact = Decimal(digits) * _UNITS[unit]
    if exact != int(exact):
        raise cursor.error(f"{token.text} is finer than a microsecond", position)
    return -int(exact) if sign == "-" else int(exact)


def _from_fields(cursor: Cursor) -> int:
    """`'1 2:03:04.5' DAY TO SECOND` and its shorter relatives."""
    position, token = cursor.position, cursor.next()
    first, _, last = _unit(cursor.next().word()), cursor.next(), _unit(cursor.next().word())
    if first not in _FIELDS or last not in _FIELDS or _FIELDS.index(first) >= _FIELDS.index(last):
        raise cursor.error(
            f"{first} TO {last} is not a length of time; from DAY, HOUR or MINUTE to a finer unit is",
            position + 1,
        )
    fields = _FIELDS[_FIELDS.index(first) : _FIELDS.index(last) + 1]
    pattern = "".join(
        {"DAY": r"(\d+)", "SECOND": r"(\d+(?:\.\d{0,6})?)"}.get(field, r"(\d+)")
        + ("" if field == last else r"\s+" if field == "DAY" else ":")
        for field in fields
    )
    value = string_value(token) if token.kind is Kind.STRING else token.text
    found = re.fullmatch(rf"\s*([+-]?)\s*{pattern}\s*", value)
    if found is None:
        raise cursor.error(f"{token.text} does not have the form of {first} TO {last}", position)
    total = Decimal(0)
    for index, field in enumerate(fields):
        amount = Decimal(found.group(index + 2))
        if index > 0 and amount >= _LIMITS[field] + 1:
            raise cursor.error(f"{token.text}: at most {_LIMITS[field]} {field.lower()}s fit here", position)
        total += amount * _UNITS[field]
    return -int(total) if found.group(1) == "-" else int(total)


def _from_string(cursor: Cursor) -> int:
    """`INTERVAL '1 hour 30 minutes'`: number and units inside one string."""
    position, token = cursor.position, cursor.next()
    if is_unit(cursor.peek().word()) and cursor.peek(1).word() == "TO":
        cursor.position = position
        return _from_fields(cursor)
    value = string_value(token)
    words = [part for part in tokenize(value) if part.kind is not Kind.SPACE]
    inner = Cursor(value, words)
    inner.accept("INTERVAL")
    total, pairs = 0, 0
    try:
        while not inner.done:
            sign = _sign(inner)
            if inner.peek().kind is not Kind.NUMBER or not is_unit(inner.peek(1).word()):
                raise cursor.error(f"{token.text} is not a length of time such as '5' MINUTE", position)
            total += sign * _amount_with_unit(inner)
            pairs += 1
    except StatementError as error:
        raise cursor.error(error.message, position) from None
    if not pairs:
        raise cursor.error(f"{token.text} is not a length of time such as '5' MINUTE", position)
    return total
