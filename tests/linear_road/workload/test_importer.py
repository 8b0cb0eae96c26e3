from __future__ import annotations

import csv
import gzip
import itertools
import json
import tempfile
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference import REFERENCE

from causeway.linear_road.model.tuples import INPUT_COLUMNS, INPUT_SCHEMA
from causeway.linear_road.workload import input_text, stream_files
from causeway.linear_road.workload.importer import import_files
from causeway.linear_road.workload.stream_files import StreamWriter, part_path
from causeway.linear_road.workload.workload import Workload
from causeway.runtime.errors import UserError

ORIGINAL = REFERENCE / "linear_road/datafile20seconds.dat"

REPORT = "0,5,107,32,0,1,0,10,53320,-1,-1,-1,-1,-1,-1"
BALANCE = "2,5,107,-1,-1,-1,-1,-1,-1,8,-1,-1,-1,-1,-1"
EXPENDITURE = "3,5,107,-1,0,-1,-1,-1,-1,8,-1,-1,-1,-1,70"
TRAVEL = "4,5,107,-1,0,-1,-1,-1,-1,8,3,99,7,1440,-1"


def expected(contents: bytes, slack: int) -> tuple[list[list[int]], list[int]]:
    """What an import of a file must give, said line by line: the rows and the rejected lines' numbers."""
    lines = contents.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    while lines and lines[-1].strip() == b"":
        lines.pop()
    rows: list[list[int]] = []
    rejected = []
    newest = 0
    for number, line in enumerate(lines, start=1):
        row = tuple_of(line[:-1] if line.endswith(b"\r") else line)
        if row is None or newest - row[1] > slack:
            rejected.append(number)
        else:
            newest = max(newest, row[1])
            rows.append(row)
    return sorted(rows, key=lambda row: row[1]), rejected


def tuple_of(line: bytes) -> list[int] | None:
    values = []
    for field in line.split(b","):
        digits = field.strip(b" \t")
        if not digits.removeprefix(b"-").isdigit():
            return None
        values.append(int(digits))
    if len(values) != 15 or any(abs(value) > 2147483647 for value in values):
        return None
    kind, time, vid, spd, xway, lane, direction, seg, pos, qid, sinit, send, dow, tod, day = values
    if time < 0 or vid < 0:
        return None
    no = -1
    match kind:
        case 0:
            fits = 0 <= spd <= 100 and xway >= 0 and lane in range(5) and direction in (0, 1)
            fits = fits and 0 <= pos < 528000 and seg * 5280 <= pos < (seg + 1) * 5280
            row = [kind, time, vid, spd, xway, lane, direction, seg, pos, no, no, no, no, no, no]
        case 2:
            fits = qid >= 0
            row = [kind, time, vid, no, no, no, no, no, no, qid, no, no, no, no, no]
        case 3:
            fits = xway >= 0 and qid >= 0 and 1 <= day <= 70
            row = [kind, time, vid, no, xway, no, no, no, no, qid, no, no, no, no, day]
        case 4:
            fits = xway >= 0 and qid >= 0 and sinit in range(100) and send in range(100)
            fits = fits and dow in range(1, 8) and tod in range(1, 1441)
            row = [kind, time, vid, no, xway, no, no, no, no, qid, sinit, send, dow, tod, no]
        case _:
            return None
    return row if fits else None


@st.composite
def lines_of_a_file(draw: st.DrawFn) -> bytes:
    lines: list[bytes] = []
    time = 0
    for _ in range(draw(st.integers(0, 25))):
        time = max(0, time + draw(st.sampled_from([0, 0, 0, 1, 2, 30, 61, -1, -2, -5, -70])))
        pos = draw(st.sampled_from([0, 5279, 5280, 53320, 527999]))
        junk = draw(st.sampled_from([-1, 0, 4711]))
        row: dict[str, Any] = dict.fromkeys(INPUT_COLUMNS, junk) | {
            "Type": draw(st.sampled_from([0, 0, 0, 2, 3, 4])),
            "Time": time,
            "VID": draw(st.sampled_from([0, 7, 2147483647])),
        }
        if row["Type"] == 0:
            row |= {"Spd": draw(st.sampled_from([0, 100])), "XWay": draw(st.integers(0, 2))}
            row |= {"Lane": draw(st.integers(0, 4)), "Dir": draw(st.integers(0, 1))}
            row |= {"Seg": pos // 5280, "Pos": pos}
        else:
            row |= {"QID": draw(st.integers(0, 9)), "XWay": 0, "Day": draw(st.sampled_from([1, 70]))}
            row |= {"Sinit": 0, "Send": 99, "DOW": draw(st.sampled_from([1, 7])), "TOD": 1440}
        fields = [str(value) for value in row.values()]
        lines.append(draw(st.just(",".join(fields).encode()) | mutated(fields)))
    ending = draw(st.sampled_from([b"\n", b"\r\n"]))
    mark = draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"])) if lines and lines[0].strip() else b""
    return mark + ending.join(lines) + draw(st.sampled_from([b"", ending, ending * 3, b"\n \t\n "]))


@st.composite
def mutated(draw: st.DrawFn, fields: list[str]) -> bytes:
    fields = list(fields)
    at = draw(st.integers(0, 14))
    match draw(st.integers(0, 5)):
        case 0:
            del fields[at]
        case 1:
            fields.insert(at, "1")
        case 2:
            texts = [
                "x",
                "0x1",
                "1.0",
                "",
                "NA",
                '"1"',
                "+1",
                "1_0",
                "--1",
                "-",
                "²",
                "1\r",
                "\r1",
                "1 1",
                "\0",
            ]
            fields[at] = draw(st.sampled_from(texts))
        case 3:
            values = [-2, -1, 1, 5, 8, 71, 100, 101, 1441, 528000, 2**31, -(2**31) - 1, 10**30]
            fields[at] = str(draw(st.sampled_from(values)))
        case 4:
            fields[at] = draw(st.sampled_from(["  {}", "{}\t", "000{}"])).format(fields[at])
        case 5:
            marked = b"\xef\xbb\xbf" + ",".join(fields).encode()
            return draw(st.sampled_from([b"", b"  ", b"\xff\xfe", b"Type", marked]))
    return ",".join(fields).encode()


def rows_of(part: Path) -> list[list[int]]:
    return [list(row.values()) for row in pq.read_table(part).to_pylist()]


def rejects_of(workload: Workload) -> list[tuple[str, int]]:
    path = workload.folder / "rejects.csv"
    if not path.exists():
        return []
    with path.open(newline="") as file:
        rejects = list(csv.DictReader(file))
    assert list(rejects[0]) == ["file", "line", "reason", "text"]
    assert all(reject["reason"] for reject in rejects)
    return [(reject["file"], int(reject["line"])) for reject in rejects]


@settings(max_examples=40, deadline=None)
@given(
    contents=st.lists(lines_of_a_file(), min_size=1, max_size=3),
    slack=st.sampled_from([0, 0, 1, 3, 100]),
    block=st.sampled_from([1, 2, 3, 20, 50, 130, 1000, 1 << 20]),
    piece=st.sampled_from([1, 60, 200, 1 << 16]),
    packed=st.booleans(),
)
def test_imports_what_a_line_by_line_reading_gives(
    contents: list[bytes], slack: int, block: int, piece: int, packed: bool
) -> None:
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(input_text, "_BLOCK_BYTES", block)
        patch.setattr(input_text, "_PIECE_BYTES", piece)
        folder = Path(name)
        files = []
        for number, text in enumerate(contents):
            files.append(folder / (f"{number}.dat.gz" if packed else f"{number}.dat"))
            files[-1].write_bytes(gzip.compress(text) if packed else text)
        answers = [expected(text, slack) for text in contents]
        rows = [row for answer in answers for row in answer[0]]
        rejects = [
            (str(file), line) for file, answer in zip(files, answers, strict=True) for line in answer[1]
        ]

        if not rows:
            with pytest.raises(UserError, match="no tuple"):
                import_files(files, folder / "out", slack=slack)
            assert not (folder / "out").exists()
            return
        workload = import_files(files, folder / "out", slack=slack)
        assert [rows_of(part) for part in workload.parts] == [answer[0] for answer in answers]
        assert rejects_of(workload) == rejects
        assert Workload.load(folder / "out") == workload
        reports = [row for row in rows if row[0] == 0]
        assert workload.counts == {
            "reports": len(reports),
            "vehicles": len({row[2] for row in rows}),
            "type_2": sum(row[0] == 2 for row in rows),
            "type_3": sum(row[0] == 3 for row in rows),
            "type_4": sum(row[0] == 4 for row in rows),
            "rejected": len(rejects),
        }
        assert workload.minutes == max(row[1] for row in rows) // 60 + 1
        roads = {row[4] for row in reports}
        goes_west = any(row[6] == 1 for row in reports if row[4] == max(roads))
        assert workload.expressways == len(roads) - (0.5 if roads and not goes_west else 0)

        if rejects:
            with pytest.raises(UserError) as strict:
                import_files(files, folder / "strict", slack=slack, strict=True)
            assert str(strict.value).startswith(f"{rejects[0][0]}:{rejects[0][1]}: ")
            assert not (folder / "strict").exists()
        else:
            assert import_files(files, folder / "strict", slack=slack, strict=True).counts == workload.counts


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def reasons(workload: Workload) -> list[str]:
    with (workload.folder / "rejects.csv").open(newline="") as file:
        return [reject["reason"] for reject in csv.DictReader(file)]


def with_field(line: str, column: str, value: object) -> str:
    fields = line.split(",")
    fields[INPUT_COLUMNS.index(column)] = str(value)
    return ",".join(fields)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("", "blank line"),
        ("0,5,107", "3 fields, not 15"),
        (REPORT + ",1", "16 fields, not 15"),
        (with_field(REPORT, "Spd", "fast"), "Spd is not an integer"),
        (with_field(REPORT, "Spd", "3.5"), "Spd is not an integer"),
        (with_field(REPORT, "VID", ""), "VID is empty"),
        (with_field(REPORT, "VID", 2**31), "VID does not fit in 32 bits"),
        (with_field(REPORT, "VID", "9" * 5000), "VID does not fit in 32 bits"),
        (with_field(REPORT, "Type", 1), "Type is 1, none of 0, 2, 3, 4"),
        (with_field(REPORT, "XWay", -1), "XWay is -1, below 0"),
        (with_field(REPORT, "Spd", 101), "Spd is 101, not in 0..100"),
        (with_field(REPORT, "Seg", 11), "Seg is 11, but Pos 53320 is in segment 10"),
        (with_field(EXPENDITURE, "Day", 71), "Day is 71, not in 1..70"),
        (with_field(TRAVEL, "DOW", 0), "DOW is 0, not in 1..7"),
        (with_field(BALANCE, "QID", -1), "QID is -1, below 0"),
        (with_field(REPORT, "Time", 1), "Time is 1, more than 3 s below 5 before it"),
    ],
)
def test_tells_why_a_line_is_rejected(tmp_path: Path, line: str, reason: str) -> None:
    file = write(tmp_path / "a.dat", REPORT, line, BALANCE, EXPENDITURE, TRAVEL)
    workload = import_files([file], tmp_path / "out", slack=3)
    assert reasons(workload) == [reason]
    assert workload.counts["rejected"] == 1
    assert len(rows_of(workload.parts[0])) == 4
    with pytest.raises(UserError) as strict:
        import_files([file], tmp_path / "strict", slack=3, strict=True)
    assert str(strict.value) == f"{file}:2: {reason}"


@pytest.mark.parametrize("block", [1, 1 << 20])
def test_is_no_more_lenient_with_whole_blocks_than_with_single_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(input_text, "_BLOCK_BYTES", block)
    monkeypatch.setattr(input_text, "_PIECE_BYTES", 1)
    lenient = [
        with_field(REPORT, "VID", "0x1F"),
        with_field(REPORT, "VID", "0X1F"),
        with_field(REPORT, "VID", '"7"'),
        "\ufeff" + REPORT,
        f"{REPORT}\r{REPORT}",
        f"{REPORT}\r\r",
        "",
    ]
    file = tmp_path / "a.dat"
    file.write_bytes("\n".join([REPORT, *lenient, BALANCE]).encode())
    workload = import_files([file], tmp_path / "out")
    assert [line for _, line in rejects_of(workload)] == list(range(2, 2 + len(lenient)))
    assert workload.counts["reports"] == workload.counts["type_2"] == 1


def test_shows_a_rejected_line_safely(tmp_path: Path) -> None:
    file = tmp_path / "a.dat"
    ugly = [b'say "hi", you', b"\xff\xfe\x00\x1b[31m", b"a\rb", "é".encode() * 300, b'=1,"']
    file.write_bytes(b"\n".join([REPORT.encode(), *ugly]))
    import_files([file], tmp_path / "out")
    text = (tmp_path / "out/rejects.csv").read_text()
    assert len(text.splitlines()) == 1 + len(ugly)
    with (tmp_path / "out/rejects.csv").open(newline="") as rejects:
        shown = [reject["text"] for reject in csv.DictReader(rejects)]
    gone = "\ufffd"
    assert shown == ['say "hi", you', gone * 4 + "[31m", f"a{gone}b", "é" * 199 + "…", '=1,"']


def test_a_line_without_end_is_cut_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_text, "_BLOCK_BYTES", 64)
    monkeypatch.setattr(input_text, "_LONGEST_LINE", 1000)
    file = write(tmp_path / "a.dat", REPORT, "\0" * 5000, BALANCE, *[""] * 3000, TRAVEL, "0," * 5000)
    workload = import_files([file], tmp_path / "out")
    assert [row[0] for row in rows_of(workload.parts[0])] == [0, 2, 4]
    lines = [line for _, line in rejects_of(workload)]
    assert lines == [2, *range(4, 3004), 3005]


def test_a_piece_of_a_file_with_one_bad_line_keeps_its_other_lines(tmp_path: Path) -> None:
    lines = [with_field(REPORT, "Time", number // 100) for number in range(20_000)]
    lines[12_345] = "oops"
    workload = import_files([write(tmp_path / "a.dat", *lines)], tmp_path / "out")
    assert rejects_of(workload) == [(str(tmp_path / "a.dat"), 12_346)]
    assert workload.counts["reports"] == 19_999


def test_no_rejects_no_rejects_file(tmp_path: Path) -> None:
    file = write(tmp_path / "a.dat", REPORT, BALANCE)
    workload = import_files([file, file], tmp_path / "out")
    assert sorted(path.name for path in workload.folder.iterdir()) == ["stream", "workload.json"]
    assert [path.name for path in workload.parts] == ["part-00000.parquet", "part-00001.parquet"]
    assert workload.expressways == 0.5
    facts = json.loads((workload.folder / "workload.json").read_text())
    assert facts["source"] == "imported" and facts["seed"] is None and facts["counts"]["rejected"] == 0


def test_the_user_is_told_of_files_that_cannot_be_read(tmp_path: Path) -> None:
    good = write(tmp_path / "a.dat", REPORT)
    broken = tmp_path / "b.dat.gz"
    broken.write_bytes(gzip.compress(good.read_bytes() * 1000)[:-20])
    not_gzip = tmp_path / "c.gz"
    not_gzip.write_bytes(good.read_bytes())
    empty = write(tmp_path / "empty.dat")
    out = tmp_path / "out"
    for files, message in [
        ([good, tmp_path / "none.dat"], r"none\.dat cannot be read: No such file"),
        ([good, tmp_path], "is a folder"),
        ([good, broken], r"b\.dat\.gz cannot be read"),
        ([good, not_gzip], r"c\.gz cannot be read"),
        ([empty], r"no tuple in .*empty\.dat"),
        ([], "no file"),
    ]:
        with pytest.raises(UserError, match=message):
            import_files(files, out)
        assert not out.exists()
    with pytest.raises(UserError, match="slack"):
        import_files([good], out, slack=-1)


def test_a_failure_leaves_the_users_folder_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = write(tmp_path / "a.dat", REPORT, "oops")
    out = tmp_path / "out"
    out.mkdir()

    def full(writer: StreamWriter, rows: pa.Table) -> None:
        raise OSError("No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(StreamWriter, "append", full)
        with pytest.raises(UserError, match="out cannot be written: No space left"):
            import_files([good], out)
    assert list(out.iterdir()) == []

    def interrupted(*facts: object, **settings: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(json, "dump", interrupted)
        with pytest.raises(KeyboardInterrupt):
            import_files([good], out)
    assert list(out.iterdir()) == []
    (out / "mine").touch()
    with pytest.raises(UserError, match="not empty"):
        import_files([good], out)
    assert [path.name for path in out.iterdir()] == ["mine"]


@pytest.mark.skipif(not ORIGINAL.exists(), reason="the original file is not here")
def test_imports_the_original_twenty_seconds_whole(tmp_path: Path) -> None:
    workload = import_files([ORIGINAL], tmp_path / "out", strict=True)
    assert rows_of(workload.parts[0]) == [
        [int(field) for field in line.split(",")] for line in ORIGINAL.read_text().splitlines()
    ]
    assert workload.counts["reports"] + workload.counts["type_3"] == 280
    assert workload.minutes == 1


def stream(times: list[int]) -> pa.Table:
    columns = {name: np.arange(len(times), dtype=np.int32) for name in INPUT_COLUMNS}
    columns["Time"] = np.array(times, dtype=np.int32)
    return pa.table(list(columns.values()), schema=INPUT_SCHEMA)


@settings(max_examples=60, deadline=None)
@given(
    steps=st.lists(st.sampled_from([0, 0, 1, 10, 59, 60, 200]), max_size=60),
    cuts=st.lists(st.integers(0, 60), max_size=5),
    most=st.sampled_from([1, 3, 1000]),
)
def test_a_row_group_is_a_minute(steps: list[int], cuts: list[int], most: int) -> None:
    times = np.cumsum(steps, dtype=np.int64).tolist() if steps else []
    table = stream(times)
    bounds = sorted({0, len(times), *(cut for cut in cuts if cut < len(times))})
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream_files, "MAX_ROWS_PER_GROUP", most)
        paths: dict[Literal["parquet", "csv"], Path] = {}
        for format in ("parquet", "csv"):
            paths[format] = part_path(Path(name), 3, format)
            with StreamWriter(paths[format], format) as writer:
                for start, end in itertools.pairwise(bounds):
                    writer.append(table.slice(start, end - start))
            assert writer.rows == len(times)
        assert sorted(path.name for path in Path(name).iterdir()) == ["part-00003.csv", "part-00003.parquet"]

        part = pq.ParquetFile(paths["parquet"])
        assert part.schema_arrow == INPUT_SCHEMA
        assert part.read() == table
        groups = [part.metadata.row_group(number) for number in range(part.metadata.num_row_groups)]
        minutes = []
        for group in groups:
            time = group.column(INPUT_COLUMNS.index("Time")).statistics
            assert time.min // 60 == time.max // 60
            assert group.num_rows <= most
            minutes.append(time.min // 60)
        rows_in = {minute: sum(time // 60 == minute for time in times) for minute in set(minutes)}
        assert len(groups) == sum(-(-rows // most) for rows in rows_in.values())
        if times:
            read = pa_csv.read_csv(
                paths["csv"], read_options=pa_csv.ReadOptions(column_names=list(INPUT_COLUMNS))
            )
            assert read.cast(INPUT_SCHEMA) == table
        else:
            assert paths["csv"].read_bytes() == b""


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_a_part_appears_whole_or_not_at_all(tmp_path: Path, format: Literal["parquet", "csv"]) -> None:
    path = part_path(tmp_path, 0, format)
    writer = StreamWriter(path, format)
    writer.append(stream([1, 2]).to_batches()[0])
    assert not path.exists()
    with pytest.raises(ValueError, match="time order"):
        writer.append(stream([1]))
    with pytest.raises(ValueError, match="time order"):
        writer.append(stream([5, 4]))
    with pytest.raises(ValueError):
        writer.append(stream([5]).rename_columns([name.lower() for name in INPUT_COLUMNS]))
    writer.discard()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(RuntimeError), StreamWriter(path, format) as writer:
        writer.append(stream([1, 70]))
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
    with StreamWriter(path, format) as writer:
        writer.append(stream([1, 70]))
        writer.close()
    writer.discard()
    assert list(tmp_path.iterdir()) == [path]
