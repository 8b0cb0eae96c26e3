"""The kernel: a minute's reports in, in the order of time; who enters a segment, who is charged, who stands.

A report costs one look-up in a table, whatever the number of vehicles. Within a minute no report changes what
another is told (tolls and accidents are those of minutes before), so that a minute, or any part of one, is
one call.

Statistics are sums of each vehicle's mean speed, in units of 1 / `SCALE`. A trip has at most two reports in a
minute, which makes the mean easy to keep. A vehicle that begins another trip in a minute in which it has
already reported is *irregular* in that minute: it is taken out of the sums, and its reports are handed back,
to be counted when the minute ends.
"""

from __future__ import annotations

from typing import Any, Final

from causeway.linear_road.model.array_types import I32, I64
from causeway.linear_road.model.expressway import EXIT_LANE, LEFT_LANE, REPORT_INTERVAL, RIGHT_LANE
from causeway.linear_road.pipeline.vehicles import account_of, key_of, row_of
from causeway.runtime.compiled import kernel

__all__ = ["SCALE", "follow_reports"]

SCALE: Final = 720_720
"""A multiple of 1 to 16, so that the mean of up to 16 speeds is a whole number of units."""

_HALF: Final = SCALE // 2
_MANY: Final = 100


@kernel
def follow_reports(
    minute_start: int,
    stopped_after: int,
    time: I32,
    vid: I32,
    road: I32,
    cell: I32,
    seg: I32,
    lane: I32,
    spd: I32,
    pos: I32,
    vehicles: Any,
    index: I32,
    vehicle_count: I64,
    vids: I64,
    balances: I64,
    account_count: I64,
    toll: I32,
    cars: I32,
    speeds: I64,
    request_time: I32,
    request_vid: I32,
    request_balance: I64,
    rows: I32,
    entered: I32,
    stopped: I32,
    moved_on: I64,
    irregular: I64,
) -> tuple[int, int, int, int]:
    """Follow the reports of (a part of) a minute, and answer the balance requests among them.

    A request is answered before the reports of its second: with the balance of the second before, which does
    not depend on the order of tuples within a second.

    Changed: the tables, `cars` and `speeds`. Filled: `rows` with each report's vehicle; `entered` with the
    reports that are told a toll; `stopped` with those of vehicles that stand in a travel lane; `moved_on`
    with (key, last time there, now) of vehicles that stood and report from elsewhere before 30 s have passed;
    `irregular` with (key, cell, speed) of reports that are not in the sums. Returns how many of each.
    """
    entries = standing = moves = irregulars = requests = 0
    for i in range(len(time)):
        t = time[i]
        while requests < len(request_time) and request_time[requests] <= t:
            account = account_of(request_vid[requests], vids)
            request_balance[requests] = balances[account] if vids[account] >= 0 else 0
            requests += 1

        key = key_of(vid[i], road[i])
        row = row_of(key, vehicles, index, vehicle_count)
        rows[i] = row
        v = vehicles[row]
        before, before_seg, before_spd = v["time"], v["seg"], v["spd"]
        goes_on = before == t - REPORT_INTERVAL
        again = before >= minute_start
        at_same_place = v["pos"] == pos[i] and v["lane"] == lane[i]
        enters = not goes_on or before_seg != seg[i]

        if goes_on and enters and v["lane"] != EXIT_LANE and v["quote"] > 0:
            account = account_of(vid[i], vids)
            if vids[account] < 0:
                vids[account] = vid[i]
                balances[account] = 0
                account_count[0] += 1
            balances[account] += v["quote"]
            v["balance"] = balances[account]

        if enters and lane[i] != EXIT_LANE:
            v["quote"] = toll[cell[i]]
            entered[entries] = i
            entries += 1
        elif enters:
            v["quote"] = -1

        if (
            not goes_on
            and not at_same_place
            and before > t - REPORT_INTERVAL
            and v["repeats"] >= stopped_after
        ):
            moved_on[moves, 0], moved_on[moves, 1], moved_on[moves, 2] = key, before, t
            moves += 1
        v["repeats"] = min(v["repeats"] + 1, _MANY) if goes_on and at_same_place else 1
        if v["repeats"] >= stopped_after and LEFT_LANE <= lane[i] <= RIGHT_LANE:
            stopped[standing] = i
            standing += 1

        if v["irregular"] != minute_start and again and not goes_on:
            v["irregular"] = minute_start
            first_cell = cell[i] - seg[i]
            if v["before_seg"] == before_seg:
                speeds[first_cell + before_seg] -= _HALF * (v["before_spd"] + before_spd)
                cars[first_cell + before_seg] -= 1
            else:
                speeds[first_cell + before_seg] -= SCALE * before_spd
                cars[first_cell + before_seg] -= 1
                if v["before_seg"] >= 0:
                    speeds[first_cell + v["before_seg"]] -= SCALE * v["before_spd"]
                    cars[first_cell + v["before_seg"]] -= 1
            irregular[irregulars, 0], irregular[irregulars, 1] = key, first_cell + before_seg
            irregular[irregulars, 2] = before_spd
            irregulars += 1
            if v["before_seg"] >= 0:
                irregular[irregulars, 0], irregular[irregulars, 1] = key, first_cell + v["before_seg"]
                irregular[irregulars, 2] = v["before_spd"]
                irregulars += 1
        if v["irregular"] == minute_start:
            irregular[irregulars, 0], irregular[irregulars, 1] = key, cell[i]
            irregular[irregulars, 2] = spd[i]
            irregulars += 1
        elif again and before_seg == seg[i]:
            speeds[cell[i]] += _HALF * (spd[i] - before_spd)
        else:
            speeds[cell[i]] += SCALE * spd[i]
            cars[cell[i]] += 1

        v["before_seg"] = before_seg if goes_on and again else -1
        v["before_spd"] = before_spd
        v["time"], v["seg"], v["spd"], v["lane"], v["pos"] = t, seg[i], spd[i], lane[i], pos[i]

    while requests < len(request_time):
        account = account_of(request_vid[requests], vids)
        request_balance[requests] = balances[account] if vids[account] >= 0 else 0
        requests += 1
    return entries, standing, moves, irregulars
