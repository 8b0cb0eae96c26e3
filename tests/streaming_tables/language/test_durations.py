"""Lengths of time in microseconds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from causeway.streaming_tables.language import StatementError
from causeway.streaming_tables.language.cursor import Cursor
from causeway.streaming_tables.language.reading.durations import read_duration
from causeway.streaming_tables.language.tokens import significant, tokenize

SECOND = 1_000_000
MINUTE, HOUR, DAY, WEEK = 60 * SECOND, 3600 * SECOND, 86400 * SECOND, 604800 * SECOND


def read(text: str) -> int:
    cursor = Cursor(text, significant(tokenize(text)))
    length = read_duration(cursor)
    cursor.expect_end()
    return length


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("INTERVAL '5' MINUTE", 5 * MINUTE),
        ("interval 5 minutes", 5 * MINUTE),
        ('INTERVAL "5" MINUTE', 5 * MINUTE),
        ("INTERVAL '2' WEEK", 2 * WEEK),
        ("INTERVAL 1 DAY", DAY),
        ("INTERVAL '1' HOUR", HOUR),
        ("INTERVAL '1.5' SECOND", 1_500_000),
        ("INTERVAL .25 SECONDS", 250_000),
        ("INTERVAL 7 MILLISECONDS 3 MICROSECONDS", 7_003),
        ("INTERVAL 1 DAY 2 HOURS 3 MINUTES", DAY + 2 * HOUR + 3 * MINUTE),
        ("INTERVAL '1' DAY '2' HOUR", DAY + 2 * HOUR),
        ("INTERVAL 5 MINUTES -3 SECONDS", 5 * MINUTE - 3 * SECOND),
        ("INTERVAL '1:30' MINUTE TO SECOND", 90 * SECOND),
        ("INTERVAL '90:00.5' MINUTE TO SECOND", 90 * MINUTE + 500_000),
        ("INTERVAL '2:03:04' HOUR TO SECOND", 2 * HOUR + 3 * MINUTE + 4 * SECOND),
        ("INTERVAL '25:10' HOUR TO MINUTE", 25 * HOUR + 10 * MINUTE),
        ("INTERVAL '1 02:03:04.000005' DAY TO SECOND", DAY + 2 * HOUR + 3 * MINUTE + 4 * SECOND + 5),
        ("INTERVAL '1 2' DAY TO HOUR", DAY + 2 * HOUR),
        ("INTERVAL '-1:30' MINUTE TO SECOND", -90 * SECOND),
        ("INTERVAL -'1:30' MINUTE TO SECOND", -90 * SECOND),
        ("INTERVAL '-5' MINUTE", -5 * MINUTE),
        ("INTERVAL -5 MINUTE", -5 * MINUTE),
        ("INTERVAL '1 hour 30 minutes'", 90 * MINUTE),
        ("INTERVAL 3", 3 * SECOND),
        ("INTERVAL '3'", 3 * SECOND),
        ("INTERVAL 0 SECOND", 0),
    ],
)
def test_lengths(text: str, length: int) -> None:
    assert read(text) == length


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("INTERVAL", 9, "the statement ends here"),
        ("INTERVAL MINUTE", 10, "expected a length of time such as '5' MINUTE"),
        ("INTERVAL '1' MONTH", 14, "a month has no fixed length"),
        ("INTERVAL 2 YEARS", 12, "a year has no fixed length"),
        ("INTERVAL 1 DAY 1 QUARTER", 18, "a quarter has no fixed length"),
        ("INTERVAL '1-2' YEAR TO MONTH", 16, "YEAR TO MONTH is not a length of time"),
        ("INTERVAL '1' SECOND TO MINUTE", 14, "SECOND TO MINUTE is not a length of time"),
        ("INTERVAL '1.5' MINUTE", 10, "only seconds can have a fraction"),
        ("INTERVAL '1:90' MINUTE TO SECOND", 10, "at most 59 seconds fit here"),
        ("INTERVAL '1' MINUTE TO SECOND", 10, "does not have the form of MINUTE TO SECOND"),
        ("INTERVAL 'soon'", 10, "'soon' is not a length of time"),
        ("INTERVAL '1 month'", 10, "a month has no fixed length"),
        ("INTERVAL '1 fortnight'", 10, "is not a length of time"),
        ("INTERVAL ''", 10, "is not a length of time"),
        ("INTERVAL 'five' MINUTE", 10, "is not a length of time"),
        ("INTERVAL 0.0000001 SECOND", 10, "finer than a microsecond"),
        ("INTERVAL 3L", 10, "3L is not a number of seconds"),
    ],
)
def test_what_is_no_length(text: str, column: int, message: str) -> None:
    with pytest.raises(StatementError) as caught:
        read(text)
    assert message in caught.value.message
    assert (caught.value.line, caught.value.column) == (1, column)


@given(
    st.integers(0, 10_000),
    st.integers(0, 23),
    st.integers(0, 59),
    st.integers(0, 59),
    st.integers(0, 999_999),
)
def test_a_length_in_two_forms(days: int, hours: int, minutes: int, seconds: int, micros: int) -> None:
    length = days * DAY + hours * HOUR + minutes * MINUTE + seconds * SECOND + micros
    assert read(f"INTERVAL '{days} {hours}:{minutes}:{seconds}.{micros:06}' DAY TO SECOND") == length
    assert (
        read(f"INTERVAL {days} DAYS {hours} HOURS {minutes} MINUTES '{seconds}.{micros:06}' SECONDS")
        == length
    )
