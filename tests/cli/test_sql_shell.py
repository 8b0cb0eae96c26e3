"""The shell of `causeway sql` on a terminal: Ctrl-C, statements of many lines, history."""

from __future__ import annotations

import os
import pty
import select
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

PROMPT = "causeway> "
PATIENCE = 300.0
"""Seconds to wait for something that must come; a test that passes waits for none of it."""


class Shell:
    """A `causeway sql` whose terminal this is."""

    def __init__(self, warehouse: Path, home: Path) -> None:
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            environment = {**os.environ, "HOME": str(home), "COLUMNS": "200", "TERM": "dumb"}
            arguments = ["-m", "causeway", "sql", "--warehouse", str(warehouse), "--format", "csv"]
            settings = ["--master", "local[1]", "--conf", "spark.driver.memory=1g"]
            os.execve(sys.executable, [sys.executable, *arguments, *settings], environment)
        self._unread = ""

    def type(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def wait_for(self, text: str) -> str:
        """What came up to `text`."""
        deadline = time.monotonic() + PATIENCE
        while text not in self._unread:
            assert time.monotonic() < deadline, f"no {text!r} in {self._unread!r}"
            if select.select([self._terminal], [], [], 1.0)[0]:
                self._unread += os.read(self._terminal, 1 << 16).decode(errors="replace")
        before, _, self._unread = self._unread.partition(text)
        return before.replace("\r\n", "\n")

    def run(self, statement: str) -> str:
        """What a statement prints."""
        self.type(f"{statement}\n")
        return self.wait_for(PROMPT)

    def end(self) -> int:
        """Leave with Ctrl-D; the exit code."""
        self.type("\x04")
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        self.pid = 0
        return code

    def close(self) -> None:
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._terminal)


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    opened = Shell(tmp_path / "w", tmp_path)
    try:
        opened.wait_for(PROMPT)
        yield opened
    finally:
        opened.close()


@pytest.mark.slow
@pytest.mark.starts_spark
def test_a_session_on_a_terminal(shell: Shell, tmp_path: Path) -> None:
    shell.run("CREATE STREAMING TABLE t (k INT) RANGE UNLIMITED;")
    shell.type("INSERT INTO t\n")
    shell.wait_for("...> ")
    shell.type("VALUES (1, 1),\n")
    shell.wait_for("...> ")
    assert "2 rows inserted" not in shell.run("(2, 2); -- done;\n;")
    (tmp_path / "in").mkdir()
    shell.run(f"INSERT INTO t VALUES FROM '{tmp_path / 'in'}';")

    # The folder is watched for ever, so this query has no end.
    shell.type("SELECT k FROM t [ROWS 1] SAMPLE REALTIME;\n")
    shell.wait_for("tick,k\r\n1,1\r\n")
    shell.type("\x03")
    assert "ended by Ctrl-C" in shell.wait_for(PROMPT)
    # So has this one, in a Spark job.
    shell.type("SELECT count(*) FROM range(1000000000) a JOIN range(1000000) b ON a.id % 7 < b.id % 3;\n")
    time.sleep(3)
    shell.type("\x03")
    assert "ended by Ctrl-C" in shell.wait_for(PROMPT)
    # And this one waits for a time that does not come.
    shell.type("WAIT FOR t UNTIL 1000;\n")
    time.sleep(1)
    shell.type("\x03")
    assert "ended by Ctrl-C" in shell.wait_for(PROMPT)

    # What was typed is cleared; the next statement, the insert and the table are as if nothing had been.
    shell.type("SELECT nonsense\n")
    shell.wait_for("...> ")
    shell.type("\x03")
    shell.wait_for(PROMPT)
    (tmp_path / "in/.1").write_text("k,T\n3,3\n")
    (tmp_path / "in/.1").rename(tmp_path / "in/1.csv")
    shell.run("WAIT FOR t;")
    assert "sum(k)\n6\n" in shell.run("SELECT sum(k) FROM t;")
    assert "line 1, column 8" in shell.run("SELECT nope FROM t;")
    # The arrow up brings the statement back.
    shell.type("\x1b[A\x1b[A\n")
    assert "sum(k)\n6\n" in shell.wait_for(PROMPT)
    assert shell.end() == 0
    assert "SELECT sum(k) FROM t;" in (tmp_path / ".causeway_sql_history").read_text()
