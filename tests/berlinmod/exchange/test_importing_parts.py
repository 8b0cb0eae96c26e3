"""Reading and joining without Spark: against obvious code, and with files that were damaged."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from causeway.berlinmod.exchange.importing.joining import Units, cut_into_trips, join_units, sorted_units
from causeway.berlinmod.exchange.importing.lines import Reject, split_fields
from causeway.berlinmod.exchange.importing.ranges import byte_ranges, read_range
from causeway.berlinmod.exchange.importing.small_files import SmallFiles
from causeway.berlinmod.exchange.importing.trip_files import find_trip_file
from causeway.runtime.errors import UserError

HEADER = "Moid,Tripid,Tstart,Tend,Xstart,Ystart,Xend,Yend\n"
LINES = [
    f"{1 + i // 20},{1 + i // 5},2007-05-28-06:{i:02d}:00.000,2007-05-28-06:{i + 1:02d}:00.000,"
    f"{i}.5,2.0,{i + 1}.5,2.0\n"
    for i in range(40)
]
HEX = (
    "012E000E020000000301010000000000000000000000000000000000000000BC5C5BDDD00000"
    "0101000000000000000000F03F000000000000F03F80B8FF5CDDD00000"
)


@given(st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_line_is_rejected_alone(tmp_path: Path, data: st.DataObject) -> None:
    lines = [line.encode() for line in LINES]
    damaged = data.draw(st.sets(st.integers(0, 39), max_size=5))
    for i in damaged:
        line = bytearray(lines[i][:-1])
        place = data.draw(st.integers(0, len(line) - 1))
        line[place : place + data.draw(st.integers(0, 3))] = data.draw(
            st.binary(max_size=3).filter(lambda b: b"\n" not in b)
        )
        lines[i] = bytes(line) + b"\n"
    path = tmp_path / "trips.csv"
    path.write_bytes(HEADER.encode() + b"".join(lines))
    rejects: list[Reject] = []
    units = find_trip_file(path).read(b"".join(lines), rejects)
    bad = {reject.line for reject in rejects}
    assert bad <= damaged
    assert sorted([*units.line.tolist(), *bad]) == [i for i in range(40) if lines[i].strip()]
    untouched = ~np.isin(units.line, list(damaged))
    assert (units.x1 - units.x0)[untouched].tolist() == [1.0] * int(untouched.sum())


@given(st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damaged_files_give_rejects_or_an_error_in_words(tmp_path: Path, data: st.DataObject) -> None:
    files = {
        "vehicles.csv": b'vehicleid,licence,vehicletype,model\n1,"B-AA 1",car,"V, W"\n2,B,truck,x\n',
        "licences.csv": b"licenceid,licence,vehicleid\n1,B,2\n",
        "instants.csv": b"instantid,instant\n1,2007-05-28 06:00:00+00\n",
        "periods.csv": b'periodid,period\n1,"[2007-05-28 06:00:00+00, 2007-05-28 07:00:00+00]"\n',
        "points.csv": b"pointid,geom\n1,0101000000000000000000F03F000000000000F03F\n",
        "regions.csv": b'regionid,geom\n1,"POLYGON((0 0,1 0,1 1,0 0))"\n',
        "trips.csv": f"tripid,vehicleid,trip\n1,1,{HEX}\n2,2,{HEX}\n".encode()
        + b'3,1,"[POINT(1 1)@2007-05-28 06:00:00+00, POINT(2 1)@2007-05-28 06:00:02+00)"\n',
    }
    name = data.draw(st.sampled_from(sorted(files)))
    content = bytearray(files[name])
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(content)))
        content[place : place + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=9))
    for one, original in files.items():
        (tmp_path / one).write_bytes(content if one == name else original)
    rejects: list[Reject] = []
    reader = SmallFiles(tmp_path, "mobilitydb", lambda x, y: (x, y), rejects, [])
    try:
        reader.relations()
        trips = find_trip_file(reader.needed("trips"))
        body = (tmp_path / "trips.csv").read_bytes().partition(b"\n")[2]
        units = trips.read(body, rejects)
        assert (units.t1 > units.t0).all()
        assert np.isfinite(units.x0).all() and np.isfinite(units.y1).all()
    except UserError as raised:
        assert name in str(raised)
    assert {reject.file for reject in rejects} <= {name}


def test_mobilitydbs_forms_and_what_is_wrong_with_them(tmp_path: Path) -> None:
    rows = [
        f"1,1,{HEX}",
        f"2,1,{HEX[:-2]}",
        f"3,1,{HEX[:-1]}",
        f"4,1,{HEX.replace('012E000E', '012E0006')}",
        '5,1,"{[POINT(1 1)@2007-05-28, POINT(2 1)@2007-05-29], [POINT(2 1)@2007-05-30]}"',
        '6,1,"[POINT(1 1)@2007-05-28, POINT(2 east)@2007-05-29]"',
        '7,1,"[Point(1 1)@2007-05-29, Point(2 1)@2007-05-28]"',
        '8,1,"SRID=3857;[Point(1 1)@2007-05-28 01:00:00.0004+01]"',
    ]
    path = tmp_path / "trips.csv"
    body = "".join(f"{row}\n" for row in rows).encode()
    path.write_bytes(b"tripid,vehid,trip\n" + body)
    rejects: list[Reject] = []
    units = find_trip_file(path).read(body, rejects)
    assert units.trip.tolist() == [1, 8]
    # A single instant is a stand of a millisecond; microseconds are rounded.
    assert (units.t1 - units.t0).tolist()[1] == 1
    assert units.t0[1] == int(np.datetime64("2007-05-28", "ms").astype(int))
    reasons = {reject.line: reject.reason for reject in rejects}
    assert sorted(reasons) == [1, 2, 3, 4, 5, 6]
    for line, words in enumerate(
        ["cut short", "two digits a byte", "interpolation", "neither", "not POINT", "order of time"], 1
    ):
        assert words in reasons[line]


units_strategy = st.lists(
    st.tuples(st.integers(0, 30), st.integers(1, 6), st.integers(0, 3), st.integers(0, 2), st.integers(0, 4)),
    min_size=1,
    max_size=12,
)


@given(st.lists(units_strategy, min_size=1, max_size=3))
def test_histories_are_what_obvious_code_makes_of_the_units(vehicles: list[list[tuple[int, ...]]]) -> None:
    rows = [
        (vehicle, trip, t, t + long, float(3 * x), 0.0, float(3 * x + step), 0.0)
        for vehicle, units in enumerate(vehicles)
        for t, long, x, step, trip in units
    ]
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    line = np.arange(len(rows))
    units = sorted_units(
        Units(
            columns[0].astype(np.int32),
            columns[1],
            line,
            *columns[2:4],
            *(column.astype(float) for column in columns[4:]),
        )
    )
    found = join_units(units, len(vehicles))
    trips = cut_into_trips(found)
    offsets, t, x, _ = found.movements
    used = {int(i) for i in units.line[found.reasons == 0]}
    for vehicle in range(len(vehicles)):
        instants: list[tuple[int, float]] = []
        labels: list[int] = []
        last = None
        mine = sorted((row[2], i) for i, row in enumerate(rows) if row[0] == vehicle)
        for begin, i in mine:
            _, trip, _, end, x0, _, x1, _ = rows[i]
            if instants and (
                begin < instants[-1][0] or (begin == instants[-1][0] and abs(x0 - instants[-1][1]) > 1)
            ):
                assert i not in used
                continue
            assert i in used
            if instants and begin == instants[-1][0]:
                instants.pop()
            elif instants:
                labels.append(trip if last == trip else -1)
            instants += [(begin, x0), (end, x1)]
            labels.append(trip)
            last = trip
        part = slice(offsets[vehicle], offsets[vehicle + 1])
        assert list(zip(t[part].tolist(), x[part].tolist(), strict=True)) == instants
        assert found.trip[part][:-1].tolist() == labels
    joined_again = np.add.reduceat(np.diff(trips.movements.offsets) - 1, np.flatnonzero(trips.number == 0))
    assert joined_again.tolist() == (np.diff(offsets) - 1).tolist()
    for i in range(len(trips.number)):
        part = slice(trips.movements.offsets[i], trips.movements.offsets[i + 1])
        assert trips.moving[i] == (len(set(trips.movements.x[part].tolist())) > 1)


@given(st.lists(st.binary(max_size=12).filter(lambda b: b"\n" not in b), max_size=12), st.integers(1, 40))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_ranges_have_every_line_once(tmp_path: Path, lines: list[bytes], size: int) -> None:
    path = tmp_path / "file"
    body = b"\n".join(lines)
    path.write_bytes(b"header\n" + body)
    assert b"".join(read_range(path, *one) for one in byte_ranges(path, size)) == body


@given(st.lists(st.text('ab ",;', max_size=9), max_size=9), st.integers(1, 3))
def test_fields_are_cut_as_pythons_own_reader_cuts_them(lines: list[str], width: int) -> None:
    rejects: list[Reject] = []
    places = {str(k): k for k in range(width)}
    found = split_fields("\n".join(lines).encode(), 2, width, places, "file", rejects, quoted=True)
    expected = {i: next(csv.reader([line])) for i, line in enumerate(lines, 2) if line}
    right = {i: [field.strip() for field in row] for i, row in expected.items() if len(row) == width}
    assert found.number.tolist() == list(right)
    columns = [found.fields[name].to_pylist() for name in places]
    assert list(zip(*columns, strict=True)) == [tuple(row) for row in right.values()]
    assert sorted(reject.line for reject in rejects) == [i for i in expected if i not in right]


@pytest.mark.parametrize("content", [b"", b"\n", b"Moid"])
def test_an_empty_file_is_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "datamcar.csv").write_bytes(content)
    with pytest.raises(UserError, match=r"datamcar\.csv"):
        SmallFiles(tmp_path, "csv", lambda x, y: (x, y), [], []).relations()
