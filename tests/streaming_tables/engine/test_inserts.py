"""Continuous inserts: files, folders that grow, streams with a SELECT, rejected rows, waiting, and errors."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.streaming_tables.engine.reading import ask, bag, pushed, tuples

import causeway
from causeway.runtime.errors import UserError
from causeway.streaming_tables.engine.connection import Connection
from causeway.streaming_tables.engine.writes.inserts import InsertFacts, save_facts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def made(db: Connection, name: str, clauses: str = "") -> None:
    db.sql(f"CREATE STREAMING TABLE {name} (i INT, s STRING) RANGE UNLIMITED {clauses}")


def put(folder: Path, file: str, text: str) -> None:
    """Put a whole file into a folder at once."""
    folder.mkdir(exist_ok=True)
    (folder / f".{file}.part").write_text(text)
    (folder / f".{file}.part").rename(folder / file)


def refused(db: Connection, statement: str) -> str:
    with pytest.raises(UserError) as raised:
        db.sql(statement)
    return str(raised.value)


def insert_state(db: Connection, name: str) -> list[str]:
    return [value for key, value in ask(db, f"DESCRIBE {name}") if key.startswith("insert ")]


def test_a_file_ends_and_lets_the_last_tick_be_answered(db: Connection, name: str, tmp_path: Path) -> None:
    made(db, name)
    (tmp_path / "in.csv").write_text("T,s,I\n1,a,1\n2,b,2\n2,,3\n")
    query = pushed(db, f"SELECT i FROM {name} [INTERVAL 0] SAMPLE REALTIME")
    ((number,),) = ask(db, f"INSERT INTO {name} VALUES FROM '{tmp_path / 'in.csv'}'")
    assert number >= 1
    db.sql(f"WAIT FOR {name}")
    assert ask(db, f"SELECT * FROM {name} ORDER BY i") == [(1, "a", 1), (2, "b", 2), (3, None, 2)]
    # The query ends by itself, since nothing more comes.
    assert [(tick, bag(tuples(rows))) for tick, rows in query] == [(1, bag([(1,)])), (2, bag([(2,), (3,)]))]
    assert ["finished" in state for state in insert_state(db, name)] == [True]


def test_parquet_columns_go_by_name_and_the_time_may_be_named(
    db: Connection, name: str, tmp_path: Path
) -> None:
    made(db, name)
    pq.write_table(pa.table({"S": ["x", "y"], "when_": [5, 6], "i": [1, 2]}), tmp_path / "in.parquet")
    db.sql(f"INSERT INTO {name} VALUES FROM '{tmp_path / 'in.parquet'}' OPTIONS (timestamp = 'when_')")
    db.sql(f"WAIT FOR {name}")
    assert ask(db, f"SELECT * FROM {name} ORDER BY i") == [(1, "x", 5), (2, "y", 6)]


def test_rows_that_do_not_fit_are_kept_with_source_line_and_reason(
    db: Connection, name: str, tmp_path: Path
) -> None:
    made(db, name)
    (tmp_path / "in.csv").write_text("i,s,T\n1,a,1\nx,b,2\n3,c,\n4,d,4\n")
    db.sql(f"INSERT INTO {name} VALUES FROM '{tmp_path / 'in.csv'}'")
    db.sql(f"WAIT FOR {name}")
    assert bag(ask(db, f"SELECT * FROM {name}")) == bag([(1, "a", 1), (4, "d", 4)])
    found = ask(db, f"SELECT source, line, reason, text FROM {name}__rejected ORDER BY line")
    assert [(line, text) for _, line, _, text in found] == [(3, "x,b,2"), (4, "3,c,")]
    assert all("in.csv" in source and reason for source, _, reason, _ in found)
    assert dict(ask(db, f"DESCRIBE {name}"))["rejected rows"] == "2"


def test_a_folder_that_grows_is_watched(db: Connection, name: str, tmp_path: Path) -> None:
    made(db, name)
    folder = tmp_path / "in"
    folder.mkdir()
    db.sql(f"INSERT INTO {name} VALUES FROM '{folder}'")
    put(folder, "1.csv", "i,s,T\n1,a,1\n")
    db.sql(f"WAIT FOR {name}")
    assert ask(db, f"SELECT i FROM {name}") == [(1,)]
    put(folder, "2.json", '{"i": 2, "s": "b", "T": 2}\n')
    put(folder, "3.csv", "i,s,T\n3,c,3\n4,d,4\n")
    db.sql(f"WAIT FOR {name}")
    assert bag(ask(db, f"SELECT i FROM {name}")) == bag([(1,), (2,), (3,), (4,)])
    assert ["running" in state for state in insert_state(db, name)] == [True]


def test_waiting_until_a_time_of_the_table(db: Connection, name: str, tmp_path: Path) -> None:
    made(db, name)
    folder = tmp_path / "in"
    put(folder, "1.csv", "i,s,T\n1,a,1\n")
    db.sql(f"INSERT INTO {name} VALUES FROM '{folder}'")
    db.sql(f"WAIT FOR {name} UNTIL 1")
    later = threading.Timer(0.5, put, (folder, "2.csv", "i,s,T\n2,b,50\n"))
    later.start()
    db.sql(f"WAIT FOR {name} UNTIL 50")
    later.join()
    assert ask(db, f"SELECT NOW() FROM {name} LIMIT 1") == [(50,)]


def test_waiting_for_a_time_that_never_comes_ends(db: Connection, name: str, tmp_path: Path) -> None:
    made(db, name)
    put(tmp_path / "in", "1.csv", "i,s,T\n1,a,1\n")
    db.sql(f"INSERT INTO {name} VALUES FROM '{tmp_path / 'in'}' OPTIONS (once = true)")
    assert "has ended at time 1; it will not reach 2" in refused(db, f"WAIT FOR {name} UNTIL 2")


def test_two_sources_of_one_table_end_when_both_have(db: Connection, name: str, tmp_path: Path) -> None:
    made(db, name, "SLACK INTERVAL 100")
    put(tmp_path, "1.csv", "i,s,T\n1,a,1\n2,a,5\n")
    put(tmp_path / "in", "2.csv", "i,s,T\n3,b,3\n4,b,9\n")
    query = pushed(db, f"SELECT count(*) FROM {name} [INTERVAL 100] SAMPLE INTERVAL 3")
    db.sql(f"INSERT INTO {name} VALUES FROM '{tmp_path / 'in'}'")
    db.sql(f"WAIT FOR {name}")
    ((number, _),) = db._background.inserts.states(name)
    db.sql(f"INSERT INTO {name} VALUES FROM '{tmp_path / '1.csv'}'")
    db.sql(f"WAIT FOR {name}")
    # One of the two has ended. The other one, a folder, may still bring rows for these ticks.
    assert ["finished" in state for state in insert_state(db, name)] == [False, True]
    assert int(dict(ask(db, f"DESCRIBE {name}"))["no more rows up to"] or -1) < 0
    assert not db._background.ended((name,))
    db.sql(f"KILL INSERT {number}")
    db.sql(f"INSERT INTO {name} VALUES FROM '{tmp_path / '1.csv'}'")
    db.sql(f"WAIT FOR {name}")
    assert ask(db, f"SELECT count(*) FROM {name}__late") == [(0,)]
    assert [(tick, tuples(rows)[0][0]) for tick, rows in query] == [(3, 3), (6, 5), (9, 6)]


def test_a_table_does_not_know_the_inserts_of_an_earlier_one(
    db: Connection, name: str, tmp_path: Path
) -> None:
    put(tmp_path, "in.csv", "i,s,T\n1,a,1\n")
    made(db, name)
    db.sql(f"INSERT INTO {name} VALUES FROM '{tmp_path / 'in.csv'}'")
    db.sql(f"WAIT FOR {name}")
    db.sql(f"DROP TABLE {name}")
    made(db, name)
    assert insert_state(db, name) == []
    query = pushed(db, f"SELECT i FROM {name} [ROWS 1] SAMPLE REALTIME")
    # Nothing has ended: the query waits for rows.
    threading.Timer(0.2, db.append, (name, [(7, "x", 1), (8, "y", 2)])).start()
    tick, rows = next(query)
    assert (tick, tuples(rows)) == (1, [(7,)])
    query.kill()


def test_two_sources_that_end_at_once_close_the_time(
    db: Connection, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(db, name)
    db.append(name, [(1, "a", 5)])
    runs = db._background.inserts
    both = [runs.kept.begin(name, f"{number}.csv", {}, None) for number in range(2)]
    for facts, folder in both:
        save_facts(folder, facts)
    of_table, meeting = runs.kept.of_table, threading.Barrier(2)

    def at_once(table: str) -> list[InsertFacts]:
        found = of_table(table)
        with suppress(threading.BrokenBarrierError):
            meeting.wait(0.5)
        return found

    monkeypatch.setattr(runs.kept, "of_table", at_once)

    def end(facts: InsertFacts, folder: Path) -> None:
        finished = replace(facts, state="finished")
        runs._ended(finished, lambda: save_facts(folder, finished))

    threads = [threading.Thread(target=end, args=one) for one in both]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert db.warehouse.require(name).snapshot().closed == 5


def test_columns_that_do_not_match_are_told_at_the_source(db: Connection, name: str, tmp_path: Path) -> None:
    made(db, name)
    put(tmp_path, "in.csv", "i,T\n1,1\n")
    message = refused(db, f"INSERT INTO {name}\n  VALUES FROM '{tmp_path / 'in.csv'}'")
    assert message.startswith("line 2, column 15: ")
    assert "lacks the column s of the table; it has i, T" in message


def test_times_that_no_row_can_have_are_rejected(db: Connection, name: str, tmp_path: Path) -> None:
    made(db, name)
    far = 9 * 10**18
    put(tmp_path, "in.csv", f"i,s,T\n1,a,1\n2,b,{far}\n3,c,3\n")
    db.sql(f"INSERT INTO {name} VALUES FROM '{tmp_path / 'in.csv'}'")
    db.sql(f"WAIT FOR {name}")
    db.sql(
        f"INSERT INTO {name} SELECT i, s, CASE WHEN i = 3 THEN {far} ELSE i + 4 END "
        f"FROM STREAM '{tmp_path / 'in.csv'}'"
    )
    db.sql(f"WAIT FOR {name}")
    assert bag(ask(db, f"SELECT i, T FROM {name}")) == bag([(1, 1), (3, 3), (1, 5), (2, 6)])
    rejected = ask(db, f"SELECT line, reason FROM {name}__rejected ORDER BY line")
    assert rejected == [(line, f"T is {far}, too early or too late for a time") for line in (3, 4)]


def test_a_select_from_a_stream_runs_on_each_row(db: Connection, name: str, tmp_path: Path) -> None:
    made(db, name)
    db.spark.createDataFrame([(1, "one"), (2, "two")], "n INT, word STRING").createOrReplaceTempView(
        "number_words"
    )
    (tmp_path / "in.csv").write_text("n,at,T\n1,10,1\n2,20,2\n3,30,3\nx,40,4\n")
    db.sql(
        f"INSERT INTO {name} SELECT try_cast(x.n AS INT) * 10, word, x.at + 1 "
        f"FROM STREAM '{tmp_path / 'in.csv'}' x "
        "LEFT JOIN number_words w ON try_cast(x.n AS INT) = w.n WHERE try_cast(x.n AS INT) <> 2"
    )
    db.sql(f"WAIT FOR {name}")
    assert bag(ask(db, f"SELECT * FROM {name}")) == bag([(10, "one", 11), (30, None, 31)])


def test_columns_that_a_select_from_a_stream_leaves_out_are_null(
    db: Connection, name: str, tmp_path: Path
) -> None:
    made(db, name)
    put(tmp_path, "in.csv", "n,T\n1,1\n2,2\n")
    db.sql(f"INSERT INTO {name} (T, i) SELECT T, n FROM STREAM '{tmp_path / 'in.csv'}'")
    db.sql(f"WAIT FOR {name}")
    assert bag(ask(db, f"SELECT * FROM {name}")) == bag([(1, None, 1), (2, None, 2)])


ROWS_WITH_FAULTS = "n,d,T\n1,1,1\nx,1,2\n3,0,3\n,1,4\n99999999999,1,5\n6,1,6\n7,1,neg\n8,1,8\n"


@pytest.mark.parametrize(
    "select",
    [
        "SELECT CAST(x.n AS BIGINT) * 10 DIV d, x.n, CASE n WHEN '8' THEN NULL ELSE T END FROM STREAM '{}' x",
        # The rows of this one do not tell where they come from.
        "WITH y AS (SELECT * FROM STREAM '{}') "
        "SELECT CAST(n AS BIGINT) * 10 DIV d, n, CASE n WHEN '8' THEN NULL ELSE T END FROM y",
    ],
)
def test_rows_for_which_a_select_fails_are_rejected_alone(
    db: Connection, name: str, tmp_path: Path, select: str
) -> None:
    made(db, name)
    put(tmp_path, "in.csv", ROWS_WITH_FAULTS)
    db.sql(f"INSERT INTO {name} {select.format(tmp_path / 'in.csv')}")
    db.sql(f"WAIT FOR {name}")
    assert bag(ask(db, f"SELECT * FROM {name}")) == bag([(10, "1", 1), (None, None, 4), (60, "6", 6)])
    found = ask(db, f"SELECT source, line, reason FROM {name}__rejected ORDER BY line")
    assert [source for source, _, _ in found] == ["in.csv"] * 5
    reasons = {line: reason for _, line, reason in found}
    assert list(reasons) == [3, 4, 6, 8, 9]
    assert "'x'" in reasons[3] and "Division by zero" in reasons[4] and "does not fit in INT" in reasons[6]
    assert "T is neg" in reasons[8] and "T has no value" in reasons[9]
    assert dict(ask(db, f"DESCRIBE {name}"))["rejected rows"] == "5"
    ((text,),) = ask(db, f"SELECT text FROM {name}__rejected WHERE line = 3")
    assert '"n": "x"' in text


def test_the_columns_of_a_stream_stay_what_they_were(tmp_path: Path, spark: SparkSession) -> None:
    folder = tmp_path / "in"
    put(folder, "2.csv", "n;T\n1;1\nbad line\n2;2\n")
    with causeway.connect(tmp_path / "w", spark=spark) as db:
        made(db, "t")
        db.sql(f"INSERT INTO t SELECT n + 1, 'x', T FROM STREAM '{folder}' OPTIONS (delimiter = ';')")
        db.sql("WAIT FOR t")
    # The first file by name is another one now, in which `n` has no whole numbers.
    put(folder, "1.csv", "n;T\nfour;4\n5;5\n")
    with causeway.connect(tmp_path / "w", spark=spark) as db:
        db.sql("WAIT FOR t")
        assert bag(ask(db, "SELECT i FROM t")) == bag([(2,), (3,), (6,)])
        assert bag(ask(db, "SELECT source, line FROM t__rejected")) == bag([("2.csv", 3), ("1.csv", 2)])


@pytest.mark.parametrize(
    ("select", "message"),
    [
        ("SELECT i, s FROM STREAM '{}'", "has 2 values for 3 columns"),
        ("SELECT max(i), 'x', max(T) FROM STREAM '{}'", "an aggregate"),
        ("SELECT DISTINCT i, s, T FROM STREAM '{}'", "DISTINCT"),
        ("SELECT i, nope, T FROM STREAM '{}'", "`nope`"),
    ],
)
def test_a_select_from_a_stream_that_has_no_meaning_is_refused(
    db: Connection, name: str, tmp_path: Path, select: str, message: str
) -> None:
    made(db, name)
    (tmp_path / "in.csv").write_text("i,s,T\n1,a,1\n")
    assert message in refused(db, f"INSERT INTO {name} {select.format(tmp_path / 'in.csv')}")
    assert insert_state(db, name) == []


def test_sources_that_cannot_be_read_are_refused(db: Connection, name: str, tmp_path: Path) -> None:
    made(db, name)
    assert "there is no such file or folder" in refused(
        db, f"INSERT INTO {name} VALUES FROM '{tmp_path / 'x'}'"
    )
    (tmp_path / "in.csv").write_text("i,other,T\n1,a,1\n")
    message = refused(db, f"INSERT INTO {name} VALUES FROM '{tmp_path / 'in.csv'}'")
    assert "in.csv" in message and "s" in message
    (tmp_path / "no_time.csv").write_text("i,s\n1,a\n")
    assert "T" in refused(db, f"INSERT INTO {name} VALUES FROM '{tmp_path / 'no_time.csv'}'")
    assert "unknown" in refused(db, f"INSERT INTO {name} VALUES FROM 'ftp://x/y'")
    assert "colour" in refused(db, f"INSERT INTO {name} VALUES FROM '{tmp_path}' OPTIONS (colour = 'red')")
    assert insert_state(db, name) == []
    assert not [path for path in db.warehouse.inserts.glob("*") if not (path / "insert.json").exists()]


def test_rows_can_be_appended_beside_an_insert(db: Connection, name: str, tmp_path: Path) -> None:
    made(db, name, "SLACK INTERVAL 100")
    folder = tmp_path / "in"
    put(folder, "1.csv", "i,s,T\n1,a,1\n")
    db.sql(f"INSERT INTO {name} VALUES FROM '{folder}'")
    db.append(name, [(2, "b", 2)])
    put(folder, "2.csv", "i,s,T\n3,c,3\n")
    db.sql(f"WAIT FOR {name}")
    assert bag(ask(db, f"SELECT i FROM {name}")) == bag([(1,), (2,), (3,)])
