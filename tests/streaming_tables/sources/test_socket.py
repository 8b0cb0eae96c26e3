"""Lines from a socket: durable before they are read, in order, until the other side closes."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.streaming_tables.sources.feeding import drain, opened


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


def _address(server: socket.socket) -> str:
    return f"socket://127.0.0.1:{server.getsockname()[1]}"


def _wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in five minutes"
        time.sleep(0.01)


def _received(state: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted((state / "received").glob("[0-9]*.lines")))


def test_lines_of_json_until_the_other_side_closes(server: socket.socket, tmp_path: Path) -> None:
    source = opened(_address(server), tmp_path)
    connection, _ = server.accept()
    connection.sendall(b'{"vid":1,"spd":2,"xway":3,"t":4}\n{"vid":5,"spd')
    _wait(lambda: source.available()["file"] == 1)
    first = drain(source)
    assert first.rows == [(1, 2, 3, 4)]
    assert not source.ends
    assert not source.finished(first.offset)
    connection.sendall(b'":6,"xway":7,"t":8}\nnot json\n{"vid":9,"spd":9,"xway":9,"t":9}')
    connection.close()
    _wait(lambda: source.ends)
    second = drain(source, offset=first.offset)
    # The last line has no newline.
    assert second.rows == [(5, 6, 7, 8), (9, 9, 9, 9)]
    assert [reject[:2] for reject in second.rejects] == [(_address(server), 3)]
    assert source.finished(second.offset)
    source.stop()


def test_lines_of_csv_in_the_order_of_the_table(server: socket.socket, tmp_path: Path) -> None:
    source = opened(_address(server), tmp_path, format="csv")
    connection, _ = server.accept()
    connection.sendall("".join(f"{number},1,0,{number}\n" for number in range(100_000)).encode())
    connection.close()
    _wait(lambda: source.ends)
    drained = drain(source)
    assert drained.rows == [(number, 1, 0, number) for number in range(100_000)]
    source.stop()


def test_lines_go_on_after_a_restart(server: socket.socket, tmp_path: Path) -> None:
    source = opened(_address(server), tmp_path, format="csv")
    connection, _ = server.accept()
    connection.sendall(b"1,1,1,1\nx\n2,2,2,2\n")
    _wait(lambda: _received(tmp_path).count(b"\n") == 3)
    source.stop()
    connection.close()
    again = opened(_address(server), tmp_path, format="csv")
    connection, _ = server.accept()
    before = again.available()
    connection.sendall(b"3,3,3,3\ny\n")
    connection.close()
    _wait(lambda: again.ends)
    drained = drain(again, offset=before)
    assert drained.rows == [(3, 3, 3, 3)]
    assert drained.reject_lines == [5]
    again.stop()
    # It has ended: nobody has to be there any more.
    server.close()
    ended = opened(_address_of(again.description), tmp_path, format="csv")
    assert ended.finished(drained.offset)
    ended.stop()


def _address_of(description: str) -> str:
    return description.partition(",")[0]


def test_chunks_that_are_in_the_table_are_removed(server: socket.socket, tmp_path: Path) -> None:
    source = opened(_address(server), tmp_path, format="csv")
    connection, _ = server.accept()
    offset = None
    for number in range(4):
        connection.sendall(f"{number},1,1,{number}\n".encode())
        _wait(lambda number=number: source.available()["file"] == number + 1)
        drained = drain(source, offset=offset)
        assert [row[0] for row in drained.rows] == [number]
        offset = drained.offset
    assert [path.name for path in (tmp_path / "received").iterdir()] == ["000000000003-4.lines"]
    connection.close()
    source.stop()
