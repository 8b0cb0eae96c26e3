"""The literal reading against answers worked out by hand, and what must hold for any traffic."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.linear_road.literal_reading import (
    AccidentAlert,
    Assessment,
    DailyExpenditure,
    Dn,
    Expected,
    M,
    Reading,
    TollNotification,
    TravelTime,
    Tuple,
    expected_answers,
    place,
)
from tests.linear_road.made_traffic import (
    PROBE,
    balance_request,
    crowd,
    expenditure_request,
    report,
    standing,
    travel_request,
)
from tests.linear_road.random_traffic import InputTuple, make_traffic, segment_history, toll_history, traffic

few = settings(max_examples=20, deadline=None)


def answers(*tuples: InputTuple | list[InputTuple]) -> Expected:
    flat = [fields for one in tuples for fields in (one if isinstance(one, list) else [one])]
    return expected_answers(flat, {}, {})


def notified(expected: Expected, vid: int = PROBE) -> list[tuple[int, int, int]]:
    """(Time, Lav, Toll) of a vehicle's notifications."""
    return [(n.time, n.lav, n.toll) for n in expected.toll_notifications if n.vid == vid]


def alerted(expected: Expected, vid: int = PROBE) -> list[tuple[int, int]]:
    """(Time, Seg) of a vehicle's alerts."""
    return [(alert.time, alert.nearest) for alert in expected.accident_alerts if alert.vid == vid]


def charged(expected: Expected, vid: int = PROBE) -> list[tuple[int, int]]:
    """(Time, Toll) of a vehicle's assessments."""
    return [(a.time, a.toll) for a in expected.assessments if a.vid == vid]


def test_minutes_are_counted_from_one() -> None:
    assert [M(t) for t in (0, 59, 60, 119, 120)] == [1, 1, 2, 2, 3]


def test_downstream_ends_with_the_expressway() -> None:
    assert [Dn(97, 0, i) for i in range(5)] == [97, 98, 99, 99, 99]
    assert [Dn(2, 1, i) for i in range(5)] == [2, 1, 0, 0, 0]


# Toll notifications.


@pytest.mark.parametrize(("size", "toll"), [(49, 0), (50, 0), (51, 2), (52, 8), (60, 200)])
def test_toll_begins_with_the_51st_vehicle(size: int, toll: int) -> None:
    assert notified(answers(crowd(1, size), report(60))) == [(60, 30, toll)]


@pytest.mark.parametrize(("speed", "toll"), [(0, 2), (39, 2), (40, 0), (41, 0)])
def test_toll_ends_at_40_mph(speed: int, toll: int) -> None:
    assert notified(answers(crowd(1, 51, spd=speed), report(60))) == [(60, speed, toll)]


def test_lav_is_rounded_down_before_it_is_compared() -> None:
    one_slower = [*crowd(1, 50, spd=40), report(3, 7, spd=39)]
    assert notified(answers(one_slower, report(119))) == [(119, 39, 2)]


def test_toll_looks_at_the_last_minute_only_and_lav_at_five() -> None:
    singles = [report(60 * (minute - 1), 100 + minute, spd=50) for minute in range(2, 8)]
    expected = answers(crowd(1, 51, spd=20), singles)
    assert [notified(expected, 100 + minute) for minute in range(2, 8)] == [
        [(60, 20, 2)],
        [(120, 35, 0)],
        [(180, 40, 0)],
        [(240, 42, 0)],
        [(300, 44, 0)],
        [(360, 50, 0)],
    ]


def test_own_minute_does_not_count() -> None:
    assert notified(answers(crowd(1, 60), report(59))) == [(59, -1, 0)]


@pytest.mark.parametrize(("time", "lav"), [(59, -1), (60, 30), (359, 30), (360, -1)])
def test_lav_is_minus_one_without_vehicles_in_five_minutes(time: int, lav: int) -> None:
    assert notified(answers(report(30, 7), report(time))) == [(time, lav, 0)]


def test_each_vehicle_has_one_mean_a_minute() -> None:
    # (0 + 100) / 2 and 100: 75. Pooled they would be 66.
    expected = answers(report(0, 7, spd=0), report(30, 7, spd=100), report(1, 8, spd=100), report(60))
    assert notified(expected) == [(60, 75, 0)]


def test_each_minute_weighs_alike_and_empty_ones_nothing() -> None:
    slow = [report(0, 7, spd=10)]
    fast = [report(120 + v, v, spd=51) for v in (7, 8, 9)]
    # (10 + 51) / 2, floored; minute 2 is empty.
    assert notified(answers(slow, fast, report(180))) == [(180, 30, 0)]


def test_vehicle_that_reports_twice_is_one_vehicle() -> None:
    again = [report(30 + number, 5000 + number) for number in range(30)]
    assert notified(answers(crowd(1, 50), again, report(60))) == [(60, 30, 0)]
    assert notified(answers(crowd(1, 51), again, report(60))) == [(60, 30, 2)]


@pytest.mark.parametrize("lane", [0, 1, 2, 3, 4])
def test_every_lane_counts(lane: int) -> None:
    assert notified(answers(crowd(1, 51, lane=lane), report(60))) == [(60, 30, 2)]


@pytest.mark.parametrize("elsewhere", [{"xway": 1}, {"direction": 1}, {"seg": 51}])
def test_nothing_else_counts(elsewhere: dict[str, int]) -> None:
    assert notified(answers(crowd(1, 51, **elsewhere), report(60))) == [(60, -1, 0)]


def test_notified_on_entering_a_segment_but_not_in_the_exit_lane() -> None:
    expected = answers(
        report(0, lane=0),
        report(30),
        report(60, seg=51),
        report(90, seg=51),
        report(120, seg=53),
        report(150, seg=54, lane=4),
        report(180, seg=54, lane=2),
    )
    assert [time for time, _, _ in notified(expected)] == [0, 60, 120]


@pytest.mark.parametrize(("gap", "times"), [(30, [0]), (29, [0, 29]), (31, [0, 31]), (60, [0, 60])])
def test_trip_begins_without_a_report_30_seconds_earlier(gap: int, times: list[int]) -> None:
    assert [time for time, _, _ in notified(answers(report(0), report(gap)))] == times


def test_trip_is_on_one_expressway_and_direction() -> None:
    expected = answers(report(0), report(30, xway=1), report(60, xway=1, direction=1), report(90, xway=1))
    assert [time for time, _, _ in notified(expected)] == [0, 30, 60, 90]


# Accidents.


def passing(times: list[int], seg: int = 50, **where: int) -> list[InputTuple]:
    """A vehicle for each time that sets out in `seg` then; vehicle number = time."""
    return [report(time, time, seg, **where) for time in times]


TIMES = [59, 60, 110, 119, 120, 179, 180, 239, 240, 300, 360]


def alert_times(*tuples: list[InputTuple], **where: int) -> list[int]:
    expected = answers(*tuples, passing(TIMES, **where))
    return [alert.time for alert in expected.accident_alerts]


def test_alert_comes_the_minute_after_and_ends_with_the_minute_after() -> None:
    # Stopped in [90, 120) and [100, 130): an accident in [100, 120), minute 2 alone.
    assert alert_times(standing(7, 0, 4), standing(8, 10, 4)) == [120, 179]
    # [91, 121) and [100, 130): an accident in [100, 121), with one second of minute 3.
    assert alert_times(standing(7, 1, 4), standing(8, 10, 4)) == [120, 179, 180, 239]
    # [90, 150) and [100, 130): an accident in [100, 130), minutes 2 and 3.
    assert alert_times(standing(7, 0, 5), standing(8, 10, 4)) == [120, 179, 180, 239]


def test_accident_needs_one_common_second() -> None:
    # [90, 120) and [120, 150) have none; [90, 120) and [119, 149) have 119.
    assert alert_times(standing(7, 0, 4), standing(8, 30, 4)) == []
    assert alert_times(standing(7, 0, 4), standing(8, 29, 4)) == [120, 179]


def test_accident_needs_four_reports_in_a_row() -> None:
    assert alert_times(standing(7, 0, 9), standing(8, 0, 3)) == []
    assert alert_times(standing(7, 0, 9), standing(8, 0, 2), standing(8, 90, 3)) == []


def test_one_vehicle_is_no_accident() -> None:
    assert alert_times(standing(7, 0, 9)) == []


@pytest.mark.parametrize("lane", [0, 4])
def test_no_accident_on_a_ramp(lane: int) -> None:
    assert alert_times(standing(7, 0, 9, lane=lane), standing(8, 0, 9, lane=lane)) == []


@pytest.mark.parametrize("elsewhere", [{"lane": 3}, {"pos": 52 * 5280 + 1}, {"direction": 1}, {"xway": 1}])
def test_accident_is_at_one_place(elsewhere: dict[str, int]) -> None:
    assert alert_times(standing(7, 0, 9), standing(8, 0, 9, **elsewhere)) == []


def test_lane_change_starts_the_count_again() -> None:
    changes = [*standing(8, 0, 3, lane=3), *standing(8, 90, 4)]
    # The fourth in lane 2 is at 180; with vehicle 7 in [90, 210) that makes [180, 210), minute 4.
    assert alert_times(standing(7, 0, 7), changes) == [240]


def test_first_report_from_elsewhere_ends_a_stop() -> None:
    long, short = standing(7, 5, 5), standing(8, 10, 4)
    # [95, 155) and [100, 130): minutes 2 and 3, but [100, 115) if 8 shows up elsewhere at 115.
    assert alert_times(long, short) == [120, 179, 180, 239]
    assert alert_times(long, short, [report(115, 8, seg=20)]) == [120, 179]
    assert alert_times(long, short, [report(115, 8, pos=52 * 5280)]) == [120, 179, 180, 239]


@pytest.mark.parametrize("road", [{"xway": 1}, {"direction": 1}])
def test_report_from_another_road_does_not_end_a_stop(road: dict[str, int]) -> None:
    stopped = [*standing(7, 5, 5), *standing(8, 10, 4), report(115, 8, seg=20, **road)]
    assert alert_times(stopped) == [120, 179, 180, 239]


def test_stop_goes_on_with_the_next_report_from_there() -> None:
    # Vehicle 8 is seen elsewhere in the middle of it: stopped in [100, 115) and [130, 160), while 7 is in
    # [115, 145) and nobody else is in [100, 115).
    assert alert_times(standing(7, 25, 4), standing(8, 10, 5), [report(115, 8, seg=20)]) == [180, 239]


@pytest.mark.parametrize(("seg", "warned"), [(47, False), (48, True), (50, True), (52, True), (53, False)])
def test_alert_reaches_four_segments_upstream(seg: int, warned: bool) -> None:
    expected = answers(standing(7, 0, 5), standing(8, 0, 5), report(120, seg=seg))
    assert alerted(expected) == ([(120, 52)] if warned else [])


@pytest.mark.parametrize(("seg", "warned"), [(57, False), (56, True), (52, True), (51, False)])
def test_upstream_is_the_other_way_in_the_west(seg: int, warned: bool) -> None:
    stopped = [*standing(7, 0, 5, direction=1), *standing(8, 0, 5, direction=1)]
    expected = answers(stopped, report(120, seg=seg, direction=1))
    assert alerted(expected) == ([(120, 52)] if warned else [])


def test_segment_of_an_accident_is_that_of_its_position() -> None:
    pos = 52 * 5280 - 1
    assert alerted(answers(standing(7, 0, 5, pos=pos), standing(8, 0, 5, pos=pos), report(120))) == [
        (120, 51)
    ]


@pytest.mark.parametrize(("accident", "seg", "direction"), [(99, 97, 0), (99, 99, 0), (0, 1, 1), (0, 0, 1)])
def test_alert_at_the_end_of_the_expressway(accident: int, seg: int, direction: int) -> None:
    where = {"pos": accident * 5280, "direction": direction}
    stopped = [*standing(7, 0, 5, **where), *standing(8, 0, 5, **where)]
    expected = answers(stopped, report(120, seg=seg, direction=direction))
    assert AccidentAlert(120, PROBE, accident, frozenset({accident})) in expected.accident_alerts


def test_alert_names_the_nearest_of_all() -> None:
    stopped = [*standing(7, 0, 9), *standing(8, 0, 9)]
    further = [*standing(9, 0, 9, pos=54 * 5280 + 7), *standing(10, 0, 9, pos=54 * 5280 + 7)]
    expected = answers(stopped, further, report(120, seg=50), report(150, seg=51), report(180, seg=53))
    assert [alert for alert in expected.accident_alerts if alert.vid == PROBE] == [
        AccidentAlert(120, PROBE, 52, frozenset({52, 54})),
        AccidentAlert(150, PROBE, 52, frozenset({52, 54})),
        AccidentAlert(180, PROBE, 54, frozenset({54})),
    ]


def test_alert_only_with_a_notification() -> None:
    stopped = [*standing(7, 0, 9), *standing(8, 0, 9)]
    trip = [report(120), report(150), report(180, seg=51, lane=4)]
    assert alerted(answers(stopped, trip)) == [(120, 52)]


@pytest.mark.parametrize(("seg", "toll"), [(47, 2), (48, 0), (52, 0), (53, 2)])
def test_accident_lifts_the_toll_upstream(seg: int, toll: int) -> None:
    stopped = [*standing(7, 0, 4), *standing(8, 10, 4)]
    # The stopped vehicles (0 mph) are in segment 52 themselves.
    full = crowd(2, 51 if seg != 52 else 49, seg=seg)
    assert [n[2] for n in notified(answers(stopped, full, report(120, seg=seg)))] == [toll]


@pytest.mark.parametrize(("minute", "toll"), [(2, 2), (3, 0), (4, 2)])
def test_toll_is_lifted_only_after_a_minute_with_the_accident(minute: int, toll: int) -> None:
    stopped = [*standing(7, 0, 4), *standing(8, 10, 4)]
    expected = answers(stopped, crowd(minute - 1, 51), report(60 * (minute - 1)))
    assert notified(expected) == [(60 * (minute - 1), 30, toll)]


# Assessments.


def charges_after_entering(*rest: InputTuple, lane: int = 2) -> list[tuple[int, int]]:
    """What a vehicle is charged that enters segment 50 at 60, for a toll of 2."""
    return charged(answers(crowd(1, 51), report(60, lane=lane), *rest))


def test_toll_is_assessed_on_crossing() -> None:
    assert charges_after_entering() == []
    assert charges_after_entering(report(90)) == []
    assert charges_after_entering(report(90, seg=51)) == [(90, 2)]
    assert charges_after_entering(report(90), report(120, seg=51), report(150, seg=51)) == [(120, 2)]


def test_segment_after_is_charged_its_own_toll() -> None:
    expected = answers(
        crowd(1, 51), crowd(1, 53, seg=51, spd=20), report(60), report(90, seg=51), report(120, seg=52)
    )
    assert charged(expected) == [(90, 2), (120, 18)]


def test_quoted_toll_is_assessed_not_that_of_the_last_report() -> None:
    expected = answers(crowd(1, 51), crowd(2, 60), [report(t) for t in (60, 90, 120)], report(150, seg=51))
    assert charged(expected) == [(150, 2)]


def test_jump_over_a_segment_is_a_crossing() -> None:
    assert charges_after_entering(report(90, seg=52)) == [(90, 2)]


def test_crossing_report_may_be_in_the_exit_lane() -> None:
    assert charges_after_entering(report(90, seg=51, lane=4), report(120, seg=51, lane=4)) == [(90, 2)]


def test_segment_left_by_its_exit_ramp_is_free() -> None:
    assert charges_after_entering(report(90, lane=4)) == []
    assert charges_after_entering(report(90, lane=4), report(120, seg=51)) == []
    # Back from the ramp before the segment's end.
    assert charges_after_entering(report(90, lane=4), report(120), report(150, seg=51)) == [(150, 2)]


def test_segment_entered_in_the_exit_lane_was_not_quoted() -> None:
    assert charges_after_entering(report(90), report(120, seg=51), lane=4) == []


@pytest.mark.parametrize("time", [89, 91, 120])
def test_another_trip_is_no_crossing(time: int) -> None:
    assert charges_after_entering(report(time, seg=51)) == []


@pytest.mark.parametrize("road", [{"xway": 1}, {"direction": 1}])
def test_changing_the_road_is_no_crossing(road: dict[str, int]) -> None:
    assert charges_after_entering(report(90, seg=51, **road)) == []


def test_entered_again_is_quoted_again() -> None:
    back = [report(60), report(90, seg=51), report(120), report(150, seg=51)]
    # The vehicle itself is the 52nd of minute 2.
    expected = answers(crowd(1, 51), crowd(2, 51), back)
    assert charged(expected) == [(90, 2), (120, 0), (150, 8)]


# Requests.


def balances(time: int, *more: InputTuple, vid: int = PROBE) -> dict[int, int]:
    """Valid answers for a vehicle that is charged 2 at second 90."""
    (request,) = answers(
        crowd(1, 51), report(60), report(90, seg=51), *more, balance_request(time, vid)
    ).account_balances
    assert (request.time, request.qid, request.vid) == (time, 1, vid)
    return request.balances


def test_balance_holds_for_the_last_60_seconds() -> None:
    assert balances(89) == dict.fromkeys(range(29, 90), 0)
    assert balances(90) == dict.fromkeys(range(30, 90), 0) | {90: 2}
    assert balances(149) == {89: 0} | dict.fromkeys(range(90, 150), 2)
    assert balances(150) == dict.fromkeys(range(90, 151), 2)
    assert balances(5000) == dict.fromkeys(range(4940, 5001), 2)


def test_balance_before_the_first_minute_is_over() -> None:
    assert balances(10) == dict.fromkeys(range(-50, 11), 0)


def test_balance_of_a_stranger_is_zero() -> None:
    assert set(balances(100, vid=99_999).values()) == {0}


def test_balance_is_over_all_expressways_and_trips() -> None:
    more = [*crowd(3, 53, xway=1, direction=1), report(180, xway=1, direction=1)]
    more.append(report(210, seg=49, xway=1, direction=1))
    assert balances(210, *more) == dict.fromkeys(range(150, 210), 2) | {210: 20}


def test_daily_expenditure_is_what_history_says() -> None:
    history = {(5, 1, 0): 120, (5, 2, 0): 7}

    def bal(*request: int) -> int:
        (answer,) = expected_answers([expenditure_request(*request)], history, {}).daily_expenditures
        assert answer == DailyExpenditure(5, 1, answer.bal)
        return answer.bal

    assert [bal(5, 1, 0), bal(5, 2, 0), bal(5, 3, 0), bal(5, 1, 1), bal(6, 1, 0)] == [120, 7, 0, 0, 0]


def travel(request: InputTuple, lav: dict[int, int] | int, cnt: int = 0) -> TravelTime:
    """Over a history with the same Lav for all, or one for each minute."""

    def row(day: int, minute: int, xway: int, direction: int, seg: int) -> tuple[int, int, int]:
        return (lav if isinstance(lav, int) else lav[minute], cnt, 0)

    (answer,) = expected_answers([request], {}, row).travel_times
    return answer


def test_travel_time_excludes_the_last_segment() -> None:
    assert travel(travel_request(10, 13), 60) == TravelTime(5, 1, Fraction(180), 180, 0)
    assert travel(travel_request(13, 10), 60).travel_time == 180
    assert travel(travel_request(0, 99), 60).travel_time == 99 * 60


def test_no_journey_takes_no_time() -> None:
    assert travel(travel_request(10, 10), 1, cnt=99) == TravelTime(5, 1, Fraction(0), 0, 0)


def test_travel_time_is_rounded_down_once() -> None:
    # One segment takes 514.29 s.
    assert travel(travel_request(10, 13), 7).seconds == Fraction(10_800, 7)
    assert travel(travel_request(10, 13), 7).travel_time == 1542
    assert travel(travel_request(10, 17), 7).travel_time == 3600


def test_each_segment_is_looked_up_at_the_minute_reached() -> None:
    # 60 s in minute 600, 120 s in 601, 40 s in 603, and 40 s in 603 again after 220 s.
    lav = {600: 60, 601: 30, 603: 90}
    assert travel(travel_request(10, 13), lav).travel_time == 220
    assert travel(travel_request(10, 14), lav).travel_time == 260


def test_59_seconds_are_the_same_minute() -> None:
    # 3600 / 61 = 59.02 s; twice that is minute 601.
    assert travel(travel_request(10, 13), {600: 61, 601: 90}).seconds == 2 * Fraction(3600, 61) + 40


def test_clock_stays_at_midnight() -> None:
    assert travel(travel_request(10, 13, tod=1439), {1439: 10, 1440: 60}).travel_time == 360 + 120
    assert travel(travel_request(10, 14, tod=1440), {1440: 10}).travel_time == 4 * 360


@pytest.mark.parametrize(("lav", "cnt", "toll"), [(39, 51, 2), (40, 51, 0), (39, 50, 0), (1, 60, 200)])
def test_travel_toll_is_that_of_the_formula(lav: int, cnt: int, toll: int) -> None:
    assert travel(travel_request(10, 13), lav, cnt).toll == 3 * toll


@pytest.mark.parametrize(("dow", "days"), [(1, [7, 14, 70]), (2, [6, 13, 69]), (7, [1, 8, 64])])
def test_travel_means_are_over_the_ten_days_of_the_weekday(dow: int, days: list[int]) -> None:
    asked = []

    def row(day: int, minute: int, xway: int, direction: int, seg: int) -> tuple[int, int, int]:
        asked.append(day)
        # Means of 39.9 and 51.9: floors 39 and 51. The rows' own tolls are not used.
        return (39 if len(asked) == 1 else 40, 51 if len(asked) == 1 else 52, 999)

    (answer,) = expected_answers([travel_request(10, 11, dow)], {}, row).travel_times
    assert (answer.seconds, answer.toll) == (Fraction(36_000, 399), 2)
    assert len(asked) == 10
    assert [asked[0], asked[1], asked[-1]] == days


@pytest.mark.parametrize(("sinit", "send", "keys"), [(98, 99, [(0, 98)]), (1, 0, [(1, 1)])])
def test_travel_direction_follows_from_the_segments(
    sinit: int, send: int, keys: list[tuple[int, int]]
) -> None:
    history = {(day, 600, 3, direction, seg): (60, 0, 0) for day in range(1, 71) for direction, seg in keys}
    (answer,) = expected_answers([travel_request(sinit, send, xway=3)], {}, history).travel_times
    assert answer.travel_time == 60


def test_two_reports_of_a_vehicle_in_one_second_are_refused() -> None:
    with pytest.raises(ValueError, match="same second"):
        answers(report(0, 7), report(0, 7, seg=51))


# What holds for any traffic.


def read(tuples: list[InputTuple]) -> Expected:
    return expected_answers(tuples, toll_history(tuples), segment_history)


def in_order(expected: Expected) -> list[list[tuple[object, ...]]]:
    """All answers, each list by time and vehicle or request."""
    return [
        sorted(expected.toll_notifications),
        sorted(expected.accident_alerts, key=lambda alert: alert[:2]),
        sorted(expected.account_balances, key=lambda balance: balance[:2]),
        sorted(expected.daily_expenditures),
        sorted(expected.travel_times),
        sorted(expected.assessments),
    ]


any_traffic = st.booleans().flatmap(lambda orderly: traffic(orderly=orderly))


@few
@given(any_traffic)
def test_traffic_is_valid_input(tuples: list[InputTuple]) -> None:
    assert all(len(fields) == 15 and min(fields) >= -1 for fields in tuples)
    assert tuples == sorted(tuples, key=lambda fields: fields[1])
    inputs = [Tuple(*fields) for fields in tuples]
    reports = [z for z in inputs if z.Type == 0]
    assert len({(p.VID, p.Time) for p in reports}) == len(reports) > 0
    for p in reports:
        assert 0 <= p.Time < 900
        assert p.VID >= 0
        assert (0 <= p.Spd <= 100, p.XWay in {0, 1}, 0 <= p.Lane <= 4, p.Dir in {0, 1}) == (True,) * 4
        assert 0 <= p.Pos < 528_000
        assert p.Seg == p.Pos // 5280
        assert set(p[9:]) == {-1}
    requests = [z for z in inputs if z.Type != 0]
    assert len({z.QID for z in requests}) == len(requests)
    for z in requests:
        absent = {2: (3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14), 3: (3, 5, 6, 7, 8, 10, 11, 12, 13)}
        absent |= {4: (3, 5, 6, 7, 8, 14)}
        assert [field for field in range(15) if z[field] == -1] == list(absent[z.Type])


@few
@given(traffic())
def test_orderly_vehicles_rest_between_trips(tuples: list[InputTuple]) -> None:
    reading = Reading([Tuple(*fields) for fields in tuples if fields[0] == 0])
    for p in reading.P:
        for q in reading.reports_of(p.VID):
            if 0 < q.Time - p.Time <= 30:
                assert (q.Time - p.Time, q.XWay, q.Dir) == (30, p.XWay, p.Dir)


@few
@given(traffic())
def test_stops_of_orderly_traffic_are_those_of_the_papers_formula(tuples: list[InputTuple]) -> None:
    reading = Reading([Tuple(*fields) for fields in tuples if fields[0] == 0])
    for v in {p.VID for p in reading.P if p.Spd == 0}:
        for t in range(0, 960, 7):
            last = [reading.Last(i, v, t) for i in (1, 2, 3, 4)]
            places = {place(p) for reports in last for p in reports}
            times = sorted(p.Time for reports in last for p in reports)
            # The formula does not ask for one trip: one may end where the next begins.
            of_one_trip = all(later - earlier == 30 for earlier, later in pairwise(times))
            by_formula = places if all(last) and len(places) == 1 and of_one_trip else set()
            assert {where for where, seconds in reading.Stop(v) if t in seconds} == by_formula


@few
@given(any_traffic, st.integers(0, 99))
def test_order_does_not_matter(tuples: list[InputTuple], seed: int) -> None:
    shuffled = tuples.copy()
    Random(seed).shuffle(shuffled)
    assert in_order(read(shuffled)) == in_order(read(tuples))


@few
@given(any_traffic, st.integers(0, 900))
def test_the_future_does_not_matter(tuples: list[InputTuple], now: int) -> None:
    whole, past = read(tuples), read([fields for fields in tuples if fields[1] <= now])

    def until_now(expected: Expected) -> list[list[tuple[object, ...]]]:
        times = [(n.time, *n) for n in expected.toll_notifications]
        assessed = [(a.time, *a) for a in expected.assessments]
        rest = [expected.accident_alerts, expected.account_balances, expected.travel_times]
        return [[answer for answer in every if answer[0] <= now] for every in (times, assessed, *rest)]

    assert until_now(past) == until_now(whole)


@few
@given(any_traffic)
def test_east_is_the_mirror_of_west(tuples: list[InputTuple]) -> None:
    mirrored = [
        (*z[:6], 1 - z.Dir, 99 - z.Seg, 527_999 - z.Pos, *z[9:])
        for z in (Tuple(*fields) for fields in tuples)
        if z.Type == 0
    ]
    expected, mirror = answers([fields for fields in tuples if fields[0] == 0]), answers(mirrored)
    assert mirror.toll_notifications == expected.toll_notifications
    assert mirror.assessments == expected.assessments
    assert mirror.accident_alerts == [
        AccidentAlert(time, vid, 99 - nearest, frozenset(99 - s for s in segments))
        for time, vid, nearest, segments in expected.accident_alerts
    ]


@few
@given(any_traffic, st.integers(1, 9))
def test_minutes_later_all_is_the_same(tuples: list[InputTuple], minutes: int) -> None:
    later = [(fields[0], fields[1] + 60 * minutes, *fields[2:]) for fields in tuples]
    now, then = read(tuples), read(later)
    assert then.toll_notifications == [
        TollNotification(vid, time + 60 * minutes, lav, toll)
        for vid, time, lav, toll in now.toll_notifications
    ]
    assert then.assessments == [Assessment(vid, time + 60 * minutes, t) for vid, time, t in now.assessments]
    assert [a[1:] for a in then.accident_alerts] == [a[1:] for a in now.accident_alerts]
    assert [list(b.balances.values()) for b in then.account_balances] == [
        list(b.balances.values()) for b in now.account_balances
    ]


@few
@given(any_traffic)
def test_expressways_know_nothing_of_each_other(tuples: list[InputTuple]) -> None:
    together = answers([fields for fields in tuples if fields[0] == 0])
    apart = [answers([z for z in tuples if z[0] == 0 and z[4] == xway]) for xway in (0, 1)]
    for every in ("toll_notifications", "accident_alerts", "assessments"):
        both = [answer for expected in apart for answer in getattr(expected, every)]
        assert sorted(getattr(together, every), key=lambda a: a[:2]) == sorted(both, key=lambda a: a[:2])


@few
@given(any_traffic)
def test_answers_belong_together(tuples: list[InputTuple]) -> None:
    expected = read(tuples)
    notifications = Counter((n.vid, n.time) for n in expected.toll_notifications)
    alerts = Counter((a.vid, a.time) for a in expected.accident_alerts)
    assert set((notifications | alerts).values()) <= {1}
    assert alerts <= notifications
    assert all(n.toll == 0 for n in expected.toll_notifications if (n.vid, n.time) in alerts)
    assert all(a.nearest in a.segments for a in expected.accident_alerts)
    for b in expected.account_balances:
        assert list(b.balances) == list(range(b.time - 60, b.time + 1))
        for tau, balance in b.balances.items():
            assert balance == sum(a.toll for a in expected.assessments if a.vid == b.vid and a.time <= tau)
    requests = Counter(fields[0] for fields in tuples if fields[0] != 0)
    answered = {2: expected.account_balances, 3: expected.daily_expenditures, 4: expected.travel_times}
    assert requests == Counter({kind: len(every) for kind, every in answered.items()})


def test_traffic_is_rich() -> None:
    seen: Counter[str] = Counter()
    for seed in range(60):
        expected = read(make_traffic(Random(seed), orderly=seed % 2 == 0))
        seen["tolls"] += any(n.toll > 0 for n in expected.toll_notifications)
        seen["alerts"] += len(expected.accident_alerts) > 0
        seen["charges"] += any(a.toll > 0 for a in expected.assessments)
        seen["balances"] += any(max(b.balances.values()) > 0 for b in expected.account_balances)
        seen["changing balances"] += any(len({*b.balances.values()}) > 1 for b in expected.account_balances)
        seen["expenditures"] += any(d.bal > 0 for d in expected.daily_expenditures)
        seen["travel tolls"] += any(t.toll > 0 for t in expected.travel_times)
    assert min(seen[what] for what in ("tolls", "alerts", "charges", "expenditures", "travel tolls")) >= 10
    assert min(seen["balances"], seen["changing balances"]) >= 4
