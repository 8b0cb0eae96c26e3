"""An inspection made by hand."""

from __future__ import annotations

from pathlib import Path

from causeway.linear_road.inspection.inspect import Inspection, Minute
from causeway.linear_road.inspection.traffic import Accident
from causeway.report.figures import Figure, Verdict

__all__ = ["inspection"]


def inspection(minutes: int = 180, verdict: Verdict = Verdict.OUT) -> Inspection:
    return Inspection(
        folder=Path("city"),
        source="generated",
        expressways=1.0,
        minutes=minutes,
        figures=(
            Figure("Volume", "position reports", "7", "12,000,000 ± 10%", verdict, 7),
            Figure("Volume", "trips <all>", "3", "—", Verdict.NOT_JUDGED, 3),
            Figure("Accidents", "accidents", "2", "9 (8 to 10)", Verdict.HOLDS, 2),
        ),
        series=tuple(Minute(m, 600 * m, None if m == 2 else 50.0, m // 20) for m in range(1, minutes + 1)),
        accidents=(
            Accident(0, 0, 2, 31, 163_680, 1200, 2100, False),
            Accident(0, 1, 1, 77, 406_560, 10_000, 10_810, True),
        ),
    )
