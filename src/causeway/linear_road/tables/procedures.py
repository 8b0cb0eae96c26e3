"""Procedures: daily expenditures (type 3) and travel times (type 4), from ten weeks of history.

An expenditure is one value of 10 million rows for each expressway: Spark needs about a second for a batch of
such look-ups in a table, an array of which the requested pages are read needs microseconds. A travel time
walks from segment to segment, and the minute in which it reaches the next one decides which mean it reads
there: that is a loop, which SQL has no words for. Both use the prepared history of the workload
(`causeway.linear_road.history`), as the columnar engine does.
"""

from __future__ import annotations

import numpy as np

from causeway.linear_road.history.prepared import PreparedHistory
from causeway.linear_road.model.rules import Rules
from causeway.streaming.cells import Arrays

__all__ = ["expenditures", "travel_times"]


def expenditures(history: PreparedHistory, requests: Arrays) -> Arrays:
    """The answers to rows of REQUESTS of type 3."""
    paid = history.daily_expenditures(requests["VID"], requests["DAY"], requests["XWAY"])
    return {
        "expenditure_time": requests["T"],
        "expenditure_qid": requests["QID"],
        "expenditure_bal": paid.astype(np.int32),
    }


def travel_times(history: PreparedHistory, rules: Rules, requests: Arrays) -> Arrays:
    """The answers to rows of REQUESTS of type 4."""
    xway, sinit, send, dow, tod = (requests[name] for name in ("XWAY", "SINIT", "SEND", "DOW", "TOD"))
    seconds, tolls = history.travel_times(xway, sinit, send, dow, tod, rules.toll)
    return {
        "journey_time": requests["T"],
        "journey_qid": requests["QID"],
        "journey_travel_time": seconds.astype(np.int32),
        "journey_toll": tolls.astype(np.int32),
    }
