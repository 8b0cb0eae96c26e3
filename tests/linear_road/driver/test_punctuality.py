from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causeway.linear_road.driver.punctuality import Punctuality, PunctualityFile

lateness = st.lists(st.floats(0, 5_000), min_size=1, max_size=300)


@given(lateness, lateness)
def test_figures_are_those_of_all_releases_of_all_attempts(earlier: list[float], later: list[float]) -> None:
    first = Punctuality()
    for one in earlier:
        first.add(one)
    resumed = Punctuality.from_facts(json.loads(json.dumps(first.facts())))
    for one in later:
        resumed.add(one)
    together = sorted(earlier + later)
    assert resumed.worst_ms == together[-1]
    assert resumed.mean_ms == pytest.approx(np.mean(together))
    exact = together[int(np.ceil(0.99 * len(together))) - 1]
    assert exact - 1e-9 <= resumed.p99_ms <= exact + 0.1 + 1e-9


def test_without_releases_nothing_is_late() -> None:
    punctuality = Punctuality()
    assert (punctuality.worst_ms, punctuality.mean_ms, punctuality.p99_ms) == (0.0, 0.0, 0.0)


def test_a_broken_promise_is_on_disk_while_the_driver_still_runs(tmp_path: Path) -> None:
    with PunctualityFile(tmp_path, resume=False) as file:
        file.add(3.0)
        file.add(250.0)
        give_up = time.monotonic() + 300
        # What a driver finds that resumes after this one was killed.
        while PunctualityFile(tmp_path, resume=True).punctuality.worst_ms != 250.0:
            assert time.monotonic() < give_up, "nothing was saved"
            time.sleep(0.01)


def test_the_end_of_the_block_saves_and_a_new_delivery_starts_afresh(tmp_path: Path) -> None:
    with PunctualityFile(tmp_path, resume=False) as file:
        file.add(3.0)
    assert PunctualityFile(tmp_path, resume=True).punctuality.worst_ms == 3.0
    assert PunctualityFile(tmp_path, resume=False).punctuality.worst_ms == 0.0
    file.remove()
    assert list(tmp_path.iterdir()) == []
