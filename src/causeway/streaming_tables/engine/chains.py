"""Chains of rows that PREV links, judged once each.

In `P2 = PREV(P1) AND P3 = PREV(P2)` over one partitioned window, P1 decides which rows P2 and P3 are, and
these never change. So a chain is judged when its newest row arrives. It is in the answer of every tick from
then on, until newer rows of its partition have pushed its oldest row out of the window.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from causeway.streaming_tables.engine.plan_tree import PlanNode
from causeway.streaming_tables.engine.relations import Relations
from causeway.streaming_tables.engine.window_state import (
    as_times,
    partition_names,
    partitions,
    rows_in_order,
)
from causeway.streaming_tables.engine.windows import valid_until
from causeway.streaming_tables.language import Query, Window, WindowPiece
from causeway.streaming_tables.language.tokens import Kind, tokenize
from causeway.streaming_tables.storage import SEQ, Snapshot

__all__ = ["PLANNING_NOW", "Chain", "ChainState", "chain_of"]

PLANNING_NOW: Final = 8_765_432_109_876
"""Stands for NOW() while a statement is planned: a time that no statement names otherwise."""
_NEWEST: Final = "__newest"
"""The column of an answer with the arrival number of the chain's newest row."""
_JUDGED_ALONE: Final = {"Project", "Filter", "Join", "SubqueryAlias", "View", "LogicalRDD"}
"""Operators of a plan whose every row comes of one chain."""


@dataclass(frozen=True)
class Chain:
    """The aliases of a chain, the newest row's first, and whether it only counts at the tick of that row."""

    aliases: tuple[str, ...]
    window: Window
    at_arrival_only: bool


def chain_of(query: Query, plan: PlanNode) -> Chain | None:
    """The chain that a query consists of, or None if it is something else.

    `plan` is the analyzed plan, with PLANNING_NOW for NOW().
    """
    windows = query.windows
    if not query.prev_links or query.tables or query.has_order_by or query.has_limit:
        return None
    if len({(piece.table.lower(), piece.window) for piece in windows}) != 1 or windows[0].window.rows is None:
        return None
    aliases = _path([(newer.lower(), older.lower()) for newer, older in query.prev_links])
    if aliases is None or sorted(aliases) != sorted(piece.alias.lower() for piece in windows):
        return None
    nodes = list(_operators(plan))
    if any(node.kind not in _JUDGED_ALONE or node.subqueries() for node in nodes) or plan.kind != "Project":
        return None
    if any(node.kind == "Join" and not _is_inner(node) for node in nodes):
        return None
    if sum(node.kind == "View" for node in nodes) != len(windows):
        return None
    if _select_end(query.text) is None:
        return None
    info = windows[0].info
    if query.uses_now and (info.kind != "seconds" or not _only_at_arrival(nodes, aliases[0], info.time)):
        return None
    return Chain(aliases, windows[0].window, query.uses_now)


class ChainState:
    """The chains of one query that are in its answer, moved from tick to tick."""

    def __init__(self, relations: Relations, query: Query, chain: Chain, schema: pa.Schema) -> None:
        self._relations = relations
        self._query = query
        self._chain = chain
        self._schema = schema
        self._rows: pa.Table | None = None
        """The window's content as of the last tick, with arrival numbers."""
        self._answers = schema.empty_table()
        """What the chains that hold gave, with their newest rows' arrival numbers in `_newest`."""
        self._newest = np.zeros(0, np.int64)
        self._last = 0
        self._changes: Any = None

    def answers(self, snapshot: Snapshot, ticks: NDArray[np.int64]) -> list[tuple[int, pa.Table]]:
        """The answers at `ticks`, which rise and follow those of the call before."""
        rows, fresh = self._move(snapshot, ticks)
        definition = snapshot.definition
        time = as_times(rows.column(definition.time.name))
        seq = rows.column(SEQ).to_numpy()
        partition = partitions(rows, partition_names(self._chain.window, definition))
        older = _older(partition)
        self._judge(rows, seq, older, fresh, definition.time.name)

        oldest = np.arange(len(time))
        for _ in self._chain.aliases[1:]:
            oldest = np.where(oldest >= 0, older[oldest], -1)
        assert self._chain.window.rows is not None
        until, expires = valid_until(partition, time, self._chain.window.rows - len(self._chain.aliases) + 1)

        by_seq = np.argsort(seq)
        row = by_seq[np.searchsorted(seq[by_seq], self._newest)] if len(seq) else np.zeros(0, np.int64)
        first = np.searchsorted(ticks, time[row], "left")
        last = np.where(expires[row], np.searchsorted(ticks, until[row], "left"), len(ticks))
        if definition.range is not None:
            last = np.minimum(
                last, np.searchsorted(ticks, time[np.maximum(oldest[row], 0)] + definition.range, "right")
            )
        if self._chain.at_arrival_only:
            last = np.minimum(last, np.searchsorted(ticks, time[row], "right"))
        found = []
        for number, tick in enumerate(ticks):
            holds = np.flatnonzero((first <= number) & (number < last))
            found.append((int(tick), self._answers.take(pa.array(holds))))
        self._keep(rows, time, partition, row, last == len(ticks), ticks, definition.range)
        return found

    def _move(self, snapshot: Snapshot, ticks: NDArray[np.int64]) -> tuple[pa.Table, NDArray[np.bool_]]:
        """All rows that matter up to the last tick, in order, and which of them have not been judged."""
        window = self._chain.window
        assert window.rows is not None
        time = snapshot.definition.time.name
        if self._rows is None or self._changes != snapshot.changes:
            columns = partition_names(window, snapshot.definition)
            self._rows = snapshot.last_rows(window.rows, columns, None, as_of=int(ticks[0]))
            self._last = int(ticks[0])
            self._changes = snapshot.changes
            self._answers, self._newest = self._schema.empty_table(), np.zeros(0, np.int64)
            judged = np.zeros(0, np.int64)
        else:
            judged = self._rows.column(SEQ).to_numpy()
        fresh = snapshot.scan(
            with_seq=True, time_from=self._last + 1, time_to=int(ticks[-1]), keep_expired=True
        )
        rows = rows_in_order(pa.concat_tables([self._rows.select(fresh.schema.names), fresh]), time)
        return rows, ~np.isin(rows.column(SEQ).to_numpy(), judged)

    def _judge(
        self,
        rows: pa.Table,
        seq: NDArray[np.int64],
        older: NDArray[np.int64],
        fresh: NDArray[np.bool_],
        time_name: str,
    ) -> None:
        """Run the statement over the chains whose newest row is fresh, and add what holds."""
        members = [np.flatnonzero(fresh)]
        for _ in self._chain.aliases[1:]:
            members.append(older[members[-1]])
            complete = members[-1] >= 0
            members = [positions[complete] for positions in members]
        if not len(members[0]):
            return
        names: dict[str, str] = {}
        frames = {}
        for alias, positions in zip(self._chain.aliases, members, strict=True):
            relation = rows.take(pa.array(positions)).drop_columns([SEQ])
            before = older[positions]
            links = pa.array(np.where(before < 0, -1, seq[np.maximum(before, 0)]))
            relation = relation.append_column("__row", pa.array(seq[positions]))
            relation = relation.append_column("__previous", links)
            names[alias] = self._relations.unused_name(alias)
            frames[names[alias]] = self._relations.arrow(relation)
        text = self._text(names, time_name)
        with self._relations.named(frames):
            found = self._relations.spark.sql(text).toArrow()
        kept = [
            position
            for position, name in enumerate(found.schema.names)
            if position and name not in ("__row", "__previous")
        ]
        columns = [
            found.column(position).cast(field.type)
            for position, field in zip(kept, self._schema, strict=True)
        ]
        answers = pa.Table.from_arrays(columns, schema=self._schema)
        self._answers = pa.concat_tables([self._answers, answers])
        self._newest = np.concatenate([self._newest, found.column(0).to_numpy()])

    def _text(self, names: dict[str, str], time_name: str) -> str:
        newest = self._chain.aliases[0]

        def window(piece: WindowPiece) -> str:
            return names[piece.alias.lower()]

        def now(offset: int) -> str:
            # Where NOW() is used, a chain only counts at the time of its newest row.
            return f"(`{newest}`.`{time_name}` + {offset // 1_000_000}L)"

        text = self._query.render(window, now)
        place = _select_end(text)
        return f"{text[:place]} `{newest}`.`__row` AS `{_NEWEST}`,{text[place:]}"

    def _keep(
        self,
        rows: pa.Table,
        time: NDArray[np.int64],
        partition: NDArray[np.int64],
        row: NDArray[np.int64],
        holds: NDArray[np.bool_],
        ticks: NDArray[np.int64],
        period: int | None,
    ) -> None:
        """Forget rows and chains that are in no window any more as of the last tick."""
        assert self._chain.window.rows is not None
        _, pushed_out = valid_until(partition, time, self._chain.window.rows)
        inside = ~pushed_out
        if period is not None:
            inside &= time + period >= ticks[-1]
        self._rows = rows.filter(pa.array(inside))
        self._last = int(ticks[-1])
        holds = holds & inside[row] if len(row) else holds
        self._answers = self._answers.filter(pa.array(holds)).combine_chunks()
        self._newest = self._newest[holds]


def _path(links: list[tuple[str, str]]) -> tuple[str, ...] | None:
    """The aliases from the newest to the oldest, if the links are one path."""
    older = dict(links)
    starts = set(older) - set(older.values())
    if len(older) != len(links) or len(set(older.values())) != len(links) or len(starts) != 1:
        return None
    path = [starts.pop()]
    while path[-1] in older:
        path.append(older[path[-1]])
    return tuple(path) if len(path) == len(links) + 1 else None


def _older(partition: NDArray[np.int64]) -> NDArray[np.int64]:
    """The position of the next older row of the same partition, -1 where there is none."""
    order = np.argsort(partition, kind="stable")
    older = np.full(len(partition), -1, np.int64)
    if len(order) > 1:
        same = partition[order[1:]] == partition[order[:-1]]
        older[order[1:][same]] = order[:-1][same]
    return older


def _operators(plan: PlanNode) -> Iterator[PlanNode]:
    yield plan
    for child in plan.children:
        yield from _operators(child)


def _is_inner(join: PlanNode) -> bool:
    kind = join.fields.get("joinType")
    name = str(kind.get("object", kind.get("product-class", ""))) if isinstance(kind, dict) else str(kind)
    return name.rpartition(".")[2].rstrip("$") in ("Inner", "Cross")


def _only_at_arrival(nodes: list[PlanNode], newest: str, time: str) -> bool:
    """Whether a condition of the whole statement is that the newest row's time is NOW()."""

    def is_it(condition: PlanNode) -> bool:
        if condition.kind == "And":
            return any(is_it(child) for child in condition.children)
        if condition.kind != "EqualTo":
            return False
        sides = sorted(condition.children, key=lambda side: side.kind)
        if [side.kind for side in sides] != ["AttributeReference", "Literal"]:
            return False
        column, value = sides
        return (
            column.name.lower() == time.lower()
            and str(column.fields.get("qualifier")).strip("[]").lower() == newest
            and value.fields.get("value") == str(PLANNING_NOW)
        )

    filters = [node for node in nodes if node.kind == "Filter"]
    return any(is_it(condition) for node in filters for condition in node.expressions("condition"))


def _select_end(text: str) -> int | None:
    """Where the first column of a SELECT may stand; None if the statement begins with something else."""
    tokens = [token for token in tokenize(text) if token.kind not in (Kind.SPACE, Kind.COMMENT)]
    if not tokens or tokens[0].word() != "SELECT":
        return None
    if len(tokens) > 1 and tokens[1].word() in ("ALL", "DISTINCT"):
        return None
    return tokens[1].end if len(tokens) > 1 and tokens[1].kind is Kind.HINT else tokens[0].end
