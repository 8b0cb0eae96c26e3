"""Statements that are Spark's own reach Spark byte for byte."""

from __future__ import annotations

from typing import Any

import pytest
from tests.streaming_tables.language.spark_corpus import STATEMENTS

from causeway.runtime.errors import UserError
from causeway.streaming_tables.engine.connection import Connection
from causeway.streaming_tables.language import SourceStatement


class Recorder:
    """In the place of a Spark session: remembers the statements and runs none."""

    def __init__(self) -> None:
        self.statements: list[str] = []

    def sql(self, text: str) -> Recorder:
        self.statements.append(text)
        return self

    columns: tuple[str, ...] = ()


class Nothing:
    """In the place of the standard tables."""

    def load(self) -> None: ...

    def save(self) -> None: ...

    def may_change(self, word: str) -> bool:
        return False


def test_a_statement_of_sparks_reaches_spark_unchanged(
    db: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder: Any = Recorder()
    nothing: Any = Nothing()
    monkeypatch.setattr(db._runner, "_standard", nothing)
    with monkeypatch.context() as patch:
        patch.setattr(db._runner, "_spark", recorder)
        for statement in STATEMENTS:
            db._runner.run(SourceStatement.alone(statement))
    assert recorder.statements == list(STATEMENTS)
    assert len(recorder.statements) > 50
    for name in ("POSREPORTS", "SEGSTAT"):
        db.sql(
            f"CREATE STREAMING TABLE {name} (VID INT, SPD INT, XWAY INT, DIR INT, SEG INT) RANGE INTERVAL 60"
        )
    monkeypatch.setattr(db._runner, "_spark", recorder)
    for statement in STATEMENTS:
        recorder.statements.clear()
        try:
            db._runner.run(SourceStatement.alone(statement))
        except UserError as refused:
            # Spark must not make a second table of a streaming table's name.
            assert statement.startswith("CREATE ")
            assert "there is a streaming table" in str(refused)
        else:
            assert recorder.statements == [statement]
