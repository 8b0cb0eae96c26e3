"""What holds for any way of writing a statement, and for any text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.streaming_tables.language.facts import facts
from tests.streaming_tables.language.made_catalog import CATALOG
from tests.streaming_tables.language.spark_corpus import STATEMENTS
from tests.streaming_tables.language.table_one import AS_PRINTED
from tests.streaming_tables.language.test_errors import WRONG
from tests.streaming_tables.language.test_spark_corpus import EXTENDED

from causeway.streaming_tables.language import Passthrough, Query, StatementError, parse, split_script
from causeway.streaming_tables.language.tokens import Kind, significant, tokenize

OURS = [
    *AS_PRINTED.values(),
    *EXTENDED,
    "INSERT INTO posreports (vid) SELECT a FROM STREAM 'x' OPTIONS (once = true) s",
    "DELETE FROM posreports p WHERE VALID(p) OVERLAPS (1, NOW() - INTERVAL '1' DAY '2' HOUR)",
    "UPDATE posreports SET spd = 1, lane = 2 WHERE NEAR(seg, 1)",
    "WAIT FOR posreports UNTIL 5",
    "SET causeway.clock = wall",
]
TRIVIA = st.lists(
    st.sampled_from([" ", "\n", "\t", "/* SAMPLE REALTIME */", "-- [ROWS 3] ' \n", "/* a /* b */ ; */"]),
    max_size=3,
)
PIECES = sorted({token.text for text in (*OURS, *STATEMENTS[:60]) for token in significant(tokenize(text))})


def _spaced(text: str, gaps: list[str]) -> str:
    tokens = significant(tokenize(text))
    return "".join(f" {gap} {token.text}" for gap, token in zip(gaps, tokens, strict=True))


@given(st.sampled_from(OURS), st.data())
def test_space_and_comments_anywhere_change_nothing(text: str, data: st.DataObject) -> None:
    count = len(significant(tokenize(text)))
    gaps = data.draw(st.lists(TRIVIA.map("".join), min_size=count, max_size=count))
    assert facts(parse(_spaced(text, gaps), CATALOG)) == facts(parse(text, CATALOG))


def _read_anything(text: str) -> None:
    try:
        found = parse(text, CATALOG)
    except StatementError as error:
        assert 1 <= error.line <= text.count("\n") + 1
        assert f"line {error.line}, column {error.column}: " in str(error)
        return
    if isinstance(found, Passthrough):
        assert found.text == text
    query = getattr(found, "query", None)
    if isinstance(query, Query):
        _check_rendering(query, text)


def _check_rendering(query: Query, text: str) -> None:
    """Characters that are the user's own lead back to themselves; with nothing extended nothing changes."""
    made = query.rendered(lambda _: "\x01\x01", lambda _: "\x01", table_name=lambda _: "\x01\x01\x01")
    assert text[query.offset : query.offset + len(query.text)] == query.text
    for offset, (start, own) in zip(made.starts, made.origins, strict=True):
        if own and offset < len(made.text):
            assert made.text[offset] == text[start]
            assert made.original_offset(offset) == start
    if not query.extended:
        assert query.render(lambda _: "", lambda _: "") == query.text


@given(st.one_of(st.text(), st.text(alphabet="'\"`-/*+\\; \n[]().,aSELCTFROM")))
def test_any_text_is_a_statement_or_a_statement_error(text: str) -> None:
    _read_anything(text)
    for statement in split_script(text):
        _read_anything(statement.text)


@given(st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join))
def test_any_words_in_any_order_are_a_statement_or_a_statement_error(text: str) -> None:
    _read_anything(text)


@given(st.sampled_from([*OURS, *(wrong for wrong, _ in WRONG)]), st.data())
def test_statements_with_tokens_lost_doubled_or_replaced(text: str, data: st.DataObject) -> None:
    tokens = [token.text for token in significant(tokenize(text)) if token.kind is not Kind.UNCLOSED]
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(tokens)))
        change = data.draw(st.sampled_from(["lose", "add", "cut"]))
        if change == "lose":
            del tokens[at : at + 1]
        elif change == "add":
            tokens.insert(at, data.draw(st.sampled_from(PIECES)))
        else:
            del tokens[at:]
    _read_anything(" ".join(tokens))
