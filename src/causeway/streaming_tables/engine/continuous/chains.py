"""Chains of rows that PREV links, judged once each.

In `P2 = PREV(P1) AND P3 = PREV(P2)` over one partitioned window, P1 decides which rows P2 and P3 are, and
these never change. So a chain is judged when its newest row arrives. It is in the answer of every tick from
then on, until newer rows of its partition have pushed its oldest row out of the window.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from causeway.streaming_tables.engine.continuous.chain_needs import RowNeeds, compiled_needs, needs_of_aliases
from causeway.streaming_tables.engine.continuous.tick_answers import without_hidden
from causeway.streaming_tables.engine.continuous.tick_statement import TickStatement
from causeway.streaming_tables.engine.plans.tree import PlanNode
from causeway.streaming_tables.engine.reads.relations import Relations
from causeway.streaming_tables.engine.windows.sliding import valid_until
from causeway.streaming_tables.engine.windows.window_state import (
    CarriedRows,
    as_times,
    partition_names,
    partitions,
    rows_in_order,
)
from causeway.streaming_tables.language import Query, Rendered, Window, WindowPiece, select_end
from causeway.streaming_tables.language.tokens import quote_identifier
from causeway.streaming_tables.storage import SEQ, Snapshot

__all__ = ["PLANNING_NOW", "Chain", "ChainState", "chain_of", "is_at_arrival", "operators"]

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
    needs: tuple[RowNeeds, ...]
    """For each alias, what its row must meet by itself."""


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
    nodes = list(operators(plan))
    if any(node.kind not in _JUDGED_ALONE or node.subqueries() for node in nodes) or plan.kind != "Project":
        return None
    if any(node.kind == "Join" and not _is_inner(node) for node in nodes):
        return None
    if sum(node.kind == "View" for node in nodes) != len(windows):
        return None
    if select_end(query.text) is None:
        return None
    info = windows[0].info
    if query.uses_now and (info.kind != "seconds" or not _only_at_arrival(nodes, aliases[0], info.time)):
        return None
    needs = needs_of_aliases(plan, aliases, PLANNING_NOW)
    return Chain(aliases, windows[0].window, query.uses_now, needs)


class ChainState:
    """The chains of one query that are in its answer, moved from tick to tick."""

    def __init__(
        self,
        relations: Relations,
        query: Query,
        chain: Chain,
        schema: pa.Schema,
        columns: Sequence[str] | None = None,
    ) -> None:
        """`columns` are those of the window that are read; all unless given."""
        self._query = query
        self._chain = chain
        self._schema = schema
        self._statement = TickStatement(relations, chain.aliases, self._rendered)
        self._carried = CarriedRows(chain.window, columns)
        self._answers = schema.empty_table()
        """What the chains that hold gave."""
        self._newest = np.zeros(0, np.int64)
        """Of these chains, the arrival numbers of their newest rows."""
        self._begin = np.zeros(0, np.int64)
        """The times of their newest rows."""
        self._oldest = np.zeros(0, np.int64)
        """The times of their oldest rows."""

    def answers(self, snapshot: Snapshot, ticks: NDArray[np.int64]) -> list[tuple[int, pa.Table]]:
        """The answers at `ticks`, which rise and follow those of the call before."""
        rows, fresh, idle = self._move(snapshot, ticks)
        definition, window = snapshot.definition, self._chain.window
        assert window.rows is not None
        time = as_times(rows.column(definition.time.name))
        seq = rows.column(SEQ).to_numpy()
        partition = partitions(rows, partition_names(window, definition))
        older = _older(partition)
        self._judge(rows, seq, older, fresh)

        row, known = _positions(seq, self._newest)
        self._note_times(time, older, row)
        until, expires = valid_until(partition, time, window.rows - len(self._chain.aliases) + 1)
        first = np.searchsorted(ticks, self._begin, "left")
        # Nothing pushes the rows of a chain out whose partition has no new ones.
        last = np.full(len(row), len(ticks))
        pushed = known & expires[row] if len(seq) else known
        last[pushed] = np.searchsorted(ticks, until[row[pushed]], "left")
        if definition.range is not None:
            last = np.minimum(last, np.searchsorted(ticks, self._oldest + definition.range, "right"))
        if self._chain.at_arrival_only:
            last = np.minimum(last, np.searchsorted(ticks, self._begin, "right"))
        found = []
        for number, tick in enumerate(ticks):
            holds = np.flatnonzero((first <= number) & (number < last))
            found.append((int(tick), self._answers.take(pa.array(holds))))

        _, pushed_out = valid_until(partition, time, window.rows)
        kept = pa.concat_tables([idle, rows.filter(pa.array(~pushed_out))])
        self._keep(kept, last == len(ticks), int(ticks[-1]), definition.time.name, definition.range)
        return found

    def _move(
        self, snapshot: Snapshot, ticks: NDArray[np.int64]
    ) -> tuple[pa.Table, NDArray[np.bool_], pa.Table]:
        """All rows up to the last tick of partitions with new rows, in order; which are new; all others.

        A chain of a partition without new rows stays as it is. So a tick costs what has arrived, and not what
        the window holds.
        """
        definition = snapshot.definition
        rows, carried, anew = self._carried.move(snapshot, ticks)
        if anew:
            self._answers, self._newest = self._schema.empty_table(), np.zeros(0, np.int64)
            self._begin = self._oldest = np.zeros(0, np.int64)
        number = partitions(rows, partition_names(self._chain.window, definition))
        has_new = np.zeros(int(number.max(initial=-1)) + 1, np.bool_)
        has_new[number[carried:]] = True
        busy = has_new[number]
        judged = np.asarray(rows.column(SEQ).to_numpy())[:carried][busy[:carried]]
        moved = rows_in_order(rows.take(pa.array(np.flatnonzero(busy))), definition.time.name)
        fresh = ~np.isin(moved.column(SEQ).to_numpy(), judged)
        return moved, fresh, rows.filter(pa.array(~busy))

    def _note_times(self, time: NDArray[np.int64], older: NDArray[np.int64], row: NDArray[np.int64]) -> None:
        """Remember the times of the newest and the oldest row of chains that were just judged."""
        added = row[len(self._begin) :]
        oldest = added
        for _ in self._chain.aliases[1:]:
            oldest = older[oldest]
        self._begin = np.concatenate([self._begin, time[added]])
        self._oldest = np.concatenate([self._oldest, time[oldest]])

    def _judge(
        self,
        rows: pa.Table,
        seq: NDArray[np.int64],
        older: NDArray[np.int64],
        fresh: NDArray[np.bool_],
    ) -> None:
        """Run the statement over the chains whose newest row is fresh, and add what holds."""
        members = [np.flatnonzero(fresh)]
        for _ in self._chain.aliases[1:]:
            members.append(older[members[-1]])
            complete = members[-1] >= 0
            members = [positions[complete] for positions in members]
        for place, needs in enumerate(self._chain.needs):
            for predicate in compiled_needs(needs, rows.schema):
                own = rows.select(list(predicate.columns)).take(pa.array(members[place]))
                holds = predicate.mask(own)
                members = [positions[holds] for positions in members]
        if not len(members[0]):
            return
        tables: dict[str, pa.Table] = {}
        for alias, positions in zip(self._chain.aliases, members, strict=True):
            relation = rows.take(pa.array(positions)).drop_columns([SEQ])
            before = older[positions]
            links = pa.array(np.where(before < 0, -1, seq[np.maximum(before, 0)]))
            relation = relation.append_column("__row", pa.array(seq[positions]))
            relation = relation.append_column("__previous", links)
            tables[alias] = relation
        found = self._statement.run(tables)
        answers = without_hidden(found.remove_column(0), self._schema)
        self._answers = pa.concat_tables([self._answers, answers])
        self._newest = np.concatenate([self._newest, found.column(0).to_numpy()])

    def _rendered(self, names: Mapping[str, str]) -> tuple[str, Rendered]:
        newest = quote_identifier(self._chain.aliases[0])
        time_name = self._query.windows[0].info.time

        def window(piece: WindowPiece) -> str:
            return names[piece.alias.lower()]

        def now(offset: int) -> str:
            # Where NOW() is used, a chain only counts at the time of its newest row.
            return f"({newest}.{quote_identifier(time_name)} + {offset // 1_000_000}L)"

        rendered = self._query.rendered(window, now)
        place = select_end(rendered.text)
        assert place is not None
        rendered = rendered.with_inserted(place, f" {newest}.`__row` AS `{_NEWEST}`,")
        return rendered.text, rendered

    def _keep(
        self, rows: pa.Table, holds: NDArray[np.bool_], tick: int, time_name: str, period: int | None
    ) -> None:
        """Remember what the next tick needs: the rows in the window, and the chains that hold."""
        if period is not None:
            inside = as_times(rows.column(time_name)) + period >= tick
            rows = rows if inside.all() else rows.filter(pa.array(inside))
        self._carried.keep(rows, tick)
        if not holds.all():
            self._answers = self._answers.filter(pa.array(holds))
            self._newest, self._begin, self._oldest = (
                values[holds] for values in (self._newest, self._begin, self._oldest)
            )
        self._answers = self._answers.combine_chunks()


def _positions(
    seq: NDArray[np.int64], wanted: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Where arrival numbers are in `seq`, and whether they are there."""
    if not len(seq):
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), np.bool_)
    order = np.argsort(seq)
    place = order[np.minimum(np.searchsorted(seq[order], wanted), len(seq) - 1)]
    return place, seq[place] == wanted


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


def operators(plan: PlanNode) -> Iterator[PlanNode]:
    """A plan's operators, without the expressions in them."""
    yield plan
    for child in plan.children:
        yield from operators(child)


def _is_inner(join: PlanNode) -> bool:
    kind = join.fields.get("joinType")
    name = str(kind.get("object", kind.get("product-class", ""))) if isinstance(kind, dict) else str(kind)
    return name.rpartition(".")[2].rstrip("$") in ("Inner", "Cross")


def _only_at_arrival(nodes: list[PlanNode], newest: str, time: str) -> bool:
    """Whether a condition of the whole statement is that the newest row's time is NOW()."""
    return any(is_at_arrival(node, newest, time) for node in nodes if node.kind == "Filter")


def is_at_arrival(node: PlanNode, alias: str, time: str) -> bool:
    """Whether a filter's condition is, or contains, that the time of `alias` is NOW()."""

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
            and str(column.fields.get("qualifier")).strip("[]").lower() == alias
            and value.fields.get("value") == str(PLANNING_NOW)
        )

    return any(is_it(condition) for condition in node.expressions("condition"))
