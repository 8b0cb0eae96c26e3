"""Dates, against Python's calendar."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from causeway.berlinmod.exchange.moments import moment_texts, read_moments

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
milliseconds = st.integers(-62_135_596_800_000, 253_402_300_799_999)


def of(texts: list[str]) -> list[int | None]:
    values, good = read_moments(pa.array(texts, pa.string()))
    return [int(value) if fine else None for value, fine in zip(values, good, strict=True)]


@given(st.lists(milliseconds, max_size=20))
def test_texts_are_those_of_pythons_calendar_and_read_again(values: list[int]) -> None:
    texts = moment_texts(np.array(values, np.int64)).to_pylist()
    for value, text in zip(values, texts, strict=True):
        moment = EPOCH + timedelta(milliseconds=value)
        assert text == f"{moment:%Y-%m-%d-%H:%M:%S}.{moment.microsecond // 1000:03d}".rjust(23, "0")
    assert of(texts) == values


@given(st.datetimes(min_value=datetime(1, 1, 3), max_value=datetime(9999, 12, 29)), st.integers(-840, 840))
def test_what_others_write_is_read(moment: datetime, minutes: int) -> None:
    zone = timezone(timedelta(minutes=minutes))
    texts = [f"{moment.isoformat(timespec='milliseconds')}", moment.replace(tzinfo=zone).isoformat(" ")]
    found = of(texts)
    exact = (moment.replace(tzinfo=UTC) - EPOCH) // timedelta(milliseconds=1)
    micros = (moment.replace(tzinfo=zone) - EPOCH) // timedelta(microseconds=1)
    assert found == [exact, (micros + 500) // 1000]


def test_the_short_forms_of_the_downloads() -> None:
    midnight = of(["2007-05-28-00:00:00.000"])[0]
    assert midnight is not None
    assert of(["2007-05-28", "2007-05-28 09:30", "2007-05-28-09:30:01", "2007-05-28 09:30:01.5+02"]) == [
        midnight,
        midnight + 34_200_000,
        midnight + 34_201_000,
        midnight + 34_201_500 - 7_200_000,
    ]


@given(st.text(alphabet="0123456789-: .T+Zé", max_size=26))
@example("2007-02-29")
@example("2007-13-01")
@example("2007-05-28-24:00:00")
@example("2007-05-28-09:30:00.")
@example("2007-05-28-09:3")
@example("")
def test_anything_else_is_no_moment(text: str) -> None:
    (found,) = of([text])
    if found is None:
        return
    date, rest = text[:10], text[11:]
    moment = datetime.fromisoformat(f"{date}T{rest}" if rest else date)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    assert abs((moment - EPOCH) / timedelta(milliseconds=1) - found) <= 0.5
