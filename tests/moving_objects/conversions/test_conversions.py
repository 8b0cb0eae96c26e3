"""WKB against shapely, MEOS binary and MF-JSON against PyMEOS, each there and back."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa
import pymeos
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.moving_objects.movements import (
    START,
    Movement,
    Piece,
    columns,
    movement,
    movements,
)

from causeway.moving_objects.conversions.meos import decode_meos, encode_meos
from causeway.moving_objects.conversions.mfjson import decode_mfjson, encode_mfjson
from causeway.runtime.errors import UserError

pymeos.pymeos_initialize("UTC")


def _text(one: Movement) -> str:
    """A movement as MEOS writes it."""
    parts = []
    for piece in one:
        instants = [f"Point({x} {y})@{_time(t)}" for t, x, y in piece.instants]
        parts.append(
            f"{'[' if piece.begin_closed else '('}{', '.join(instants)}{']' if piece.end_closed else ')'}"
        )
    return f"{{{', '.join(parts)}}}"


def _time(ms: float) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f+00")


def _same(found: pymeos.TGeomPoint, expected: Movement) -> bool:
    """MEOS makes pieces that meet in time and place one, and a single sequence no set."""
    return bool(
        found.to_sequenceset(pymeos.TInterpolation.LINEAR) == pymeos.TGeomPointSeqSet(_text(expected))
    )


@settings(max_examples=60)
@given(st.lists(movements(), min_size=1, max_size=4))
def test_meos_binary_is_read_by_meos_and_by_us(rows: list[Movement]) -> None:
    for srid in (0, 4326):
        binary = encode_meos(columns(rows), srid)
        for one, value in zip(rows, binary.to_pylist(), strict=True):
            assert (value is None) == (not one)
            if one:
                read = pymeos.TGeomPoint.from_wkb(value)
                assert read.srid() == srid
                expected = pymeos.TGeomPointSeqSet(f"SRID={srid};{_text(one)}" if srid else _text(one))
                assert read.to_sequenceset(pymeos.TInterpolation.LINEAR) == expected
        filled = [one for one in rows if one]
        again = decode_meos(binary.drop_null())
        assert [movement(again, r) for r in range(len(again))] == filled


@settings(max_examples=60)
@given(st.lists(movements().filter(bool), min_size=1, max_size=4))
def test_what_meos_writes_is_read(rows: list[Movement]) -> None:
    theirs = [pymeos.TGeomPointSeqSet(_text(one)) for one in rows]
    for again in (
        decode_meos(pa.array([one.as_wkb() for one in theirs])),
        decode_mfjson(pa.array([one.as_mfjson() for one in theirs])),
    ):
        for r, one in enumerate(theirs):
            assert pymeos.TGeomPointSeqSet(_text(movement(again, r))) == one


@settings(max_examples=60)
@given(st.lists(movements(), min_size=1, max_size=4))
def test_mf_json_there_and_back(rows: list[Movement]) -> None:
    text = encode_mfjson(columns(rows))
    assert text.null_count == sum(not one for one in rows)
    again = decode_mfjson(text.drop_null())
    assert [movement(again, r) for r in range(len(again))] == [one for one in rows if one]
    for one, value in zip(rows, text.to_pylist(), strict=True):
        if len(one) == 1:
            assert _same(pymeos.TGeomPoint.from_mfjson(value), one)


def test_mf_json_as_the_standard_has_it() -> None:
    one = (Piece(((START, 1, 2), (START + 1500, 3, 4)), True, False),)
    assert encode_mfjson(columns([one])).to_pylist() == [
        '{"type":"MovingPoint","datetimes":["2007-05-28T00:00:00.000+00:00","2007-05-28T00:00:01.500+00:00"],'
        '"coordinates":[[1,2],[3,4]],"lower_inc":true,"upper_inc":false,"interpolation":"Linear"}'
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "expected a MovingPoint"),
        ("[", "is not MF-JSON"),
        ('{"datetimes":["noon"],"coordinates":[[1,2]]}', "must be texts such as"),
        ('{"datetimes":["2007-05-28T00:00:00Z"],"coordinates":[[1,2,3]]}', "two numbers an instant"),
        ('{"datetimes":["2007-05-28T00:00:00Z"],"coordinates":[]}', "equal lengths"),
        ('{"datetimes":[],"coordinates":[],"interpolation":"Quadratic"}', "only linear"),
    ],
)
def test_wrong_mf_json(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        decode_mfjson(pa.array([text]))


@settings(max_examples=60)
@given(movements().filter(bool), st.sampled_from((0, 4326)), st.data())
def test_meos_binary_that_is_cut_short(one: Movement, srid: int, data: st.DataObject) -> None:
    whole = encode_meos(columns([one]), srid)[0].as_py()
    cut = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(UserError, match=r"value 1 .* cut short"):
        decode_meos(pa.array([whole, whole[:cut]]))
    with pytest.raises(UserError, match="bytes follow"):
        decode_meos(pa.array([whole + whole[: cut + 1]]))


@settings(max_examples=200)
@given(movements().filter(bool), st.sampled_from((0, 4326)), st.data())
def test_meos_binary_with_a_wrong_byte(one: Movement, srid: int, data: st.DataObject) -> None:
    """It is another movement, or the error is ours."""
    changed = bytearray(encode_meos(columns([one]), srid)[0].as_py())
    place = data.draw(st.integers(0, len(changed) - 1))
    changed[place] = data.draw(st.integers(0, 255))
    try:
        assert len(decode_meos(pa.array([bytes(changed)]))) == 1
    except UserError as wrong:
        assert "MEOS binary" in str(wrong) or "moving point" in str(wrong)


def test_meos_binary_of_another_type() -> None:
    whole = encode_meos(columns([(Piece(((0, 1, 2), (1000, 3, 4)), True, True),)]))[0].as_py()
    with pytest.raises(UserError, match="not a tgeompoint"):
        decode_meos(pa.array([whole[:1] + b"\x01" + whole[2:]]))
