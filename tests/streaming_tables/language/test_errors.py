"""Errors are told in the user's words, with the line and the column."""

from __future__ import annotations

import pickle

import pytest
from tests.streaming_tables.language.made_catalog import CATALOG

from causeway.runtime.errors import UserError
from causeway.streaming_tables.language import NotStreamingTableError, StatementError, parse, split_script


def failing(text: str) -> StatementError:
    with pytest.raises(StatementError) as caught:
        parse(text.replace("^", ""), CATALOG)
    return caught.value


def test_an_error_shows_its_line_with_a_caret() -> None:
    error = failing("SELECT *\n\tFROM plain [ROWS 3]")
    assert isinstance(error, UserError)
    assert (error.line, error.column) == (2, 7)
    assert str(error) == (
        "line 2, column 7: plain is not a streaming table; a window needs a streaming table\n"
        "\tFROM plain [ROWS 3]\n"
        "\t     ^"
    )


def test_an_error_in_a_script_has_its_place_in_the_script() -> None:
    script = "SELECT 1;\n-- now the bad one\nSELECT 2; SELECT * FROM plain [ROWS 3]\nWHERE a"
    third = split_script(script)[2]
    with pytest.raises(NotStreamingTableError) as caught:
        parse(third, CATALOG)
    assert (caught.value.line, caught.value.column) == (3, 25)
    assert "SELECT 2; SELECT * FROM plain [ROWS 3]\n" in str(caught.value)


def test_an_error_survives_pickling() -> None:
    error = failing("SELECT * FROM plain [ROWS 3]")
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy)) == (type(error), str(error))


# The place of each error is marked with ^ in front of its character.
WRONG = [
    ("SELECT * FROM ^plain [ROWS 3]", "plain is not a streaming table; a window needs a streaming table"),
    ("SELECT * FROM posreports,\n  ^db.posreports [ROWS 3]", "db.posreports is not a streaming table"),
    ("SELECT * FROM ^plain p [ROWS 3]", "plain is not a streaming table"),
    ("WITH posreports AS (SELECT 1) SELECT * FROM ^posreports [ROWS 3]", "is a query of the WITH clause"),
    ("SELECT * FROM (SELECT 1) ^[ROWS 3]", "a window belongs to a streaming table, not to a subquery"),
    ("SELECT * FROM (SELECT 1) AS x ^[ROWS 3]", "a window belongs to a streaming table, not to a subquery"),
    ("SELECT * FROM posreports [^]", "expected INTERVAL, ROWS or the columns of a partition, found ]"),
    ("SELECT * FROM posreports [WINDOW ^]", "expected INTERVAL, ROWS or the columns of a partition"),
    ("SELECT * FROM posreports [ROWS ^]", "expected a number of rows, found ]"),
    ("SELECT * FROM posreports [ROWS ^many]", "expected a number of rows, found many"),
    ("SELECT * FROM posreports [ROWS ^0]", "a whole number of at least 1, found 0"),
    ("SELECT * FROM posreports [ROWS ^1.5]", "a whole number of at least 1, found 1.5"),
    ("SELECT * FROM posreports [ROWS 3 ^ROWS]", "expected ] at the end of the window"),
    ("SELECT * FROM posreports [^colour ROWS 3]", "POSREPORTS has no column colour; it has VID, SPD"),
    ("SELECT * FROM posreports [vid, ^t ROWS 3]", "t is the time of POSREPORTS"),
    ("SELECT * FROM posreports [vid ^seg ROWS 3]", "expected a comma or ROWS"),
    ("SELECT * FROM posreports [vid^]", "expected a comma or ROWS"),
    ("SELECT * FROM posreports ^[ROWS 3", "this window has no closing ]"),
    ("SELECT * FROM posreports [INTERVAL ^]", "expected a length of time such as '5' MINUTE"),
    ("SELECT * FROM posreports [INTERVAL '1' ^MONTH]", "a month has no fixed length"),
    ("SELECT * FROM posreports [INTERVAL 3 ^FORTNIGHT]", "expected a unit of time (SECOND, MINUTE"),
    ("SELECT * FROM posreports [^INTERVAL '-1' SECOND]", "a window cannot have a negative length"),
    ("SELECT * FROM posreports [^INTERVAL '1.5' SECOND]", "the time of POSREPORTS is in whole seconds"),
    ("SELECT * FROM posreports TABLESAMPLE (5 ROWS) ^[ROWS 3]", "a window stands before TABLESAMPLE"),
    ("SELECT * FROM posreports ^VERSION AS OF 3", "its past is read with VALID"),
    ("SELECT * FROM posreports ^FOR TIMESTAMP AS OF '2020-01-01' p", "its past is read with VALID"),
    ("SELECT * FROM plain ^SAMPLE REALTIME", "SAMPLE needs a streaming table"),
    ("SELECT * FROM posreports SAMPLE REALTIME ^ORDER BY 1", "SAMPLE is the last clause"),
    ("SELECT * FROM posreports SAMPLE INTERVAL '1' ^YEAR", "a year has no fixed length"),
    ("SELECT * FROM posreports SAMPLE ^INTERVAL '0' SECOND", "longer than zero"),
    ("SELECT * FROM (SELECT * FROM posreports [ROWS 1] ^SAMPLE REALTIME) q", "SAMPLE belongs at the end"),
    ("SELECT * FROM posreports WHERE VALID(^x) OVERLAPS (1, 2)", "x is not a streaming table of this FROM"),
    ("SELECT * FROM plain x WHERE VALID(^x) OVERLAPS (1, 2)", "x is not a streaming table of this FROM"),
    ("SELECT * FROM posreports p WHERE VALID(^1) OVERLAPS (1, 2)", "VALID takes the name of one"),
    ("SELECT * FROM posreports p WHERE VALID(p) OVERLAPS ^(1)", "OVERLAPS takes a period of two times"),
    ("SELECT * FROM posreports p WHERE VALID(p) OVERLAPS ^(1, )", "OVERLAPS takes a period of two times"),
    ("SELECT * FROM posreports p WHERE VALID(p) OVERLAPS ^now()", "OVERLAPS takes a period of two times"),
    ("SELECT ^TRJ(vid) FROM posreports", "TRJ takes a star"),
    ("SELECT ^TRJ(*) FROM posreports a, posreports b", "write TRJ(alias.*) for one of a, b"),
    ("SELECT ^TRJ(*) FROM (SELECT * FROM posreports) q", "which has none"),
    ("SELECT TRJ(^q.*) FROM posreports, plain q", "q is not a streaming table"),
    ("SELECT * FROM posreports WHERE ^NEAR(seg)", "NEAR takes a segment"),
    ("SELECT * FROM posreports WHERE ^NEAR(seg, 1, 2, 3)", "NEAR takes a segment"),
    ("SELECT * FROM posreports WHERE t > ^NOW() - INTERVAL '0.5' SECOND", "is in whole seconds"),
    ("SELECT ^PREV(a) FROM posreports [ROWS 2] a", "PREV is for comparing two windows: P2 = PREV(P1)"),
    (
        "SELECT * FROM posreports [ROWS 2] a, posreports [ROWS 2] b WHERE b <> ^PREV(a)",
        "PREV is for comparing",
    ),
    (
        "SELECT * FROM posreports [ROWS 2] a, posreports [ROWS 2] b WHERE a.b = ^PREV(a)",
        "PREV is for comparing",
    ),
    (
        "SELECT * FROM posreports [ROWS 2] a, posreports [ROWS 2] b WHERE ^PREV(a) = b.vid",
        "PREV is for comparing",
    ),
    (
        "SELECT * FROM posreports [ROWS 2] a, posreports [ROWS 2] b WHERE b = ^PREV(a.vid)",
        "PREV is for comparing",
    ),
    ("SELECT * FROM posreports [ROWS 2] a WHERE ^x = PREV(a)", "no relation of this FROM clause is called x"),
    (
        "SELECT * FROM posreports [ROWS 2] a, posreports b WHERE ^b = PREV(a)",
        "b has no window; PREV needs one",
    ),
    ("SELECT * FROM posreports [ROWS 2] a, plain b WHERE ^b = PREV(a)", "b has no window"),
    ("SELECT * FROM posreports [ROWS 2] a WHERE a = ^PREV(a)", "a is on both sides"),
    (
        "SELECT * FROM posreports [ROWS 2] a, posreports [ROWS 3] b WHERE ^b = PREV(a)",
        "must have the same window of the same table",
    ),
    (
        "SELECT * FROM posreports [ROWS 2] a, segstat [ROWS 2] b WHERE ^b = PREV(a)",
        "must have the same window of the same table",
    ),
    ("^SELECT * FROM STREAM 'x'", "STREAM 'source' is read by INSERT INTO"),
    ("CREATE STREAMING TABLE t (a INT) RANGE^", "an interval after RANGE, such as INTERVAL '5' MINUTE"),
    ("CREATE STREAMING TABLE t (a INT) RANGE ^'2' WEEK", "expected an interval after RANGE"),
    ("CREATE STREAMING TABLE t (a INT) RANGE INTERVAL '2' ^MONTH", "a month has no fixed length"),
    ("CREATE STREAMING TABLE t (a INT) RANGE ^INTERVAL 0 SECOND", "RANGE needs a longer interval"),
    (
        "CREATE STREAMING TABLE t (a INT) ^RANGE INTERVAL '1.5' SECOND",
        "in whole seconds; RANGE has a fraction",
    ),
    ("CREATE STREAMING TABLE t (a INT) RANGE INTERVAL 5 SLACK ^5", "expected an interval after SLACK"),
    ("CREATE STREAMING TABLE t (a INT) RANGE INTERVAL 5 ^RANGE INTERVAL 5", "RANGE is given twice"),
    ("CREATE STREAMING TABLE t (a INT) RANGE INTERVAL 5 ^WITH", "expected RANGE, SLACK, COMPARTMENT"),
    ("CREATE STREAMING TABLE t (a INT) SLACK INTERVAL 5^", "a streaming table needs RANGE"),
    ("CREATE STREAMING TABLE t ^RANGE INTERVAL 5", "expected the columns, in parentheses"),
    ("CREATE STREAMING TABLE t (^) RANGE INTERVAL 5", "name of a column"),
    ("CREATE STREAMING TABLE t (a INT,^) RANGE INTERVAL 5", "name of a column"),
    ("CREATE STREAMING TABLE t (a^) RANGE INTERVAL 5", "the type of the column a"),
    ("CREATE STREAMING TABLE t (a INT, ^A INT) RANGE INTERVAL 5", "two columns are called A"),
    ("CREATE STREAMING TABLE t (a INT ^NOT NULL) RANGE INTERVAL 5", "a name and a type only, found NOT"),
    ("CREATE STREAMING TABLE t (a INT, ^t BIGINT) RANGE INTERVAL 5", "t is the table's own time"),
    (
        "CREATE STREAMING TABLE t (^x STRING) RANGE INTERVAL 5 TIMESTAMP BY x",
        "is BIGINT (seconds) or TIMESTAMP",
    ),
    ("CREATE STREAMING TABLE db^.t (a INT) RANGE INTERVAL 5", "a streaming table has a plain name"),
    ("CREATE INDEX i ON posreports (^colour)", "POSREPORTS has no column colour"),
    ("CREATE INDEX i ON posreports (^t)", "is indexed always"),
    ("CREATE INDEX i ON posreports (vid^, seg)", "an index is on one column"),
    ("CREATE INDEX i ON posreports ^vid", "expected (, found vid"),
    ("CREATE VIEW v RANGE INTERVAL 5 AS (SELECT * FROM posreports [ROWS 1]^)", "needs SAMPLE at the end"),
    ("CREATE VIEW v RANGE INTERVAL 5 AS SELECT * FROM posreports^", "needs SAMPLE at the end"),
    ("CREATE VIEW v RANGE ^AS SELECT 1", "expected an interval after RANGE"),
    ("CREATE VIEW v RANGE INTERVAL 5 ^SELECT 1", "expected AS, found SELECT"),
    ("CREATE VIEW v RANGE INTERVAL 5 AS^", "the statement ends here, where a query is expected"),
    ("CREATE VIEW v (a, ^a) RANGE INTERVAL 5 AS SELECT 1", "two columns are called a"),
    ("CREATE ^TEMPORARY VIEW v RANGE INTERVAL 5 AS SELECT 1", "cannot be temporary"),
    ("CREATE VIEW ^db.v RANGE INTERVAL 5 AS SELECT 1", "a plain name"),
    (
        "CREATE VIEW v RANGE INTERVAL 5 AS (SELECT 1 FROM plain ^SAMPLE REALTIME)",
        "SAMPLE needs a streaming table",
    ),
    ("CREATE VIEW v ^AS SELECT * FROM posreports [ROWS 3]", "a view of a window needs RANGE"),
    ("CREATE VIEW v ^AS (SELECT * FROM posreports SAMPLE REALTIME)", "a view of a window needs RANGE"),
    ("INSERT INTO ^plain VALUES FROM 'x'", "plain is not a streaming table; VALUES FROM needs one"),
    ("INSERT INTO ^db.posreports VALUES FROM 'x'", "db.posreports is not a streaming table"),
    ("INSERT INTO posreports VALUES FROM ^x", "expected a source in quotes"),
    ("INSERT INTO posreports VALUES FROM ^'x", "what begins here has no end"),
    (
        "INSERT INTO posreports VALUES FROM 'x' OPTIONS (once ^true)",
        "expected = and a value after the option once",
    ),
    ("INSERT INTO posreports VALUES FROM 'x' OPTIONS (a = 1, ^A = 2)", "the option a is given twice"),
    ("INSERT INTO posreports VALUES FROM 'x' OPTIONS (a = ^)", "expected a value for the option a"),
    ("INSERT INTO posreports VALUES FROM 'x' ^SAMPLE REALTIME", "expected the end of the statement"),
    ("INSERT INTO posreports (vid, ^colour) VALUES (1, 2)", "has no column colour; it has VID"),
    ("INSERT INTO posreports (vid, ^VID) VALUES (1, 2)", "the column VID is given twice"),
    ("INSERT INTO posreports^", "where VALUES or a query is expected"),
    ("INSERT ^OVERWRITE posreports SELECT 1", "use DELETE and INSERT INTO"),
    ("INSERT INTO ^segstat VALUES (1)", "SEGSTAT is a view"),
    ("INSERT INTO posreports ^SELECT * FROM segstat SAMPLE REALTIME", "INSERT INTO runs once"),
    ("DELETE FROM ^segstat", "SEGSTAT is a view"),
    ("DELETE FROM posreports p ^HAVING x", "expected WHERE or the end of the statement"),
    ("DELETE FROM posreports WHERE^", "where a condition is expected"),
    ("UPDATE posreports SET ^t = 1", "T is the time of POSREPORTS and cannot be changed"),
    ("UPDATE posreports SET ^colour = 1", "has no column colour"),
    ("UPDATE posreports SET vid ^1", "expected = after VID"),
    ("UPDATE posreports SET vid =^", "a value for VID"),
    ("UPDATE posreports SET vid = 1, ^vid = 2", "the column VID is set twice"),
    ("ALTER TABLE ^posreports ADD COLUMNS (x INT)", "ALTER is not for it"),
    ("TRUNCATE TABLE ^posreports", "TRUNCATE is not for it"),
    ("MERGE INTO ^posreports USING plain ON true WHEN MATCHED THEN DELETE", "MERGE is not for it"),
    ("WITH x AS (SELECT 1) ^INSERT INTO posreports SELECT * FROM x", "the statement must begin with INSERT"),
    ("DROP VIEW ^posreports", "POSREPORTS is a table; write DROP TABLE"),
    ("DROP TABLE ^segstat", "SEGSTAT is a view; write DROP VIEW"),
    ("RESUME^", "the id of a query"),
    ("KILL 3 ^4", "expected the end of the statement, found 4"),
    ("WAIT FOR ^plain", "plain is not a streaming table; WAIT FOR needs one"),
    ("WAIT FOR posreports UNTIL ^soon", "expected a time of the table"),
    ("SHOW INDEXES ON ^plain", "plain is not a streaming table"),
    ("SET causeway.clock = ^sundial", "expected stream or wall, found sundial"),
]


@pytest.mark.parametrize(("marked", "message"), WRONG)
def test_errors_name_their_place(marked: str, message: str) -> None:
    error = failing(marked)
    assert message in error.message
    before = marked[: marked.index("^")]
    assert (error.line, error.column) == (before.count("\n") + 1, len(before) - before.rfind("\n"))


def test_a_window_on_something_else_is_told_apart() -> None:
    assert isinstance(failing("SELECT * FROM plain [ROWS 3]"), NotStreamingTableError)
    assert not isinstance(failing("SELECT * FROM posreports [ROWS 0]"), NotStreamingTableError)
