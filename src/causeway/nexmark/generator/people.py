"""Who registers: names and addresses, the same in both models."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from causeway.nexmark.generator.text import digits, drawn, joined, letters
from causeway.runtime.randomness import U64

__all__ = ["ACTIVE_PEOPLE", "cities", "credit_cards", "email_addresses", "names", "states"]

ACTIVE_PEOPLE: Final = 1000
"""Only so many of the newest persons sell and bid."""

_STATES: Final = ("AZ", "CA", "ID", "OR", "WA", "WY")
_CITIES: Final = (
    "Bellingham", "Casper", "Eugene", "Flagstaff", "Fresno", "Laramie", "Medford", "Oakland", "Olympia",
    "Pocatello", "Sacramento", "Salem", "San Diego", "Spokane", "Tacoma", "Tucson", "Twin Falls", "Yuma",
)  # fmt: skip
_FIRST_NAMES: Final = (
    "Ada", "Ali", "Bruno", "Chidi", "Dora", "Edgar", "Fatima", "Grace", "Hana", "Ines", "Jonas", "Kofi",
    "Lena", "Mei", "Nadia", "Oscar", "Priya", "Quentin", "Rosa", "Sven", "Tomas", "Uma", "Viktor", "Wanda",
)  # fmt: skip
_LAST_NAMES: Final = (
    "Adams", "Bauer", "Costa", "Dubois", "Evans", "Fischer", "Garcia", "Hansen", "Ito", "Jansen", "Kaya",
    "Lopez", "Meyer", "Novak", "Okafor", "Petrov", "Quinn", "Rossi", "Sato", "Tanaka", "Ueda", "Weber",
)  # fmt: skip

# Each kind of draw has a number of its own; those of one person start here, the models' own follow.
_FIRST, _LAST, _MAILBOX, _HOST, _CITY, _STATE, _CARD = range(7)


def names(persons: U64) -> pa.StringArray:
    """First and last name; like all here, of the persons that have these keys."""
    return joined(drawn(persons, _FIRST, _FIRST_NAMES), " ", drawn(persons, _LAST, _LAST_NAMES))


def email_addresses(persons: U64) -> pa.StringArray:
    """Eight letters at eight letters."""
    return joined(letters(persons, _MAILBOX, 1, 1), "@", letters(persons, _HOST, 1, 1), ".com")


def credit_cards(persons: U64) -> pa.StringArray:
    """Four times four digits."""
    first, second, third, fourth = (digits(persons, _CARD + group, 4) for group in range(4))
    return joined(first, " ", second, " ", third, " ", fourth)


def cities(persons: U64) -> pa.DictionaryArray:
    """A city in the west of the United States."""
    return drawn(persons, _CITY, _CITIES)


def states(persons: U64) -> pa.DictionaryArray:
    """One of six states; chosen on its own, as everywhere in NEXMark, and not where the city is."""
    return drawn(persons, _STATE, _STATES)
