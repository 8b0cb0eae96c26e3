"""The rules of Algorithms 1 and 2 and of the days (sections 4.1 to 4.3), as settled in docs/berlinmod.md."""

from __future__ import annotations

from typing import Final

import numpy as np

from causeway.berlinmod.model.calendar import HOUR_MS, MINUTE_MS

__all__ = [
    "ACCELERATION",
    "BRAKING_TRIALS",
    "CORNER_METRES",
    "DAY_END_MS",
    "LOWEST_SPEED",
    "MAIN_STREET_SPEED",
    "MEAN_WAIT_MS",
    "MODELS",
    "NEIGHBOURHOOD_SHARE",
    "PAUSE_DEVIATION_MS",
    "PAUSE_LIMIT_MS",
    "PAUSE_MEAN_MS",
    "PIECE_METRES",
    "SIDE_STREET_SPEED",
    "SPARE_TIME_SHARE",
    "STOPS_CUMULATED",
    "STOP_AT_CROSSING",
    "STOP_SHARE",
    "TYPES",
    "TYPE_SHARES",
    "WEEKDAY_BLOCK_MS",
    "WEEKDAY_BLOCK_SPREAD_MS",
    "WEEKEND_BLOCKS_MS",
    "WEEKEND_BLOCK_SPREAD_MS",
    "WORK_DEVIATION_MS",
    "WORK_END_MS",
    "WORK_LIMIT_MS",
    "WORK_START_MS",
]

# Algorithm 1. Speeds are km/h.
PIECE_METRES: Final = 5.0
"""A vehicle's speed changes every so many metres."""
ACCELERATION: Final = 12.0
"""Speed gained with each piece."""
LOWEST_SPEED: Final = 1.0
"""No event and no corner makes a moving vehicle slower."""
CORNER_METRES: Final = 50.0
"""So far before a corner its speed limit holds."""
STOP_SHARE: Final = 0.1
"""Share of events that are stops; the others brake."""
BRAKING_TRIALS: Final = 20
"""A braking vehicle keeps B(20, 1/2) / 20 of its speed."""
MEAN_WAIT_MS: Final = 15_000.0
"""A stop lasts Exp(15 s)."""

# Table 6. A street is of the first class whose speed it does not exceed.
SIDE_STREET_SPEED: Final = 30.0
MAIN_STREET_SPEED: Final = 50.0
STOP_AT_CROSSING: Final = np.array(
    [
        [0.33, 0.66, 1.00],  # from a side street: to a side street, main street, freeway
        [0.33, 0.50, 0.66],  # from a main street
        [0.10, 0.33, 0.05],  # from a freeway
    ]
)

# Section 4.2: milliseconds since midnight.
WORK_START_MS: Final = 8 * HOUR_MS
WORK_END_MS: Final = 16 * HOUR_MS
WORK_DEVIATION_MS: Final = 1 * HOUR_MS
WORK_LIMIT_MS: Final = 2 * HOUR_MS
"""A departure to or from work is at most so far from its mean."""
WEEKDAY_BLOCK_MS: Final = 20 * HOUR_MS
WEEKDAY_BLOCK_SPREAD_MS: Final = 90 * MINUTE_MS
"""A trip in the evening begins up to so long after its block of spare time."""
WEEKEND_BLOCKS_MS: Final = (9 * HOUR_MS, 19 * HOUR_MS)
WEEKEND_BLOCK_SPREAD_MS: Final = 120 * MINUTE_MS
DAY_END_MS: Final = 30 * HOUR_MS
"""A day whose last trip ends at 6:00 of the next day or later is left out."""
SPARE_TIME_SHARE: Final = 0.4
"""Share of the blocks of spare time with a trip."""

# Algorithm 2.
STOPS_CUMULATED: Final = (0.8, 0.9)
"""Share of trips with one destination, and with one or two; the others have three."""
NEIGHBOURHOOD_SHARE: Final = 0.8
"""Share of destinations that are drawn from the neighbourhood of the home."""
PAUSE_MEAN_MS: Final = 60 * MINUTE_MS
PAUSE_DEVIATION_MS: Final = 14 * MINUTE_MS
PAUSE_LIMIT_MS: Final = 120 * MINUTE_MS

# Section 5.
TYPES: Final = ("passenger", "bus", "truck")
TYPE_SHARES: Final = (0.9, 0.05, 0.05)
MODELS: Final = (
    *("Audi", "BMW", "Citroen", "Fiat", "Ford", "Honda"),
    *("Mercedes", "Opel", "Renault", "Seat", "Skoda", "Volkswagen"),
)
