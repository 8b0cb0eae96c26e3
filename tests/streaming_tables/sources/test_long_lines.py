"""Lines without end do not take memory without end."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.streaming_tables.sources.feeding import drain, opened


@pytest.mark.parametrize("name", ["a.csv", "a.json"])
@pytest.mark.parametrize("batch_bytes", [1 << 26, 1 << 20])
def test_a_line_that_is_too_long_is_rejected(tmp_path: Path, name: str, batch_bytes: int) -> None:
    good = {"a.csv": "{0},1,1,{0}", "a.json": '{{"vid":{0},"spd":1,"xway":1,"t":{0}}}'}[name]
    long = {"a.csv": "x" * 30_000_000, "a.json": '{"vid":"' + "x" * 30_000_000 + '"}'}[name]
    lines = [good.format(1), long, good.format(2), long]
    (tmp_path / name).write_text("\n".join(lines))
    source = opened(tmp_path / name, tmp_path / "state", header="false", batch_bytes=str(batch_bytes))
    drained = drain(source)
    assert [row[0] for row in drained.rows] == [1, 2]
    assert [(line, reason) for _, line, reason, _ in drained.rejects] == [
        (2, "the line is longer than 16 MB"),
        (4, "the line is longer than 16 MB"),
    ]
