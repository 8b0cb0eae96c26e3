"""A whole script on a cluster of two executors in processes of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

REPOSITORY = Path(__file__).parents[3]
REPORTS = [(n % 50, n * 7 % 60, n % 10, n // 30) for n in range(30_000)]


@pytest.mark.slow
@pytest.mark.starts_spark
@pytest.mark.parametrize("master", ["local-cluster[2,1,1024]", "local[2]"])
def test_a_whole_script(tmp_path: Path, master: str) -> None:
    (tmp_path / "in").mkdir()
    for part in range(3):
        vid, spd, seg, time = (
            pa.array(column) for column in zip(*REPORTS[part * 10_000 :][:10_000], strict=True)
        )
        pq.write_table(
            pa.table({"vid": vid, "spd": spd, "seg": seg, "T": time}), tmp_path / "in" / f"{part}.parquet"
        )
    command = [
        "-m",
        "tests.streaming_tables.engine.whole_script",
        master,
        str(tmp_path / "w"),
        str(tmp_path / "in"),
    ]
    done = subprocess.run(
        [sys.executable, *command], cwd=REPOSITORY, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    answers = iter(
        [one["rows"] for one in found if one["statement"].split()[0] in ("SELECT", "SHOW", "EXPLAIN")]
    )
    assert next(answers) == [[30_000, sum(row[1] for row in REPORTS), 999]]
    assert sorted(next(answers)) == sorted(
        [row[1], row[3]] for row in REPORTS if row[0] == 7 and row[3] < 100
    )
    counted = []
    for tick in range(500, 1000, 100):
        inside = [row for row in REPORTS if tick - 50 <= row[3] <= tick]
        counted += [[seg, sum(row[2] == seg for row in inside), tick] for seg in {row[2] for row in inside}]
    assert sorted(next(answers)) == sorted(counted)
    last: dict[int, list[tuple[int, ...]]] = {}
    slower = []
    for row in REPORTS:
        last[row[0]] = [row, *last.get(row[0], [])][:2]
        before = last[row[0]][1:]
        slower += [before[0][1] - row[1]] if before and row[1] < before[0][1] else []
    assert next(answers) == [[len(slower), sum(slower), 999]]
    assert sorted(next(answers)) == sorted(
        [rows[0][0], rows[1][1]] for rows in last.values() if rows[0][2] == 3
    )
    named = [[name, sum(row[2] == seg for row in REPORTS)] for seg, name in ((1, "a"), (3, "c"))]
    assert sorted(next(answers)) == named
    by_segment = {seg: n for seg, n, tick in counted if tick == 900}
    assert next(answers) == [[900, [["a", by_segment[1]], ["c", by_segment[3]]]]]
    near = [[vid, sum(row[0] == vid and row[3] >= 939 for row in REPORTS)] for vid in range(8, 13)]
    assert sorted(next(answers)) == near
    others = [row for row in REPORTS if row[0] != 7]
    assert next(answers) == [[len(others), sum(row[1] for row in others)]]
    updated = [(vid, spd + (vid < 7), seg, time) for vid, spd, seg, time in others]
    assert next(answers) == [[sum(row[1] for row in updated)]]
    recent = [row for row in updated if row[2] == 3 and row[3] >= 939]
    assert next(answers) == [[len(recent), sum(row[1] for row in recent), 999]]
    again = [row for row in REPORTS if row[2] in (1, 3) and row[3] > 989]
    assert next(answers) == [[sum(row[2] == 3 for row in updated) + len(again)]]
    assert "value index on vid" in str(next(answers))
    assert next(answers) == [["by_vid", "reports", "vid"]]
    kinds = [["copy", "streaming table"], ["counted", "streaming view"], ["reports", "streaming table"]]
    assert next(answers) == [*kinds, ["segments", "table"], ["slower", "streaming view"]]
    assert [row[0] for row in next(answers)] == ["counted"]
    assert next(answers, None) is None
