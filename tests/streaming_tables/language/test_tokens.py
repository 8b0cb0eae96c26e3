"""Texts are cut as Spark's lexer cuts them, and nothing of them is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.streaming_tables.language.spark_corpus import STATEMENTS

from causeway.streaming_tables.language.tokens import (
    Kind,
    Token,
    identifier_value,
    quote_identifier,
    significant,
    string_value,
    tokenize,
)


def kinds(text: str) -> list[tuple[str, str]]:
    return [(token.kind.value, token.text) for token in significant(tokenize(text))]


def only(text: str) -> Token:
    (token,) = tokenize(text)
    return token


@pytest.mark.parametrize(
    "text",
    [
        "'it''s'",
        r"'a\'b'",
        r"'a\\'",
        '"say ""hi"""',
        r"r'raw \'",
        r'R"raw \"',
        "'two\nlines'",
        "'-- no comment'",
        "$$ it's $$",
        "$tag$ $$ $tag$",
    ],
)
def test_a_string_is_one_token(text: str) -> None:
    assert only(text).kind is Kind.STRING


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("'it''s'", "it's"),
        (r"'a\'b'", "a'b"),
        (r"'tab\tnew\nline'", "tab\tnew\nline"),
        (r"'like \% \_'", r"like \% \_"),
        (r"'A\101 ☃'", "AA ☃"),
        (r"r'raw \n'", r"raw \n"),
        ('"say ""hi"""', 'say "hi"'),
        (r"'a\''''", "a''"),
        ("$x$ '' $x$", " '' "),
        ("''", ""),
    ],
)
def test_string_values_follow_sparks_escapes(text: str, value: str) -> None:
    assert string_value(only(text)) == value


@pytest.mark.parametrize(
    "text",
    [
        "-- to the end of the line",
        "-- with an escaped line feed \\\n goes on",
        "/* one */",
        "/* outer /* inner */ outer */",
        "/* ' */",
        "/* ends before a hint /*+ inside */",
    ],
)
def test_a_comment_is_one_token(text: str) -> None:
    assert only(text).kind is Kind.COMMENT


@pytest.mark.parametrize("text", ["/*+ BROADCAST(a) */", "/*+ hint('*/') */", "/*+ a /* b */ c */"])
def test_a_hint_is_one_token(text: str) -> None:
    assert only(text).kind is Kind.HINT


@pytest.mark.parametrize("text", ["1", "1.5", "1.", ".5", "1e10", "1.5E-3", "3L", "4s", "5.5BD", "6D"])
def test_a_number_is_one_token(text: str) -> None:
    assert only(text).kind is Kind.NUMBER


@pytest.mark.parametrize("text", ["a", "_a1", "1a", "größe", "5days", "hdfs://host/a--b"])
def test_a_word_is_one_token(text: str) -> None:
    assert only(text).kind is Kind.WORD


@pytest.mark.parametrize("text", ["'open", '"open', "`open", "/* open", "/* a /* b */", "/*+ open", "'a\\'"])
def test_what_has_no_end_is_the_rest_of_the_text(text: str) -> None:
    last = tokenize("SELECT " + text)[-1]
    assert (last.kind, last.text) == (Kind.UNCLOSED, text)


def test_names_and_subscripts() -> None:
    assert kinds("t.`a``b`[1]") == [
        ("word", "t"),
        ("symbol", "."),
        ("quoted name", "`a``b`"),
        ("symbol", "["),
        ("number", "1"),
        ("symbol", "]"),
    ]


def test_operators_of_several_characters_stay_whole() -> None:
    text = "<=> <> != <= >= == || |> -> => ::"
    assert [text for _, text in kinds(text)] == text.split()


@given(st.text())
def test_a_quoted_name_reads_back(name: str) -> None:
    assert identifier_value(only(quote_identifier(name))) == name


@given(st.one_of(st.text(), st.text(alphabet="'\"`-/*+\\$ \nar;[]()1.")))
def test_tokens_joined_are_the_text(text: str) -> None:
    tokens = tokenize(text)
    assert "".join(token.text for token in tokens) == text
    assert [token.start for token in tokens] == [
        sum(len(t.text) for t in tokens[:i]) for i in range(len(tokens))
    ]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_statements_of_spark_have_no_open_ends(statement: str) -> None:
    tokens = tokenize(statement)
    assert "".join(token.text for token in tokens) == statement
    # The value of SET is free text, where a quote is a character as any other.
    assert Kind.UNCLOSED not in {token.kind for token in tokens} or statement.startswith("SET ")
