"""Scripts are cut at the semicolons that end statements, and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.streaming_tables.language.spark_corpus import COMPOUND, STATEMENTS
from tests.streaming_tables.language.table_one import AS_PRINTED

from causeway.streaming_tables.language import split_script
from causeway.streaming_tables.language.tokens import Kind, significant, tokenize


def texts(script: str) -> list[str]:
    return [statement.text for statement in split_script(script)]


def test_places_are_those_of_the_first_token() -> None:
    script = "-- first\nSELECT 1;\n\n  /* second\n  */ SELECT 2 ; SELECT 3"
    first, second, third = split_script(script)
    assert (first.text, first.line, first.column) == ("-- first\nSELECT 1", 2, 1)
    assert (second.text, second.line, second.column) == ("/* second\n  */ SELECT 2", 5, 6)
    assert (third.text, third.line, third.column) == ("SELECT 3", 5, 17)


@pytest.mark.parametrize("script", ["", ";", " ; ;\n;", "-- nothing", "/* ; */ ; -- ;"])
def test_a_script_without_tokens_has_no_statement(script: str) -> None:
    assert split_script(script) == []


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT ';'",
        'SELECT ";"',
        "SELECT `;` FROM t",
        "SELECT 1 -- ;\n+ 1",
        "SELECT /* ; /* ; */ ; */ 1",
        "SELECT r'\\;'",
    ],
)
def test_a_semicolon_inside_something_does_not_cut(statement: str) -> None:
    assert texts(f"{statement}; SELECT 2") == [statement, "SELECT 2"]


@pytest.mark.parametrize("compound", COMPOUND)
def test_a_compound_statement_stays_whole(compound: str) -> None:
    assert texts(f"SELECT 1; {compound}; SELECT 2") == ["SELECT 1", compound, "SELECT 2"]
    assert texts(compound) == [compound]


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT begin FROM t",
        "SELECT CASE WHEN begin THEN 1 END AS end FROM t",
        "CREATE TABLE begin (end INT)",
    ],
)
def test_begin_and_end_as_names_are_no_block(statement: str) -> None:
    assert texts(f"{statement}; SELECT 2; SELECT 3") == [statement, "SELECT 2", "SELECT 3"]


def test_names_like_the_words_of_blocks_inside_a_block() -> None:
    compound = (
        "BEGIN SELECT CASE WHEN a THEN begin ELSE end END, t.begin FROM t; SELECT end AS begin FROM t; END"
    )
    assert texts(f"{compound}; SELECT 2") == [compound, "SELECT 2"]


def test_a_block_without_end_takes_the_rest() -> None:
    assert texts("SELECT 1; BEGIN SELECT 2; SELECT 3") == ["SELECT 1", "BEGIN SELECT 2; SELECT 3"]


STATEMENT = st.sampled_from([*(s for s in STATEMENTS if not s.startswith("SET ")), *AS_PRINTED.values()])


@given(st.lists(STATEMENT, max_size=6))
def test_statements_that_are_joined_come_back(statements: list[str]) -> None:
    assert texts("\n;\n".join(statements)) == [statement.strip() for statement in statements]


@given(st.one_of(st.text(), st.text(alphabet="'\"`-/*+\\; \nabBEGINEND")))
def test_what_is_between_statements_is_nothing_but_space_and_semicolons(script: str) -> None:
    position = 0
    between = []
    for statement in split_script(script):
        assert script[statement.offset : statement.offset + len(statement.text)] == statement.text
        between.append(script[position : statement.offset])
        position = statement.offset + len(statement.text)
    between.append(script[position:])
    for gap in between:
        assert {token.text for token in significant(tokenize(gap))} <= {";"}
        assert Kind.UNCLOSED not in {token.kind for token in tokenize(gap)}
