"""The windows of event time that a streaming text declares: until when its events count."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, get_args

import pyarrow as pa

from causeway.nexmark.operators.kernels import Longs, longs

__all__ = ["Window"]

Kind = Literal["tumbling", "session"]

_MILLISECONDS: Final = {"second": 1_000, "minute": 60_000, "hour": 3_600_000, "day": 86_400_000}
_TEXT: Final = re.compile(rf"({'|'.join(get_args(Kind))}) (\d+) ({'|'.join(_MILLISECONDS)})s?")


@dataclass(frozen=True)
class Window:
    """A kind of window and its length, or for a session the pause that ends it."""

    kind: Kind
    milliseconds: int

    @staticmethod
    def parse(text: str | None) -> Window | None:
        """Read `tumbling 1 day` or `session 10 seconds`; `None` of nothing."""
        if text is None:
            return None
        match = _TEXT.fullmatch(text.strip())
        if match is None:
            raise ValueError(f"{text!r} is no window; write `tumbling 1 day` or `session 10 seconds`")
        kind: Kind = "session" if match[1] == "session" else "tumbling"
        return Window(kind, int(match[2]) * _MILLISECONDS[match[3]])

    def ends(self, events: pa.Table, time: str) -> Longs:
        """When the window of each event ends at the earliest, in milliseconds; `time` is a column."""
        # Spark's rows have microseconds, the files' milliseconds.
        times = longs(events.select([time]).cast(pa.schema([(time, pa.timestamp("ms", tz="UTC"))])), time)
        if self.kind == "session":
            return times + self.milliseconds
        end: Longs = (times // self.milliseconds + 1) * self.milliseconds
        return end
