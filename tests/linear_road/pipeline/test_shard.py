"""Shards against the literal reading: random traffic, batches cut anywhere, replicas that come and go."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.linear_road.literal_reading import Expected, expected_answers
from tests.linear_road.random_traffic import InputTuple, make_traffic, segment_history, toll_history, traffic

from causeway.linear_road.pipeline.cells import Arrays, pack, unpack
from causeway.linear_road.pipeline.shard import Shard
from causeway.linear_road.pipeline.tuples_by_shard import deal
from causeway.linear_road.prepared_history import PreparedHistory
from causeway.linear_road.rules import RULES
from causeway.linear_road.tuples import INPUT_COLUMNS, INPUT_SCHEMA

NO_HISTORY = PreparedHistory(Path("/nowhere"), "none")


class Cells(dict[str, bytes]):
    """A state store of one shard."""

    def read(self, name: str) -> bytes | None:
        return self.get(name)

    def write(self, name: str, cell: bytes) -> None:
        self[name] = cell


def table(tuples: list[InputTuple]) -> pa.Table:
    columns = zip(*tuples, strict=True) if tuples else [[]] * len(INPUT_COLUMNS)
    return pa.table([pa.array(column, pa.int32()) for column in columns], schema=INPUT_SCHEMA)


def cut_into_batches(tuples: list[InputTuple], random: Random) -> list[list[InputTuple]]:
    """Batches of whole seconds, of one second to many minutes."""
    seconds = sorted({fields[1] for fields in tuples})
    longest = random.choice([1, 2, 31, 45, 90, 10_000])
    batches, start = [], 0
    while start < len(seconds):
        end = start + random.randint(1, longest)
        chosen = set(seconds[start:end])
        batches.append([fields for fields in tuples if fields[1] in chosen])
        start = end
    return batches


def run_shards(tuples: list[InputTuple], shards: int, random: Random) -> list[Arrays]:
    """All answers, of two processes that share the batches at random and are sometimes started anew."""
    states = [Cells() for _ in range(shards)]
    replicas: dict[tuple[int, int], Shard] = {}
    answers = []
    for batch in cut_into_batches(tuples, random):
        if random.random() < 0.2:
            replicas.clear()
        parts = []
        for shard, arrays in enumerate(deal(table(batch), shards)):
            which = (random.randint(0, 1), shard)
            if which not in replicas:
                replicas[which] = Shard(RULES["vldb2004"], NO_HISTORY, shards, shard)
            parts.append(replicas[which].answer(unpack(pack(arrays)), states[shard]))
        answers += parts[1:]
        balances = {"balance_bal": sum(part["balance_bal"] for part in parts)}
        answers.append(parts[0] | balances)
        for part in parts[1:]:
            assert np.array_equal(part["balance_qid"], parts[0]["balance_qid"])
            for name in [name for name in part if name.startswith("balance_")]:
                del part[name]
    return answers


def rows(answers: list[Arrays], *names: str) -> Counter[tuple[int, ...]]:
    found: Counter[tuple[int, ...]] = Counter()
    for arrays in answers:
        if names[0] in arrays:
            found.update(zip(*(arrays[name].tolist() for name in names), strict=True))
    return found


def check(answers: list[Arrays], expected: Expected) -> None:
    tolls = rows(answers, "toll_vid", "toll_time", "toll_lav", "toll_toll")
    assert tolls == Counter((t.vid, t.time, t.lav, t.toll) for t in expected.toll_notifications)
    alerts = rows(answers, "alert_time", "alert_vid", "alert_seg")
    assert alerts == Counter((a.time, a.vid, a.nearest) for a in expected.accident_alerts)
    balances = rows(answers, "balance_time", "balance_qid", "balance_result_time", "balance_bal")
    assert balances == Counter(
        (b.time, b.qid, b.time - 1, b.balances[b.time - 1]) for b in expected.account_balances
    )


def without_history(tuples: list[InputTuple]) -> list[InputTuple]:
    return [fields for fields in tuples if fields[0] in (0, 2)]


@pytest.mark.parametrize("orderly", [True, False])
@pytest.mark.parametrize("seed", range(12))
def test_shards_and_the_literal_reading_agree(seed: int, orderly: bool) -> None:
    random = Random(seed)
    tuples = without_history(make_traffic(random, orderly=orderly, crowded=seed % 2 == 0))
    expected = expected_answers(tuples, toll_history(tuples), segment_history)
    for shards in (1, 2, 3):
        check(run_shards(tuples, shards, random), expected)


@given(traffic(orderly=False), st.randoms(use_true_random=False), st.integers(1, 3))
@settings(max_examples=25)
def test_any_traffic_cut_anyhow(tuples: list[InputTuple], random: Random, shards: int) -> None:
    tuples = without_history(tuples)
    expected = expected_answers(tuples, {}, segment_history)
    check(run_shards(tuples, shards, random), expected)
