"""What `causeway sql --timing` prints beside the answers."""

from __future__ import annotations

import re
from typing import Any, cast

import pytest

from causeway.cli.sql.script import run_script

LONG = "SELECT T, COUNT(*) AS reports, ROUND(AVG(SPD), 1) AS speed, COUNT(DISTINCT SEG) AS segments FROM [t]"


class _Nothing:
    """A connection, and a printer, without answers."""

    def sql(self, statement: object) -> object:
        return statement

    def print_answer(self, connection: object, answer: object) -> None:
        pass


def test_statements_are_printed_as_they_were_written(capsys: pytest.CaptureFixture[str]) -> None:
    nothing = cast(Any, _Nothing())
    run_script(nothing, f"-- Long.\n{LONG};\nSELECT 2", nothing, timing=True)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["", "-- Long.", LONG]
    assert re.fullmatch(r"\d+ ms", lines[3])
    assert lines[4:6] == ["", "SELECT 2"]
