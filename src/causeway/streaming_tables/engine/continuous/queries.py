"""Continuous queries of a connection: pushed ones, which are iterated, and pulled ones, which are resumed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from causeway.runtime.errors import UserError
from causeway.streaming_tables.engine.catalog.moments import time_text
from causeway.streaming_tables.engine.continuous.query import ContinuousQuery
from causeway.streaming_tables.engine.continuous.tick_answers import TickAnswer
from causeway.streaming_tables.engine.reads.answers import Answer

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame

__all__ = ["PullQuery", "PushQuery", "QueryRegistry"]

_PAUSE: Final = 0.02
"""Seconds between two looks for new ticks while nothing wakes a query."""


class PullQuery:
    """A query over windows without SAMPLE: each `resume` answers it as of that moment."""

    def __init__(self, number: str, text: str, query: ContinuousQuery, clock: Callable[[], str]) -> None:
        self.id = number
        self.text = text
        self.killed = False
        self._query = query
        self._clock = clock
        self._lock = threading.Lock()

    kind: Final = "pull"
    last_answered: Final = None

    @property
    def way(self) -> str:
        return "each resume"

    @property
    def state(self) -> str:
        return "killed" if self.killed else "waiting"

    def resume(self) -> Answer:
        """The answer as of now."""
        if self.killed:
            raise UserError(f"query {self.id} was killed")
        with self._lock:
            return Answer(rows=self._query.answer_now(self._clock()))

    def kill(self) -> None:
        """End the query."""
        self.killed = True

    def to_arrow(self) -> pa.Table:
        """The rows of the answer as of now."""
        return self.resume().to_arrow()

    def to_pandas(self) -> pd.DataFrame:
        """The same as a pandas DataFrame."""
        return self.resume().to_pandas()

    @property
    def df(self) -> DataFrame:
        """The answer as of now as a DataFrame."""
        return self.resume().df

    def show(self, limit: int = 20) -> None:
        """Print the answer as of now."""
        self.resume().show(limit)


class PushQuery:
    """A query with SAMPLE: iterating it gives each tick with its rows, as soon as the tick is over.

    It ends when all sources of its tables have ended and the last tick is answered, or when it is killed.
    """

    def __init__(
        self, number: str, text: str, query: ContinuousQuery, ended: Callable[[tuple[str, ...]], bool]
    ) -> None:
        """`ended` tells whether nothing more comes to some tables."""
        self.id = number
        self.text = text
        self.last_tick: int | None = None
        self._query = query
        self._ended = ended
        self._after = query.start()
        self._killed = threading.Event()
        self._over = False
        self._waiting: list[TickAnswer] = []

    kind: Final = "push"

    @property
    def way(self) -> str:
        return self._query.way

    @property
    def state(self) -> str:
        return "killed" if self._killed.is_set() else "ended" if self._over else "running"

    @property
    def last_answered(self) -> int | str | None:
        """The last tick that was answered, as SQL would show it."""
        return None if self.last_tick is None else self.tick_text(self.last_tick)

    @property
    def schema(self) -> pa.Schema:
        """The columns of an answer."""
        return self._query.schema

    def tick_text(self, tick: int) -> int | str:
        """A tick as SQL would show it: seconds, or a timestamp."""
        return tick if self._query.kind == "seconds" else time_text(tick, "timestamp") or ""

    def end_when(self, condition: Callable[[tuple[str, ...]], bool]) -> None:
        """End the query also when `condition` holds of its tables and no tick is left to answer."""
        ended = self._ended
        self._ended = lambda tables: ended(tables) or condition(tables)

    def answered_until(self, table: str) -> list[int | None]:
        """The last tick that was computed, if the query reads the table; None before the first one."""
        return [self._after] if table.lower() in self._query.tables and not self._killed.is_set() else []

    def kill(self) -> None:
        """End the query; an iteration over it ends, too."""
        self._killed.set()

    def __iter__(self) -> Iterator[TickAnswer]:
        return self

    def __next__(self) -> TickAnswer:
        while not self._waiting:
            if self._killed.is_set():
                raise StopIteration
            # Asked before the ticks are, so that rows that came in between are not missed.
            ended = self._ended(self._query.tables)
            self._waiting = self._query.answers(self._after)
            if self._waiting:
                self._after = self._waiting[-1][0]
            elif ended:
                self._over = True
                raise StopIteration
            else:
                self._killed.wait(_PAUSE)
        if self._killed.is_set():
            raise StopIteration
        tick, rows = self._waiting.pop(0)
        self.last_tick = tick
        return tick, rows


class QueryRegistry:
    """The continuous queries of a connection, by their ids."""

    def __init__(self) -> None:
        self._queries: dict[str, PullQuery | PushQuery] = {}
        self._count = 0
        self._lock = threading.Lock()

    def next_id(self) -> str:
        """An id for a new query."""
        with self._lock:
            self._count += 1
            return str(self._count)

    def add(self, query: PullQuery | PushQuery) -> None:
        """Remember a query."""
        self._queries[query.id] = query

    def find(self, number: str) -> PullQuery | PushQuery:
        """The query with that id."""
        if number not in self._queries:
            known = ", ".join(self._queries) or "none"
            raise UserError(f"there is no query {number} in this connection (there are: {known})")
        return self._queries[number]

    def kill(self, number: str) -> None:
        """End a query and forget it."""
        self.find(number).kill()
        del self._queries[number]

    def all(self) -> list[PullQuery | PushQuery]:
        """All queries that were not killed, in the order of their ids."""
        return [query for query in self._queries.values() if query.state != "killed"]

    def answered_until(self, table: str) -> list[int | None]:
        """Of the pushed queries that read a table, the last ticks that were computed."""
        pushed = [query for query in self.all() if isinstance(query, PushQuery)]
        return [tick for query in pushed for tick in query.answered_until(table)]

    def kill_all(self) -> None:
        """End all queries."""
        for number in list(self._queries):
            self.kill(number)
