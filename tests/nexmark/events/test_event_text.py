"""Events as text: what is an event is read, what is none is set aside with its line and the reason."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causeway.nexmark.events.event_text import parse_json, parse_mixed_json, parse_xml
from causeway.nexmark.events.plain_json import read_plain_objects
from causeway.nexmark.model import MODERN, PAPER

BID = MODERN.streams["bid"]
TEXTS = ("channel", "url", "extra")
GOOD: dict[str, Any] = {
    "auction": 1,
    "bidder": 2,
    "price": 3,
    "channel": "a",
    "url": "u",
    "dateTime": 1_436_918_400_123,
    "extra": "e\u00e9",
}


def lines(*rows: object) -> bytes:
    return "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows).encode()


def test_plain_objects() -> None:
    parsed = parse_json(lines(GOOD, GOOD | {"extra": None}), BID)
    assert parsed.rejects == ()
    assert parsed.events.schema == BID
    assert parsed.events.column("dateTime").cast("int64").to_pylist() == [GOOD["dateTime"]] * 2
    assert parsed.events.column("extra").to_pylist() == [GOOD["extra"], None]


BAD = [
    ("{", "Expecting"),
    ("[1]", "not an object"),
    ("", "Expecting value"),
    (GOOD | {"price": "much"}, "price is no whole number: 'much'"),
    (GOOD | {"price": 1.5}, "price is no whole number: 1.5"),
    (GOOD | {"price": True}, "price is no whole number: True"),
    (GOOD | {"price": 1 << 70}, "price is no whole number"),
    (GOOD | {"dateTime": "yesterday"}, "dateTime is no time: 'yesterday'"),
    (GOOD | {"extra": 7}, "extra is no text: 7"),
    ({name: value for name, value in GOOD.items() if name != "auction"}, "auction is missing"),
    (GOOD | {"auction": None}, "auction is missing"),
]


@pytest.mark.parametrize(("line", "reason"), BAD)
def test_a_bad_line_is_set_aside(line: object, reason: str) -> None:
    parsed = parse_json(lines(GOOD, line, GOOD), BID)
    assert parsed.events.num_rows == 2
    assert parsed.lines.tolist() == [0, 2]
    (reject,) = parsed.rejects
    assert reject.line == 2
    assert reason in reject.reason
    assert reject.text == (line if isinstance(line, str) else json.dumps(line))


@pytest.mark.parametrize("url", ["u", "e\u00e9"])
def test_many_lines_without_a_value_are_set_aside_each_with_its_text(url: str) -> None:
    """Plain lines, and lines that only Arrow reads. To split the text for each of them would take minutes."""
    rows = [GOOD | {"url": url, "extra": str(number), "price": None} for number in range(30_000)]
    parsed = parse_json(lines(*rows), BID)
    assert parsed.events.num_rows == 0
    assert [reject.line for reject in parsed.rejects] == list(range(1, len(rows) + 1))
    assert [reject.text for reject in parsed.rejects] == [json.dumps(row) for row in rows]


@given(st.lists(st.one_of(st.just(None), st.integers(0, len(BAD) - 1)), max_size=30))
def test_every_line_is_read_or_refused(kinds: list[int | None]) -> None:
    text = lines(*(GOOD if kind is None else BAD[kind][0] for kind in kinds))
    parsed = parse_json(text, BID)
    assert parsed.lines.tolist() == [at for at, kind in enumerate(kinds) if kind is None]
    assert [reject.line - 1 for reject in parsed.rejects] == [
        at for at, kind in enumerate(kinds) if kind is not None
    ]


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(noise: bytes) -> None:
    parsed = parse_json(noise, BID)
    count = noise.count(b"\n") + bool(noise and not noise.endswith(b"\n"))
    assert parsed.events.num_rows + len(parsed.rejects) == count


_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(1 << 64), 1 << 64),
    st.floats(allow_nan=False),
    st.text(max_size=5),
)
_OBJECTS = st.dictionaries(st.sampled_from([*BID.names, "other", "\u00e9"]), _SCALARS, max_size=8)


@given(st.lists(st.one_of(st.just(GOOD), _OBJECTS), max_size=5), st.booleans(), st.booleans())
def test_the_fast_way_reads_what_the_slow_way_reads(
    rows: list[dict[str, Any]], compact: bool, ended: bool
) -> None:
    separators = (",", ":") if compact else None
    text = "\n".join(json.dumps(row, separators=separators) for row in rows) + (
        "\n" if ended and rows else ""
    )
    schema = pa.schema([(name, pa.string() if name in TEXTS else pa.int64()) for name in BID.names])
    plain = read_plain_objects(text.encode(), schema)
    if plain is not None:
        assert plain.to_pylist() == [{name: row.get(name) for name in BID.names} for row in rows]
    if all(row is GOOD for row in rows) and GOOD["extra"].isascii():
        assert plain is not None


NOT_PLAIN = (
    '{"price":01}',
    '{"price":1,"price":2}',
    '{"price":1} x',
    '{"price":1,}',
    '{"price":-}',
    '{"price"}',
    "{",
    '{"price":1e3}',
    '{"extra":"\\n"}',
    '{"extra":"a',
    '{"a":[1]}',
    '{"price":nul}',
    "",
    " {}",
    '{"price":"1"}',
    '{"extra":1}',
    '{"pri',
    '{"price":1',
)


@pytest.mark.parametrize("line", NOT_PLAIN)
def test_what_is_not_plain_is_left_to_others(line: str) -> None:
    schema = pa.schema([("price", pa.int64()), ("extra", pa.string())])
    assert read_plain_objects(f"{line}\n".encode(), schema) is None


@pytest.mark.parametrize("size", range(20))
def test_text_is_read_eight_characters_at_a_time_and_to_its_end(size: int) -> None:
    """At any place of the text, and of the last line, which has no eight characters behind it."""
    schema = pa.schema([("price", pa.int64()), ("extra", pa.string())])
    text = "".join(chr(33 + 5 * at % 59) for at in range(size)).replace('"', " ").replace("\\", "~")
    lines = [{"price": at, "extra": text[:at]} for at in range(size)] + [{"price": size, "extra": text}]
    plain = read_plain_objects("".join(f"{json.dumps(line)}\n" for line in lines).encode(), schema)
    assert plain is not None
    assert plain.to_pylist() == lines
    for special in ("\x1f", "\x7f", "\\", '"', "\u00e9", "\n", "\0"):
        for place in range(size):
            line = f'{{"price":1,"extra":"{text[:place]}{special}{text[place + 1 :]}"}}\n'
            assert read_plain_objects(2 * line.encode(), schema) is None


def test_times_as_text_are_utc() -> None:
    told = ["2015-07-15 00:00:00.123", "2015-07-15T00:00:00.123Z", "2015-07-15T02:00:00.123+02:00"]
    parsed = parse_json(lines(*(GOOD | {"dateTime": time} for time in told)), BID)
    assert parsed.events.column("dateTime").cast("int64").to_pylist() == [GOOD["dateTime"]] * 3


def test_all_streams_in_one_file() -> None:
    person = {"id": 1, "name": "n", "dateTime": 5}
    text = lines(
        {"type": "bid", "event": GOOD},
        {"event_type": 0, "person": person, "auction": None, "bid": None},
        {"event_type": 2, "person": None, "auction": None, "bid": GOOD},
        {"event_type": 9},
        {"type": "refund", "event": {}},
        "no json",
    )
    parsed = parse_mixed_json(text, MODERN.streams)
    assert parsed["bid"].lines.tolist() == [0, 2]
    assert parsed["person"].lines.tolist() == [1]
    assert parsed["auction"].events.num_rows == 0
    refused = sorted(reject.line for stream in parsed.values() for reject in stream.rejects)
    assert refused == [4, 5, 6]


def test_xml() -> None:
    bid = "<bid><itemid>1</itemid><bidderId>2</bidderId><price>3</price><bidTime>4</bidTime></bid>"
    text = lines(bid, bid.replace("3", "x"), "<bid>", bid.replace("<price>3</price>", ""))
    parsed = parse_xml(text, PAPER.streams["bid"])
    assert parsed.events.num_rows == 1
    assert [reject.line for reject in parsed.rejects] == [2, 3, 4]
    assert "price is no whole number: 'x'" in parsed.rejects[0].reason
    assert "price is missing" in parsed.rejects[2].reason


def test_xml_text_is_what_was_escaped() -> None:
    person = "<person><id>1</id><name>a &lt;b&gt; &amp; c</name><time>4</time></person>"
    parsed = parse_xml(lines(person), PAPER.streams["person"])
    assert parsed.events.column("name").to_pylist() == ["a <b> & c"]
