"""The windows of one continuous query: which columns Spark gets of them, and the state that each has."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from causeway.runtime.errors import UserError
from causeway.streaming_tables.engine.windows.pulled_window import PulledWindow
from causeway.streaming_tables.engine.windows.window_state import WindowState, partition_names, window_columns
from causeway.streaming_tables.language import Query, Window, WindowPiece
from causeway.streaming_tables.storage import Snapshot, is_indexable, type_text

__all__ = ["QueryWindows"]


class QueryWindows:
    """Used by one thread at a time."""

    def __init__(self, query: Query, snapshots: Mapping[str, Snapshot]) -> None:
        self.columns = {name: set(one.definition.arrow_schema().names) for name, one in snapshots.items()}
        """By table, the columns that Spark gets."""
        self._definitions = {name: one.definition for name, one in snapshots.items()}
        for piece in query.windows:
            self._refuse_types_without_order(piece)
        self._linked = {alias.lower() for link in query.prev_links for alias in link}
        self._states: dict[tuple[str, Window], WindowState] = {}
        self._pulled: dict[tuple[str, Window], PulledWindow] = {}

    def _refuse_types_without_order(self, piece: WindowPiece) -> None:
        definition = self._definitions[piece.table.lower()]
        for name in partition_names(piece.window, definition):
            kind = definition.arrow_schema().field(name).type
            if not is_indexable(kind):
                raise UserError(
                    f"{name} of {definition.name} is of type {type_text(kind)}; a window is partitioned by "
                    "columns of simple types"
                )

    def column_names(self, table: str, window: Window) -> list[str]:
        return window_columns(window, self._definitions[table], self.columns[table])

    def schema(self, table: str, window: Window) -> pa.Schema:
        schema = self._definitions[table].arrow_schema()
        return pa.schema([schema.field(name) for name in self.column_names(table, window)])

    def has_links(self, piece: WindowPiece) -> bool:
        """Whether PREV links its rows."""
        return piece.alias.lower() in self._linked

    def state(self, table: str, window: Window) -> WindowState:
        """The rows of a window, which moves from tick to tick."""
        key = (table, window)
        if key not in self._states:
            self._states[key] = WindowState(window, self.column_names(table, window))
        return self._states[key]

    def pulled(self, table: str, window: Window) -> PulledWindow:
        """The rows of a window as of any tick."""
        key = (table, window)
        if key not in self._pulled:
            self._pulled[key] = PulledWindow(window, self.column_names(table, window))
        return self._pulled[key]

    def forget_states(self) -> None:
        self._states.clear()
