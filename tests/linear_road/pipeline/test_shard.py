"""Shards against the literal reading: random traffic, batches cut anywhere, replicas that come and go."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.linear_road.literal_reading import Expected, expected_answers
from tests.linear_road.pipeline.tuple_tables import table
from tests.linear_road.random_traffic import InputTuple, make_traffic, segment_history, toll_history, traffic

from causeway.linear_road.history.prepared import PreparedHistory
from causeway.linear_road.model.rules import RULES
from causeway.linear_road.pipeline import departures
from causeway.linear_road.pipeline.shard import Shard
from causeway.linear_road.pipeline.tuples_by_shard import deal
from causeway.streaming.cells import Arrays, pack, unpack

NO_HISTORY = PreparedHistory(Path("/nowhere"), "none")


class Cells(dict[str, bytes]):
    """A state store of one shard."""

    def read(self, name: str) -> bytes | None:
        return self.get(name)

    def write(self, name: str, cell: bytes) -> None:
        self[name] = cell

    def remove(self, name: str) -> None:
        del self[name]


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


class Noted(Cells):
    """A state store that notes what is read and written."""

    def __init__(self, cells: dict[str, bytes] | None = None) -> None:
        super().__init__(cells or {})
        self.was_read: list[str] = []
        self.was_written: dict[str, int] = {}

    def read(self, name: str) -> bytes | None:
        self.was_read.append(name)
        return super().read(name)

    def write(self, name: str, cell: bytes) -> None:
        self.was_written[name] = len(cell)
        super().write(name, cell)

    def forget(self) -> None:
        self.was_read, self.was_written = [], {}


def new_shard() -> Shard:
    return Shard(RULES["vldb2004"], NO_HISTORY, 1, 0)


def answer(shard: Shard, tuples: list[InputTuple], state: Cells) -> dict[str, list[int]]:
    (arrays,) = deal(table(tuples), 1)
    return {name: values.tolist() for name, values in shard.answer(arrays, state).items()}


def commuters(count: int, seconds: range, xway: int = 0) -> list[InputTuple]:
    """So many vehicles that report every 30 s, spread evenly, and drive on about a segment a minute."""
    return [
        (0, time, vid, 60, xway, 2, 0, (seg := (time // 60) % 100), seg * 5280 + vid, *[-1] * 6)
        for time in seconds
        for vid in range(count)
        if vid % 30 == time % 30
    ]


def test_state_is_written_at_the_size_of_the_input() -> None:
    """One phase a second, a row for each report; the roads; nothing grows while nobody leaves."""
    shard, state = new_shard(), Noted()
    vehicles, row = 600, 40
    sizes = []
    for time in range(180):
        state.forget()
        answer(shard, commuters(vehicles, range(time, time + 1)), state)
        phase = f"phase-{time % 30:02d}"
        assert set(state.was_written) == {phase, "roads"}
        assert state.was_written[phase] <= row * vehicles // 30 + 512
        assert state.was_read == ["roads"]
        sizes.append(state.was_written["roads"])
    # Statistics of a road's 100 segments: of this minute, of five before, and what is told.
    assert max(sizes) <= 100 * (4 + 8 + 5 * 16 + 3 * 4) + 1024
    assert sum(map(len, state.values())) <= row * vehicles + 31 * 512 + max(sizes)


def test_a_batch_of_a_minute_writes_every_phase_once() -> None:
    shard, state = new_shard(), Noted()
    vehicles = 300
    for minute in range(3):
        state.forget()
        answer(shard, commuters(vehicles, range(60 * minute, 60 * minute + 60)), state)
        assert set(state.was_written) == {"roads", *(f"phase-{phase:02d}" for phase in range(30))}
        assert sum(state.was_written.values()) <= 40 * vehicles + 31 * 512 + 100 * 104 + 1024


def test_who_leaves_is_written_once_more_and_that_is_all() -> None:
    shard, state = new_shard(), Noted()
    answer(shard, commuters(60, range(30)), state)
    state.forget()
    # Of the two vehicles of each phase, one goes on.
    answer(shard, [fields for fields in commuters(60, range(30, 60)) if fields[2] < 30], state)
    assert {name for name in state if name.startswith("left")} == {"left-00002"}
    assert len(unpack(state["left-00002"])["vehicles"]) == 30
    state.forget()
    answer(shard, [fields for fields in commuters(60, range(60, 90)) if fields[2] < 30], state)
    assert not [name for name in state.was_written if name.startswith("left")]


def batches_of(seed: int, orderly: bool = True) -> list[list[InputTuple]]:
    random = Random(seed)
    return cut_into_batches(without_history(make_traffic(random, orderly=orderly, crowded=True)), random)


@pytest.mark.parametrize("seed", [0, 2, 3, 5, 6, 7])
def test_a_fresh_replica_is_as_good_as_the_old_one(seed: int) -> None:
    """It knows nothing but the state, and gives the same answers and the same state, to the byte."""
    old, state = new_shard(), Noted()
    for batch in batches_of(seed, orderly=False):
        copy = Noted(state)
        answers = answer(old, batch, state)
        assert answer(new_shard(), batch, copy) == answers
        assert dict(copy) == dict(state)


@pytest.mark.parametrize("missed", [1, 2, 7, 40])
def test_an_old_replica_reads_what_has_changed_since(missed: int) -> None:
    """Of phases only those with reports meanwhile, and of departures only those since."""
    old, other, state = new_shard(), new_shard(), Noted()
    for time in range(40):
        answer(old, commuters(90, range(time, time + 1)), state)
    for time in range(40, 40 + missed):
        answer(other, commuters(90, range(time, time + 1)), state)
    state.forget()
    copy = Noted(state)
    batch = commuters(90, range(40 + missed, 41 + missed))
    answers = answer(old, batch, state)
    phases = {f"phase-{time % 30:02d}" for time in range(40, 40 + missed)}
    assert {name for name in state.was_read if name.startswith("phase")} == phases
    assert not [name for name in state.was_read if name.startswith("left")]
    assert answer(other, batch, copy) == answers
    assert dict(copy) == dict(state)


def test_replicas_may_take_turns() -> None:
    for seed in (10, 16, 25, 35):
        batches = batches_of(seed)
        alone, state = new_shard(), Cells()
        expected = [answer(alone, batch, state) for batch in batches]
        replicas, shared = [new_shard() for _ in range(3)], Cells()
        random = Random(seed)
        assert [answer(random.choice(replicas), batch, shared) for batch in batches] == expected


def leavers(batch: int, each: int = 3) -> list[InputTuple]:
    """Vehicles that report once, in a second of their own batch, and are gone 30 s later."""
    return [(0, batch, 1000 + each * batch + i, 60, 0, 2, 0, 40, 211_200 + i, *[-1] * 6) for i in range(each)]


def test_a_fresh_replica_reads_few_cells_whatever_the_number_of_batches() -> None:
    shard, state = new_shard(), Noted()
    vehicles = written = 0
    for batch in range(600):
        state.forget()
        answer(shard, leavers(batch), state)
        vehicles += 3
        written += sum(size for name, size in state.was_written.items() if name.startswith("left"))
    copy = Noted(state)
    request = [(2, 600, 1000, *[-1] * 6, 1, *[-1] * 5)]
    assert answer(new_shard(), request, copy) == answer(shard, request, state)
    read = [name for name in copy.was_read if name.startswith("left")]
    assert 0 < len(read) <= 12
    assert len(read) == len([name for name in state if name.startswith("left")])
    kept = [unpack(state[name])["vehicles"] for name in state if name.startswith("left")]
    # The last 30 seconds' are still in their phases.
    assert sum(map(len, kept)) == vehicles - 30 * 3
    # A row is written again when its cell doubles: far less often than there are batches.
    assert written < 12 * 44 * vehicles + 600 * 512


def test_an_old_replica_reads_only_the_departures_since() -> None:
    old, other, state = new_shard(), new_shard(), Noted()
    for batch in range(200):
        answer(old, leavers(batch), state)
    for batch in range(200, 204):
        answer(other, leavers(batch), state)
    state.forget()
    copy = Noted(state)
    answers = answer(old, leavers(204), state)
    read = [unpack(copy[name])["vehicles"] for name in set(state.was_read) if name.startswith("left")]
    assert 0 < sum(map(len, read)) < 200
    assert answer(other, leavers(204), copy) == answers
    assert dict(copy) == dict(state)


def test_departures_are_merged_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(departures, "MERGED_ROWS", 64)
    shard, state = new_shard(), Cells()
    for batch in range(300):
        answer(shard, leavers(batch), state)
    sizes = [len(unpack(cell)["vehicles"]) for name, cell in state.items() if name.startswith("left")]
    assert max(sizes) <= 64
    assert len(sizes) <= 3 * 270 / 32 + 8
    copy = Cells(state)
    batch = leavers(300)
    assert answer(new_shard(), batch, copy) == answer(shard, batch, state)


@pytest.mark.parametrize("ahead", [1, 3])
@pytest.mark.parametrize("seed", [0, 3])
def test_a_replica_that_is_ahead_of_the_state_is_rebuilt(seed: int, ahead: int) -> None:
    """Spark did not commit what it answered: it answers the same batches again, as if for the first time."""
    batches = batches_of(seed)
    middle = len(batches) // 2
    shard, state = new_shard(), Cells()
    for batch in batches[:middle]:
        answer(shard, batch, state)
    committed = Cells(state)
    for batch in batches[middle : middle + ahead]:
        answer(shard, batch, state)
    fresh, copy = new_shard(), Cells(committed)
    for batch in batches[middle:]:
        assert answer(shard, batch, committed) == answer(fresh, batch, copy)
        assert dict(committed) == dict(copy)


def test_a_replica_of_a_state_that_is_gone_begins_anew() -> None:
    shard = new_shard()
    answer(shard, commuters(30, range(0, 10)), Cells())
    empty, other = Cells(), Cells()
    batch = commuters(30, range(0, 10))
    assert answer(shard, batch, empty) == answer(new_shard(), batch, other)
    assert dict(empty) == dict(other)


def test_a_vehicle_long_gone_keeps_its_account() -> None:
    """Its row makes room for others; what it was charged is known, also to a new replica."""
    # 51 slow vehicles in segment 5 in minute 1: 2 are due on entering it in minute 2.
    crowd = [
        (0, 30 * turn, vid, 20, 0, 2, 0, 5, 26_400 + 11 * vid + turn, *[-1] * 6)
        for turn in (0, 1)
        for vid in range(51)
    ]
    charged = [
        (0, 60, 99, 20, 0, 2, 0, 5, 26_400, *[-1] * 6),
        (0, 90, 99, 50, 0, 2, 0, 6, 31_680, *[-1] * 6),
    ]
    # One after the other, more vehicles than a small table holds.
    others = [
        (0, time, 1000 + 20 * time + i, 50, 0, 2, 0, 40, 211_200, *[-1] * 6)
        for time in range(100, 400)
        for i in range(20)
    ]
    asked = [(2, time, 99, *[-1] * 6, time, *[-1] * 5) for time in (90, 91, 400)]
    tuples = sorted([*crowd, *charged, *others, *asked], key=lambda fields: fields[1])
    shard, state = new_shard(), Cells()
    found = []
    for start in range(0, 420, 10):
        batch = [fields for fields in tuples if start <= fields[1] < start + 10]
        if start == 400:
            assert answer(new_shard(), batch, Cells(state))["balance_bal"] == [2]
        if batch:
            found += answer(shard, batch, state)["balance_bal"]
    # Balances are those of the second before.
    assert found == [0, 2, 2]


def test_a_road_that_is_new_in_a_minute_changes_nothing_on_others() -> None:
    wreck = [(0, 30 * turn, vid, 0, 0, 2, 0, 50, 264_000, *[-1] * 6) for turn in range(4) for vid in (1, 2)]
    witnesses = [(0, time, time, 50, 0, 2, 0, 48, 253_440, *[-1] * 6) for time in (121, 130)]
    elsewhere = [(0, 125, 4, 50, 7, 2, 1, 48, 253_440, *[-1] * 6)]
    tuples = sorted([*wreck, *witnesses, *elsewhere], key=lambda fields: fields[1])
    expected = expected_answers(tuples, {}, segment_history)
    assert len(expected.accident_alerts) == 2
    shard, state = new_shard(), Cells()
    parts = [tuples[:8], *([fields] for fields in tuples[8:])]
    check([shard.answer(deal(table(part), 1)[0], state) for part in parts], expected)
