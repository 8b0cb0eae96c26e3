"""`causeway sql`: scripts, formats, errors with their place, the shell."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from causeway.cli.sql import shell
from causeway.cli.sql.output import AnswerPrinter
from causeway.cli.sql.script import run_script
from causeway.runtime.errors import UserError
from causeway.streaming_tables import Connection, StatementError, connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CREATE = "CREATE STREAMING TABLE posreports (VID INT, SPD INT) RANGE INTERVAL '1' HOUR"
ROWS = "INSERT INTO posreports VALUES (1, 60, 0), (2, 0, 1), (1, 50, 2)"


@pytest.fixture(scope="module")
def warehouse(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    with connect(tmp_path_factory.mktemp("sql") / "w", spark) as connection:
        run_script(connection, f"{CREATE}; {ROWS}", AnswerPrinter("csv", io.StringIO()))
        yield connection


def printed(connection: Connection, script: str, answer_format: str) -> str:
    stream = io.StringIO()
    run_script(connection, script, AnswerPrinter(answer_format, stream))
    return stream.getvalue()


def test_csv_has_a_header_for_each_answer_and_a_blank_line_between(warehouse: Connection) -> None:
    first = "-- two answers; with a comment\nSELECT VID, T FROM posreports WHERE VID = 1"
    script = f"{first}; SELECT 'a;b' AS x, NULL AS y;"
    assert printed(warehouse, script, "csv") == "VID,T\n1,0\n1,2\n\nx,y\na;b,\n"


def test_json_has_an_array_for_each_answer(warehouse: Connection) -> None:
    lines = printed(warehouse, "SELECT VID FROM posreports WHERE T = 1; SELECT 1.5 AS x", "json").splitlines()
    assert [json.loads(line) for line in lines] == [[{"VID": 2}], [{"x": "1.5"}]]


def test_json_has_what_json_cannot_have_as_text(warehouse: Connection) -> None:
    values = "double('NaN') AS a, array(float('-inf')) AS b, map(DATE'2024-05-31', 1) AS c, X'00ff' AS d"
    (line,) = printed(warehouse, f"SELECT {values}, named_struct('x', 1.50) AS e", "json").splitlines()

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    (row,) = json.loads(line, parse_constant=refuse)
    assert row == {"a": "NaN", "b": ["-Infinity"], "c": {"2024-05-31": 1}, "d": "00ff", "e": {"x": "1.50"}}
    nested = printed(warehouse, "SELECT array(double('inf')) AS a, map(1, NULL) AS b", "csv")
    assert nested == 'a,b\n"[""Infinity""]","{""1"": null}"\n'


def test_pushed_answers_carry_their_tick(warehouse: Connection) -> None:
    statement = "SELECT COUNT(*) AS n FROM posreports [WINDOW INTERVAL 10] SAMPLE REALTIME"
    assert printed(warehouse, statement, "csv") == "tick,n\n1,2\n"
    assert json.loads(printed(warehouse, statement, "json")) == {"tick": 1, "rows": [{"n": 2}]}


def test_a_pull_query_prints_its_answer_as_of_now(warehouse: Connection) -> None:
    assert printed(warehouse, "SELECT VID FROM posreports [ROWS 2]", "csv") == "VID\n1\n2\n"


def test_tables_are_drawn(warehouse: Connection) -> None:
    drawn = printed(warehouse, "SELECT '[bold]' AS x", "table")
    assert "[bold]" in drawn
    assert "1 row" in drawn


def test_a_wide_table_in_a_file_is_whole(warehouse: Connection) -> None:
    columns = ", ".join(f"'value {number}' AS a_long_name_{number}" for number in range(20))
    drawn = printed(warehouse, f"SELECT {columns}", "table")
    assert all(f"a_long_name_{number} " in drawn and f"value {number} " in drawn for number in range(20))


def test_an_error_is_at_its_place_in_the_script(warehouse: Connection) -> None:
    with pytest.raises(StatementError) as refused:
        printed(warehouse, "SELECT 1;\n\n  SELECT nope FROM posreports", "csv")
    assert (refused.value.line, refused.value.column) == (3, 10)


def test_an_error_when_a_statement_is_run_is_at_what_it_is_about(warehouse: Connection) -> None:
    with pytest.raises(StatementError, match="there is no query 99") as refused:
        printed(warehouse, "SELECT 1;\nRESUME 99", "csv")
    assert (refused.value.line, refused.value.column) == (2, 8)


def test_an_error_without_a_place_names_the_statement(
    warehouse: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def damaged(text: str) -> None:
        raise UserError("a file is damaged")

    monkeypatch.setattr(warehouse, "sql", damaged)
    with pytest.raises(UserError, match="a file is damaged\nin the statement at line 2: SELECT 2"):
        printed(warehouse, "\nSELECT 2", "csv")


@pytest.mark.parametrize(
    ("typed", "complete"),
    [
        ("SELECT 1;", True),
        ("SELECT 1; -- done", False),
        ("SELECT ';", False),
        ("SELECT 1", False),
        ("SELECT /* ; */ 1", False),
        ("  ", True),
    ],
)
def test_a_statement_is_complete_with_its_semicolon(typed: str, complete: bool) -> None:
    assert shell._is_complete(typed) == complete


def test_the_shell_goes_on_after_errors_and_interruptions(
    warehouse: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = iter(["SELECT nope", "FROM posreports;", KeyboardInterrupt, "SELECT", "7 AS seven;", "quit"])

    def typed(prompt: str) -> str:
        line = next(lines)
        if line is KeyboardInterrupt:
            raise KeyboardInterrupt
        assert isinstance(line, str)
        return line

    monkeypatch.setattr("builtins.input", typed)
    stream = io.StringIO()
    shell.run_shell(warehouse, AnswerPrinter("csv", stream))
    assert stream.getvalue() == "seven\n7\n"


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    from causeway.cli.sql.script import _read

    with pytest.raises(UserError, match="cannot be read"):
        _read(tmp_path / "missing.sql")


def test_a_file_may_begin_with_a_mark_of_byte_order(tmp_path: Path) -> None:
    from causeway.cli.sql.script import _read

    (tmp_path / "script.sql").write_bytes(b"\xef\xbb\xbfSELECT 1")
    assert _read(tmp_path / "script.sql") == "SELECT 1"
