"""A writer that tells what it has done, line by line, until it is killed."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.streaming_tables.storage.small_tables import numbered_rows

from causeway.streaming_tables.storage import SEQ, Comparison, IndexDefinition, Predicate, TableStore

BATCH = 50
DELETED = 5
"""Of each batch that a deletion covers, the rows whose number ends with this digit go."""


def say(*words: object) -> None:
    print(*words, flush=True)


def main(folder: Path, batches: int) -> None:
    store = TableStore.open(folder)
    with store.writer("crash test", flush_rows=4 * BATCH) as writer:
        last = writer.last_batch("child")
        first = 0 if last is None else last + 1
        say("open", first)
        for batch in range(first, first + batches):
            done = writer.append(numbered_rows(batch * BATCH, BATCH), source="child", batch=batch)
            assert done.accepted == BATCH
            say("appended", batch)
            if batch % 6 == 5:
                writer.flush()
            if batch % 9 == 8:
                say("deleting", batch)
                _delete(store, writer.delete, batch)
                say("deleted", batch)
            if batch % 7 == 6:
                _change_index(store, writer)
    say("closed")


def _delete(store: TableStore, delete: object, batch: int) -> None:
    covered = Predicate.all_of(Comparison("K", "<", batch * BATCH))
    rows = store.snapshot().scan(["K"], covered, with_seq=True)
    numbers = rows.column("K").to_numpy()
    delete(rows.column(SEQ).to_numpy()[numbers % 10 == DELETED])  # type: ignore[operator]


def _change_index(store: TableStore, writer: object) -> None:
    if any(index.name == "by_k" for index in store.definition.indexes):
        writer.drop_index("by_k")  # type: ignore[attr-defined]
    else:
        writer.add_index(IndexDefinition("by_k", "K"))  # type: ignore[attr-defined]


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
