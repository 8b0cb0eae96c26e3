"""Right answers with a few spoilt, one of each type: these are caught, and nothing else is.

Spark takes seconds for a validation, so each mutation has a town of its own and all towns are judged
together: the same traffic on other expressways, with other vehicles and requests.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.linear_road.literal_reading import Tuple, expected_answers
from tests.linear_road.made_traffic import crowd, report, standing
from tests.linear_road.random_traffic import InputTuple
from tests.linear_road.validation.made_workload import (
    answer_lines,
    write_answers,
    write_segment_history,
    write_toll_history,
    write_workload,
)

from causeway.linear_road.model.answers import DEADLINES
from causeway.linear_road.validation import Difference, Validation, judge, validate
from causeway.linear_road.workload.workload import Workload

Lines = list[str]
Caught = dict[tuple[int, str], int]
"""How many by type and kind."""

TIME, EMIT = {0: 2, 1: 1, 2: 1, 3: 1, 4: 1}, {0: 3, 1: 2, 2: 2, 3: 2, 4: 2}
WHO = {0: 1, 1: 3, 2: 3, 3: 3, 4: 3}
VALUES = {0: (4, 5), 1: (4,), 2: (5,), 3: (4,), 4: (5,)}
"""Where things stand in a line; of VALUES, one off is wrong."""

DRIVERS, WITNESSES = range(1, 10), range(21, 30)
APART = 10_000
"""Between the numbers of vehicles and requests of two towns."""
TOLLS = {(vid, day, 0): 100 * vid + day for vid in DRIVERS for day in range(1, 71)}
SPEEDS = {
    (day, minute, 0, 0, seg): (seg, 60, 200)
    for day in range(1, 71)
    for minute in range(600, 620)
    for seg in range(30, 36)
}


def tuples() -> list[InputTuple]:
    """The traffic of town 0.

    Nine vehicles pay and ask, nine are warned of two accidents; the others make the tolls and the accidents.
    """
    made = [*crowd(1, 60), *crowd(2, 60)]
    for vid in DRIVERS:
        made += [report(60 + vid, vid, 50), report(90 + vid, vid, 51), report(120 + vid, vid, 53)]
        made.append((2, 150, vid, *[-1] * 6, 200 + vid, *[-1] * 5))
        made.append((3, 151, vid, -1, 0, *[-1] * 4, 300 + vid, *[-1] * 4, vid))
        made.append((4, 152, vid, -1, 0, *[-1] * 4, 400 + vid, 30, 30 + vid % 6, 1 + vid % 7, 600, -1))
    for vid, seg in ((91, 72), (92, 72), (93, 74), (94, 74)):
        made += standing(vid, vid % 7, 8, pos=5280 * seg)
    return made + [report(130 + vid, vid, 70) for vid in WITNESSES]


def of_town(fields: InputTuple, town: int) -> InputTuple:
    """The same tuple in another town. All ask for the history of expressway 0."""
    z = Tuple(*fields)
    z = z._replace(VID=z.VID + APART * town)
    return z._replace(QID=z.QID + APART * town) if z.Type else z._replace(XWay=town)


@dataclass(frozen=True)
class Town:
    """All right answers to the traffic of one town."""

    number: int
    lines: Lines

    def of(self, kind: int) -> Lines:
        """Answers of one type to those who drive through or ask, without the crowd's."""
        mine = {*DRIVERS, *WITNESSES} if kind < 2 else range(1000)
        return [
            line for line in self.lines if int(line[0]) == kind and number(line, WHO[kind]) % APART in mine
        ]


@dataclass(frozen=True)
class County:
    """A workload of several towns."""

    workload: Workload
    towns: list[Town]


def number(line: str, field: int) -> int:
    return int(line.split(",")[field])


def changed(line: str, field: int, value: object) -> str:
    fields = line.split(",")
    fields[field] = str(value)
    return ",".join(fields)


@pytest.fixture(scope="module")
def county(tmp_path_factory: pytest.TempPathFactory) -> County:
    """A town for each mutation, and town 0 where all answers are right."""
    numbers = range(len(MUTATIONS) + 1)
    made = [of_town(fields, town) for town in numbers for fields in tuples()]
    workload = write_workload(tmp_path_factory.mktemp("county"), made)
    tolls = {
        (vid + APART * town, day, xway): toll for town in numbers for (vid, day, xway), toll in TOLLS.items()
    }
    write_toll_history(workload, tolls)
    columns = list(zip(*(key[:2] + key[3:] + row[:2] for key, row in SPEEDS.items()), strict=True))
    write_segment_history(workload, 0, columns)  # type: ignore[arg-type]
    lines = answer_lines(expected_answers(tuples(), TOLLS, SPEEDS))
    towns = [Town(town, [renumbered(line, APART * town) for line in lines]) for town in numbers]
    return County(workload, towns)


def renumbered(line: str, by: int) -> str:
    field = WHO[int(line[0])]
    return changed(line, field, number(line, field) + by)


def wrong_by(amount: int) -> Callable[[Town, int], tuple[dict[str, Lines], Caught]]:
    """Each value of an answer in turn."""

    def spoil(town: Town, kind: int) -> tuple[dict[str, Lines], Caught]:
        # The segments beside an accident's may be another's.
        off = 3 * amount if kind == 1 else amount
        spoilt = dict(zip(town.of(kind)[1:], VALUES[kind], strict=False))
        replaced = {line: [changed(line, f, number(line, f) + off)] for line, f in spoilt.items()}
        return replaced, {(kind, "wrong"): len(VALUES[kind])}

    return spoil


def missing(town: Town, kind: int) -> tuple[dict[str, Lines], Caught]:
    return {town.of(kind)[2]: []}, {(kind, "missing"): 1}


def doubled(town: Town, kind: int) -> tuple[dict[str, Lines], Caught]:
    line = town.of(kind)[3]
    return {line: [line, line]}, {(kind, "doubled"): 1}


def doubled_with_another_value(town: Town, kind: int) -> tuple[dict[str, Lines], Caught]:
    line, field = town.of(kind)[4], VALUES[kind][0]
    return {line: [line, changed(line, field, number(line, field) + 7)]}, {(kind, "doubled"): 1}


def late(town: Town, kind: int) -> tuple[dict[str, Lines], Caught]:
    line = town.of(kind)[5]
    emit = f"{number(line, TIME[kind]) + DEADLINES[kind]}.001"
    return {line: [changed(line, EMIT[kind], emit)]}, {(kind, "late"): 1}


def early(town: Town, kind: int) -> tuple[dict[str, Lines], Caught]:
    line = town.of(kind)[6]
    return {line: [changed(line, EMIT[kind], f"{number(line, TIME[kind]) - 1}.999")]}, {(kind, "early"): 1}


def for_another(town: Town, kind: int) -> tuple[dict[str, Lines], Caught]:
    """The vehicle or request is another, which has no answer at that time."""
    line = town.of(kind)[7]
    return {line: [changed(line, WHO[kind], APART * town.number + 7777)]}, {
        (kind, "missing"): 1,
        (kind, "extra"): 1,
    }


def at_another_time(town: Town, kind: int) -> tuple[dict[str, Lines], Caught]:
    line = town.of(kind)[0]
    moved = changed(line, TIME[kind], number(line, TIME[kind]) + 1)
    return {line: [moved]}, {(kind, "missing"): 1, (kind, "extra"): 1}


MUTATIONS = {
    "one more": wrong_by(1),
    "one less": wrong_by(-1),
    "missing": missing,
    "doubled": doubled,
    "doubled, differently": doubled_with_another_value,
    "late": late,
    "early": early,
    "for another": for_another,
    "at another time": at_another_time,
}


def counts(judged: Validation) -> Caught:
    kinds = ("missing", "extra", "doubled", "wrong", "late", "early")
    found = {(result.type, kind): getattr(result, kind) for result in judged.types for kind in kinds}
    return {key: count for key, count in found.items() if count}


def town_of(difference: Difference) -> int:
    """The town of the vehicle or request that the words name."""
    found = re.search(r"request (\d+)", difference.words) or re.search(r"vehicle (\d+)", difference.words)
    assert found is not None, difference.words
    return int(found[1]) // APART


def test_the_right_answers_pass(county: County, spark: SparkSession, tmp_path: Path) -> None:
    assert min(len(county.towns[0].of(kind)) for kind in range(5)) >= 9
    lines = [line for town in county.towns for line in town.lines]
    judged = validate(spark, county.workload, write_answers(tmp_path / "answers.csv", lines))
    assert (judged.differences, judged.notes, judged.malformed) == ((), (), 0)
    assert judged.passed
    assert judged.reports == len(county.towns) * sum(fields[0] == 0 for fields in tuples())
    for result in judged.types:
        assert result.expected == result.answered == sum(int(line[0]) == result.type for line in lines)


@dataclass(frozen=True)
class Spoilt:
    """What was done to the answers of a town."""

    replaced: dict[str, Lines]
    caught: Counter[tuple[int, str]]


@pytest.fixture(scope="module")
def spoilt(county: County) -> dict[str, Spoilt]:
    """What each mutation does to the town of its own."""
    found = {}
    for (name, mutation), town in zip(MUTATIONS.items(), county.towns[1:], strict=True):
        spoilt = Spoilt({}, Counter())
        for kind in range(5):
            lines, caught = mutation(town, kind)
            spoilt.replaced.update(lines)
            spoilt.caught.update(caught)
        found[name] = spoilt
    return found


@pytest.fixture(scope="module")
def judged(
    county: County, spoilt: dict[str, Spoilt], spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Validation:
    """The judgement on all towns, with all differences and not only the first ones."""
    replaced = {line: lines for one in spoilt.values() for line, lines in one.replaced.items()}
    lines = [new for town in county.towns for line in town.lines for new in replaced.get(line, [line])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judge, "_SHOWN", len(lines))
        return validate(
            spark, county.workload, write_answers(tmp_path_factory.mktemp("spoilt") / "answers.csv", lines)
        )


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_spoilt_answer_is_caught_and_no_other(
    judged: Validation, spoilt: dict[str, Spoilt], name: str
) -> None:
    town = 1 + list(MUTATIONS).index(name)
    differences = [difference for difference in judged.differences if town_of(difference) == town]
    assert Counter((d.type, d.kind) for d in differences) == spoilt[name].caught
    # Each is named by its vehicle or request, and its time.
    for line in spoilt[name].replaced:
        kind = int(line[0])
        who = f"vehicle {number(line, WHO[kind])} " if kind < 2 else f"request {number(line, WHO[kind])})"
        when = f"second {number(line, TIME[kind])}"
        assert any(who in d.words and when in d.words for d in differences)


def test_spoilt_answers_are_counted(judged: Validation, spoilt: dict[str, Spoilt]) -> None:
    """In total, since the counts are of all towns; and nothing in the town where all is right."""
    caught: Counter[tuple[int, str]] = Counter()
    for one in spoilt.values():
        caught.update(one.caught)
    assert counts(judged) == caught
    assert len(judged.differences) == caught.total()
    assert 0 not in {town_of(difference) for difference in judged.differences}
    assert not judged.passed
