"""Linear City's geometry (section 3 and Figure 2), as the simulator, the importer and the checks know it."""

from __future__ import annotations

__all__ = [
    "DOWNTOWN_SEGMENT",
    "EAST",
    "ENTRY_LANE",
    "EXIT_LANE",
    "EXIT_SEGMENT_DEVIATION",
    "FEET_PER_EXPRESSWAY",
    "FEET_PER_SECOND_PER_MPH",
    "FEET_PER_SEGMENT",
    "LEFT_LANE",
    "MAX_SPEED",
    "RAMP_FEET",
    "REPORT_INTERVAL",
    "RIGHT_LANE",
    "SEGMENTS",
    "WEST",
]

SEGMENTS = 100
FEET_PER_SEGMENT = 5280
FEET_PER_EXPRESSWAY = SEGMENTS * FEET_PER_SEGMENT

EAST, WEST = 0, 1

ENTRY_LANE = 0
# The 2003 thesis (Table 3.2) numbers the travel lanes from the left; ramps join the right one.
LEFT_LANE, RIGHT_LANE = 1, 3
EXIT_LANE = 4

# Thesis, section 2.3.1: ramps are a third of a mile long; one puts vehicles on just after a segment's
# start, the other takes them off just before its end. At 40 mph a ramp lasts 30 s: one report, at least.
RAMP_FEET = FEET_PER_SEGMENT // 3

REPORT_INTERVAL = 30
MAX_SPEED = 100
"""Miles per hour (section 3.1.1). No position report has more, nor less than 0."""
FEET_PER_SECOND_PER_MPH = 5280 / 3600

# Section 3.1.1: exits are N(50, 20), "an affinity for exiting in the downtown area".
DOWNTOWN_SEGMENT = 50
EXIT_SEGMENT_DEVIATION = 20
