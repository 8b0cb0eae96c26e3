"""Tuples by hand, for tests that work out an answer: what is not said does not matter."""

from __future__ import annotations

from tests.linear_road.random_traffic import InputTuple

__all__ = [
    "PROBE",
    "balance_request",
    "crowd",
    "expenditure_request",
    "report",
    "standing",
    "travel_request",
]

PROBE = 1


def report(
    time: int,
    vid: int = PROBE,
    seg: int = 50,
    *,
    pos: int | None = None,
    lane: int = 2,
    spd: int = 30,
    xway: int = 0,
    direction: int = 0,
) -> InputTuple:
    pos = 5280 * seg + 2000 if pos is None else pos
    return (0, time, vid, spd, xway, lane, direction, pos // 5280, pos, *[-1] * 6)


def balance_request(time: int, vid: int = PROBE, qid: int = 1) -> InputTuple:
    return (2, time, vid, *[-1] * 6, qid, *[-1] * 5)


def expenditure_request(vid: int, day: int, xway: int) -> InputTuple:
    return (3, 5, vid, -1, xway, *[-1] * 4, 1, *[-1] * 4, day)


def travel_request(sinit: int, send: int, dow: int = 1, tod: int = 600, xway: int = 0) -> InputTuple:
    return (4, 5, PROBE, -1, xway, *[-1] * 4, 1, sinit, send, dow, tod, -1)


def crowd(minute: int, size: int, seg: int = 50, spd: int = 30, **where: int) -> list[InputTuple]:
    """`size` vehicles, one report each in the minute."""
    start = 60 * (minute - 1)
    return [
        report(start + number % 60, 100 * seg + number, pos=5280 * seg + number + minute, spd=spd, **where)
        for number in range(size)
    ]


def standing(
    vid: int, first: int, reports: int, *, pos: int = 52 * 5280, lane: int = 2, **where: int
) -> list[InputTuple]:
    return [report(first + 30 * n, vid, pos=pos, lane=lane, spd=0, **where) for n in range(reports)]
