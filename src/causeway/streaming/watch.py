"""A streaming query at work: its failures are raised here, its progress is reported once, in order."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from causeway.spark.session import explain

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["QueryFailedError", "QueryWatch"]

_POLL: Final = 0.02


class QueryFailedError(RuntimeError):
    """A query ended before its work was done."""


class QueryWatch:
    """Looks at a query whose sources have offsets of the form {`position`: number}."""

    def __init__(
        self, query: StreamingQuery, position: str, *, answered: int = 0, log: Path | None = None
    ) -> None:
        self._query = query
        self._position = position
        self._log = log
        self._newest_batch = -1
        self.answered = answered
        """The position up to which the query has answered, not including it."""

    def check(self) -> None:
        """Raise if the query has failed or ended; the error names the log."""
        failure = self._query.exception()
        if failure is None and self._query.isActive:
            return
        # Between the two questions it may have failed.
        failure = failure or self._query.exception()
        reason = "the query ended before all was answered" if failure is None else explain(failure)
        where = "" if self._log is None else f" (the log is {self._log})"
        raise QueryFailedError(f"{reason}{where}") from failure

    def new_progress(self) -> list[Any]:
        """Spark's reports of batches with input that ended since the last call; moves `answered` on.

        Only the newest is asked for where that is all there is: every report that Spark remembers costs a
        millisecond of this process and of Spark.
        """
        last = self._query.lastProgress
        if last is None:
            return []
        # While there is no input, Spark reports the batch to come from time to time.
        newest = last["batchId"] - (not last["numInputRows"])
        if newest <= self._newest_batch:
            return []
        only_one = newest == self._newest_batch + 1 == last["batchId"]
        recent = [last] if only_one else self._query.recentProgress
        news = [one for one in recent if one["numInputRows"] and one["batchId"] > self._newest_batch]
        self._newest_batch = newest
        for one in news:
            self.answered = max(self.answered, self.position_of(one))
        return news

    def position_of(self, progress: Any) -> int:
        """The position that all sources have reached in a report of Spark's."""
        ends = [source["endOffset"] for source in progress["sources"]]
        offsets = [json.loads(end) if isinstance(end, str) else end for end in ends]
        return min((int(offset[self._position]) for offset in offsets if offset), default=0)

    def wait_until(self, done: Callable[[], bool]) -> None:
        """Wait until `done`; raises if the query fails or ends first."""
        while not done():
            self.check()
            time.sleep(_POLL)
