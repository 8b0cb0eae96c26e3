"""A workload's traffic measured with Spark, from nothing but its tuples, and held against what is promised.

One pass in the order of vehicle and time does all the heavy work: it marks every report by its neighbours
and sums ordinary ones into cells (segment and minute), while the few that begin or end a trip or stand
still stay single. Every figure then comes from that small table. A trip is a maximal run of one vehicle's
reports 30 s apart. Reports with a field outside its domain are counted as such and otherwise left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from math import ceil, floor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from causeway.linear_road.inspection import questions
from causeway.linear_road.inspection.expectations import (
    DENSE,
    SPARSE,
    judge,
)
from causeway.linear_road.inspection.questions import SINGLE, Mark
from causeway.linear_road.inspection.traffic import Accident, Traffic
from causeway.linear_road.model import expressway as road
from causeway.linear_road.workload.stream_frame import read_stream
from causeway.linear_road.workload.workload import Workload
from causeway.report.figures import Figure, count_verdicts
from causeway.runtime.output_folder import write_json
from causeway.runtime.progress import watched

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

__all__ = ["Inspection", "Minute", "inspect_workload", "write_figures"]

_TUPLES_PER_TASK = 1_000_000
_BYTES_PER_TUPLE = {"parquet": 6, "csv": 45}
_EXPRESSWAY_LIMIT = 1 << 24
"""As many as the packed report has bits for."""
_QUESTIONS_AT_A_TIME = 4
_QUESTIONS = 12
# So many (vehicle, second) keys are some 60 MB in memory; beyond, a sort is safer.
_BROADCAST_REQUESTS = 2_000_000


@dataclass(frozen=True)
class Minute:
    """One simulated minute, over all expressways."""

    minute: int
    reports: int
    mean_speed: float | None
    """`None` where nobody reported."""
    congested_segments: int


@dataclass(frozen=True)
class Inspection:
    """What was measured, and what became of every promise."""

    folder: Path
    """The workload's."""
    source: Literal["generated", "imported"]
    expressways: float
    minutes: int
    figures: tuple[Figure, ...]
    series: tuple[Minute, ...]
    accidents: tuple[Accident, ...]

    @property
    def holds(self) -> bool:
        """Whether no figure is out."""
        return not count_verdicts(self.figures).out


def inspect_workload(spark: SparkSession, workload: Workload) -> Inspection:
    """Measure the workload's tuples and judge them; what its `workload.json` counts is not believed."""
    # Several questions at a time: most are so small that a core would wait for their planning.
    pool = ThreadPoolExecutor(_QUESTIONS_AT_A_TIME)
    answered: list[Future[Any]] = []

    def put(question: Callable[[], Any]) -> Future[Any]:
        answer = pool.submit(question)
        answer.add_done_callback(answered.append)
        return answer

    try:
        with watched("inspecting", _QUESTIONS, "questions", lambda: len(answered)):
            traffic, series = _measure(spark, workload, put)
    finally:
        # Whoever breaks off need not wait for answers: the end of the session ends their jobs.
        pool.shutdown(wait=False, cancel_futures=True)
    return Inspection(
        folder=workload.folder,
        source=workload.source,
        expressways=workload.expressways,
        minutes=workload.minutes,
        figures=judge(traffic, workload.expressways, workload.minutes),
        series=series,
        accidents=tuple(traffic.accidents),
    )


def write_figures(inspection: Inspection, path: Path) -> None:
    """Write the figures and accidents as JSON, whole or not at all, for programs to read."""
    facts = asdict(inspection)
    del facts["folder"], facts["series"]
    write_json(path, {"holds": inspection.holds} | facts)


def _read(spark: SparkSession, workload: Workload) -> DataFrame:
    """The tuples, each with whether its place and time are ones that the expressways have."""
    stream = read_stream(spark, workload, tolerant=True)
    if workload.source == "generated":
        road_exists = f"""XWay BETWEEN 0 AND {ceil(workload.expressways) - 1}
            AND Dir BETWEEN 0 AND IF(XWay < {floor(workload.expressways)}, 1, 0)"""
    else:
        # An imported file's L is taken from its reports, and its expressways have numbers of their own.
        road_exists = f"XWay >= 0 AND XWay < {_EXPRESSWAY_LIMIT} AND Dir IN (0, 1)"
    in_domain = f"""coalesce(
        Time >= 0 AND VID >= 0 AND Spd IS NOT NULL AND Lane BETWEEN {road.ENTRY_LANE} AND {road.EXIT_LANE}
        AND Seg BETWEEN 0 AND {road.SEGMENTS - 1} AND Pos BETWEEN 0 AND {road.FEET_PER_EXPRESSWAY - 1}
        AND {road_exists}, false)"""
    return stream.selectExpr("*", f"{in_domain} AS in_domain")


def _measure(
    spark: SparkSession, workload: Workload, put: Callable[[Callable[[], Any]], Future[Any]]
) -> tuple[Traffic, tuple[Minute, ...]]:
    roads = ceil(workload.expressways) if workload.source == "generated" else _EXPRESSWAY_LIMIT
    words: dict[str, Any] = {mark.name: mark.value for mark in Mark if mark.name}
    words |= {"SINGLE": SINGLE.value, "DENSE": DENSE, "SPARSE": SPARSE, "roads": roads}

    def ask(question: str, **of: Any) -> DataFrame:
        return spark.sql(question, **words, **of)

    stream = _read(spark, workload)

    def answer(question: DataFrame) -> Future[list[Row]]:
        return put(question.collect)

    # A checkpoint rather than a cache, which the questions below were seen not to use: each ran the pass.
    by_vehicle = ask(questions.PACKED, stream=stream).repartition(_tasks(spark, workload), "VID")
    marking = put(ask(questions.MARKED, reports=by_vehicle).localCheckpoint)
    scanning = answer(ask(questions.SCAN, stream=stream))
    moments = ask(questions.REQUEST_MOMENTS, stream=stream)
    scan = scanning.result()
    requests = {kind: sum(row.tuples for row in scan if row.Type == kind) for kind in (2, 3, 4)}
    if sum(requests.values()) <= _BROADCAST_REQUESTS:
        moments = moments.hint("broadcast")
    answering = answer(ask(questions.REQUESTS_WITH_REPORT, stream=stream, moments=moments))
    sharing = answer(ask(questions.SHARED_NUMBERS, stream=stream))

    reported = [row for row in scan if row.Type == 0 and row.phase is not None]
    reports = sum(row.tuples for row in reported)
    last_second = max((row.last_second for row in reported), default=0)
    first_whole = 0
    if workload.source == "imported":
        first_whole = min((row.first_second for row in reported), default=0) + road.REPORT_INTERVAL

    marked = marking.result()
    finding = put(ask(questions.ACCIDENTS, marked=marked, last=last_second).localCheckpoint)
    counting = answer(ask(questions.VEHICLES, marked=marked))
    faulting = answer(ask(questions.FAULTS, marked=marked))
    ending = answer(ask(questions.TRIP_ENDS, marked=marked, last=last_second, first_whole=first_whole))
    cells = ask(questions.CELLS, marked=marked).localCheckpoint()
    by_minute = answer(ask(questions.MINUTES, cells=cells))
    accidents = finding.result()
    found = answer(accidents)
    accident_minutes = ask(questions.ACCIDENT_MINUTES, accidents=accidents)
    speeding = answer(ask(questions.SPEEDS, cells=cells, accident_minutes=accident_minutes))
    alerting = answer(ask(questions.ALERTS, cells=cells, accident_minutes=accident_minutes))

    series = _series(by_minute.result(), workload.minutes)
    faults, ends = faulting.result(), ending.result()
    faulty: dict[str, Any] = {
        mark.name.lower(): sum(row.reports for row in faults if row.marks & mark)
        for mark in Mark
        if mark.name and not mark & SINGLE
    }

    def per_segment(column: str) -> list[int]:
        counts = {row.segment: row[column] for row in ends}
        return [counts.get(segment, 0) for segment in range(road.SEGMENTS)]

    per_phase = {row.phase: row.tuples for row in reported}
    return Traffic(
        reports=reports,
        reports_per_minute=[minute.reports for minute in series],
        reports_per_phase=[per_phase.get(phase, 0) for phase in range(road.REPORT_INTERVAL)],
        last_second=last_second,
        **counting.result()[0].asDict(),
        **speeding.result()[0].asDict(),
        **faulty,
        outside_domain=sum(row.outside_domain for row in scan),
        wrong_segment=sum(row.wrong_segment for row in scan),
        top_speed=max((row.top_speed or 0 for row in reported), default=0),
        lowest_speed=min((row.lowest_speed or 0 for row in reported), default=0),
        top_ramp_speed=max((row.top_ramp_speed or 0 for row in reported), default=0),
        trips_to_enter=sum(per_segment("to_enter")),
        trips_entered=sum(per_segment("entered")),
        trips_to_exit=sum(per_segment("to_exit")),
        trips_exited=sum(per_segment("exited")),
        entries_per_segment=per_segment("entries"),
        exits_per_segment=per_segment("exits"),
        requests_per_type=requests,
        requests_unanswerable=sum(row.unanswerable for row in scan),
        requests_sharing_a_number=sharing.result()[0].requests,
        requests_without_report=sum(requests.values()) - answering.result()[0].requests,
        accidents=[
            Accident(**row.asDict()) for row in sorted(found.result(), key=lambda row: (row.detected, *row))
        ],
        accident_alerts=alerting.result()[0].alerts,
        congested=sum(minute.congested_segments for minute in series),
    ), series


def _tasks(spark: SparkSession, workload: Workload) -> int:
    """Into how many tasks to cut the stream, as far as the size of its files tells how much there is."""
    tuples = sum(part.stat().st_size for part in workload.parts) // _BYTES_PER_TUPLE[workload.format]
    return max(spark.sparkContext.defaultParallelism, tuples // _TUPLES_PER_TASK)


def _series(rows: Sequence[Row], minutes: int) -> tuple[Minute, ...]:
    """Every minute of the run, also those in which nobody reported."""
    known = {row.minute: row for row in rows}
    series = []
    for number in range(1, minutes + 1):
        row = known.get(number)
        reports = (row.reports or 0) if row else 0
        mean_speed = row.speeds / row.reports if row and reports else None
        series.append(Minute(number, reports, mean_speed, row.congested if row else 0))
    return tuple(series)
