"""Damage is reported with the file's name and never served; a torn end of the log is no damage."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from tests.streaming_tables.storage.small_tables import make_numbered, numbered_rows, numbers_in

from causeway.streaming_tables.storage import (
    Comparison,
    DamagedTableError,
    IndexDefinition,
    Predicate,
    TableStore,
)
from causeway.streaming_tables.storage.log import log_state


def _segment(folder: Path) -> Path:
    return max(folder.glob("log/*.frames"))


def _flip(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 0x10
    path.write_bytes(content)


def _stored(folder: Path, batches: int = 3) -> int:
    """A table with some batches in the log; returns the bytes before the first frame."""
    store = make_numbered(folder)
    begin = _segment(folder).stat().st_size
    with store.writer("test") as writer:
        for batch in range(batches):
            writer.append(numbered_rows(batch * 100, 100))
    return begin


@pytest.mark.parametrize("state_is_there", [True, False])
def test_a_damaged_byte_anywhere_in_the_log(tmp_path: Path, state_is_there: bool) -> None:
    begin = _stored(tmp_path / "t")
    segment = _segment(tmp_path / "t")
    if not state_is_there:
        (tmp_path / "t/log/state").unlink()
    whole = segment.read_bytes()
    chance = random.Random(1)
    last = len(whole) if state_is_there else begin + (len(whole) - begin) * 2 // 3 - 300
    for place in [0, 5, begin - 1, begin, begin + 8, *(chance.randrange(begin, last) for _ in range(30))]:
        _flip(segment, place)
        for read in (
            lambda: TableStore.open(tmp_path / "t").snapshot(),
            lambda: TableStore.open(tmp_path / "t").writer("x"),
        ):
            with pytest.raises(DamagedTableError, match=segment.name):
                read()
        segment.write_bytes(whole)
    assert len(numbers_in(TableStore.open(tmp_path / "t").snapshot().scan())) == 300


def test_a_log_that_was_cut_off(tmp_path: Path) -> None:
    _stored(tmp_path / "t")
    os.truncate(_segment(tmp_path / "t"), _segment(tmp_path / "t").stat().st_size - 1)
    with pytest.raises(DamagedTableError, match=r"\.frames ends at byte"):
        TableStore.open(tmp_path / "t").snapshot()
    with pytest.raises(DamagedTableError, match=r"\.frames"):
        TableStore.open(tmp_path / "t").writer("x")


@pytest.mark.parametrize(
    "rest", [b"CWF1", b"\0" * 5000, b"CWF1" + b"\xff" * 200, "a whole frame's beginning"]
)
def test_a_torn_end_is_cut_off_by_the_next_writer(tmp_path: Path, rest: bytes | str) -> None:
    folder = tmp_path / "t"
    begin = _stored(folder, 1)
    segment = _segment(folder)
    whole = segment.read_bytes()
    torn = whole[begin:-7] if isinstance(rest, str) else rest
    segment.write_bytes(whole + torn)
    reader = TableStore.open(folder)
    assert len(numbers_in(reader.snapshot().scan())) == 100
    with TableStore.open(folder).writer("next") as writer:
        assert segment.read_bytes() == whole
        writer.append(numbered_rows(100, 100))
    assert numbers_in(reader.snapshot().scan()) == list(range(200))


def test_without_a_state_file_the_log_tells(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    _stored(folder)
    state = folder / "log/state"
    for content in (None, b"", os.urandom(256), bytes(256)):
        state.unlink()
        if content is not None:
            state.write_bytes(content)
        segment = _segment(folder)
        segment.write_bytes(segment.read_bytes() + b"CWF1 torn")
        reader = TableStore.open(folder)
        assert len(numbers_in(reader.snapshot().scan())) == 300
        with TableStore.open(folder).writer("next"):
            pass
        assert len(numbers_in(TableStore.open(folder).snapshot().scan())) == 300


def test_after_a_power_loss_the_state_may_be_behind_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The state file is not synced: what was synced in the log after it counts all the same."""
    folder = tmp_path / "t"
    store = make_numbered(folder, 100)
    old = (folder / "log/state").read_bytes()
    with store.writer("test") as writer:
        writer.append(numbered_rows(100, 100))
    (folder / "log/state").write_bytes(old)
    monkeypatch.setattr(log_state, "this_boot", lambda: b"another boot ---")
    assert numbers_in(TableStore.open(folder).snapshot().scan()) == list(range(200))
    with TableStore.open(folder).writer("next"):
        assert numbers_in(TableStore.open(folder).snapshot().scan()) == list(range(200))


def test_a_missing_segment(tmp_path: Path) -> None:
    _stored(tmp_path / "t")
    segment = _segment(tmp_path / "t")
    segment.unlink()
    with pytest.raises(DamagedTableError, match=segment.name):
        TableStore.open(tmp_path / "t").snapshot()
    with pytest.raises(DamagedTableError, match=segment.name):
        TableStore.open(tmp_path / "t").writer("x")


def _flushed(folder: Path, rows: int = 3000) -> Path:
    store = make_numbered(folder, compartment=10_000)
    with store.writer("test") as writer:
        writer.append(numbered_rows(0, rows))
        writer.flush()
    return store.snapshot().candidates().files[0]


def test_a_missing_data_file(tmp_path: Path) -> None:
    path = _flushed(tmp_path / "t")
    opened = TableStore.open(tmp_path / "t").snapshot()
    path.unlink()
    for snapshot in (opened, TableStore.open(tmp_path / "t").snapshot()):
        with pytest.raises(DamagedTableError, match=path.name):
            snapshot.scan()


def test_a_damaged_byte_in_a_data_file(tmp_path: Path) -> None:
    """A read raises, or the byte does not matter to it; it never gives other rows."""
    path = _flushed(tmp_path / "t")
    whole = path.read_bytes()
    chance = random.Random(2)
    places = [chance.randrange(len(whole)) for _ in range(60)] + [
        len(whole) - 1 - place for place in range(0, 3000, 53)
    ]
    noticed = 0
    for place in places:
        _flip(path, place)
        try:
            found = numbers_in(TableStore.open(tmp_path / "t").snapshot().scan(with_seq=True))
            assert found == list(range(3000)), place
        except DamagedTableError as error:
            noticed += 1
            assert path.name in str(error)
        path.write_bytes(whole)
    assert noticed > len(places) // 2


def test_a_damaged_value_index(tmp_path: Path) -> None:
    _flushed(tmp_path / "t")
    sidecar = next((tmp_path / "t").glob("index/VID/*"))
    some = Predicate.all_of(Comparison("VID", "=", 3))
    expected = numbers_in(TableStore.open(tmp_path / "t").snapshot().scan(None, some))
    whole = sidecar.read_bytes()
    for place in (0, 9, 40, len(whole) // 2, len(whole) - 1):
        _flip(sidecar, place)
        with pytest.raises(DamagedTableError, match=sidecar.name):
            TableStore.open(tmp_path / "t").snapshot().scan(None, some)
        sidecar.write_bytes(whole)
    sidecar.unlink()  # rows are found without it
    assert numbers_in(TableStore.open(tmp_path / "t").snapshot().scan(None, some)) == expected
    sidecar.write_bytes(whole[:-1])
    with TableStore.open(tmp_path / "t").writer("x") as writer:
        writer.drop_index("by_vid")
        writer.add_index(IndexDefinition("by_vid", "VID"))
        assert numbers_in(writer.store.snapshot().scan(None, some)) == expected


def test_a_damaged_delta_log(tmp_path: Path) -> None:
    _flushed(tmp_path / "t")
    (tmp_path / "t/past/_delta_log/00000000000000000000.json").write_text("{")
    with pytest.raises(DamagedTableError, match="_delta_log"):
        TableStore.open(tmp_path / "t")


def test_a_damaged_definition(tmp_path: Path) -> None:
    make_numbered(tmp_path / "t")
    (tmp_path / "t/definition.json").write_text('{"name": 3')
    with pytest.raises(DamagedTableError, match=r"definition\.json"):
        TableStore.open(tmp_path / "t")
