"""State in chunks of neighbouring identifiers: a batch reads and writes only the chunks that it is about."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa

from causeway.nexmark.operators.kernels import Longs, State, Watermark, put

__all__ = ["Chunks", "chunks_of", "runs_of"]

_INDEX = "chunks"


class Chunks:
    """A shard's chunks by name, each with the watermark until which it is needed.

    The index of all chunks is a table of the state: a chunk that does not exist costs no look into the store.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        kept = state.get(_INDEX)
        self._until: dict[str, int] = (
            {} if kept is None else dict(zip(*kept.to_pydict().values(), strict=True))
        )
        self._changed = False

    def get(self, name: str) -> pa.Table | None:
        """The rows of a chunk."""
        return self._state.get(name) if name in self._until else None

    def put(self, name: str, rows: pa.Table | None, until: int) -> None:
        """Replace the rows of a chunk, which are needed until a watermark."""
        if rows is not None and rows.num_rows:
            self._state.put(name, rows)
            self._until[name] = until
            self._changed = True
        else:
            self._remove(name)

    def finish(self, watermark: Watermark) -> None:
        """Remove the chunks that are no longer needed, and save the index."""
        for name in [name for name, until in self._until.items() if until <= watermark.now]:
            self._remove(name)
        if self._changed:
            index = pa.table([list(self._until), list(self._until.values())], names=["name", "until"])
            put(self._state, _INDEX, index)

    def _remove(self, name: str) -> None:
        if name in self._until:
            self._state.remove(name)
            del self._until[name]
            self._changed = True


def runs_of(values: Longs) -> Iterator[tuple[int, Longs]]:
    """Each value that is there, in order, with the places where it is: sorted once, then split."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    if not len(values):
        return
    for begin, end in pairwise(np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1], True])):
        yield int(ordered[begin]), order[begin:end]


def chunks_of(rows: pa.Table | None, identifiers: Longs, size: int) -> dict[int, pa.Table]:
    """The rows of each chunk of `size` identifiers, by the chunk's number."""
    if rows is None or not rows.num_rows:
        return {}
    chunks = identifiers // size
    order = np.argsort(chunks, kind="stable")
    # Moved once; a chunk's rows are then a view.
    rows, chunks = rows.take(order), chunks[order]
    edges = np.flatnonzero(np.r_[True, chunks[1:] != chunks[:-1], True])
    return {int(chunks[begin]): rows.slice(begin, end - begin) for begin, end in pairwise(edges)}
