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
    found = [sorted(json.loads(line)) for line in done.stdout.splitlines()]
    assert len(found) == 13
    assert found[5] == [[30_000, sum(row[1] for row in REPORTS), 999]]
    assert found[6] == sorted([row[1], row[3]] for row in REPORTS if row[0] == 7 and row[3] < 100)
    counted = []
    for tick in range(500, 1000, 100):
        inside = [row for row in REPORTS if tick - 50 <= row[3] <= tick]
        counted += [[seg, sum(row[2] == seg for row in inside), tick] for seg in {row[2] for row in inside}]
    assert found[7] == sorted(counted)
    last: dict[int, list[tuple[int, ...]]] = {}
    for row in REPORTS:
        last[row[0]] = [row, *last.get(row[0], [])][:2]
    assert found[8] == sorted([rows[0][0], rows[1][1]] for rows in last.values() if rows[0][2] == 3)
    assert found[10] == [[name, sum(row[2] == seg for row in REPORTS)] for seg, name in ((1, "a"), (3, "c"))]
    assert found[11] == [[600]]
    assert found[12] == [[29_400, sum(row[1] for row in REPORTS if row[0] != 7)]]
