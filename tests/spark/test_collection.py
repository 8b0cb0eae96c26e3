"""What a worker keeps is not looked through again by later garbage collections; garbage still goes."""

from __future__ import annotations

import gc
import weakref

from causeway.spark.collection import leave_little_to_collect


class _Knot:
    """Refers to itself, so that only a collection frees it."""

    def __init__(self) -> None:
        self.itself = self


def test_what_stays_is_left_out_and_garbage_is_collected() -> None:
    # Else a collection might happen in between.
    gc.disable()
    try:
        kept = [[number] for number in range(30_000)]
        garbage = weakref.ref(_Knot())
        assert garbage() is not None
        leave_little_to_collect()
        assert garbage() is None
        assert gc.get_freeze_count() >= len(kept)
        assert len(gc.get_objects()) < 10_000
        frozen = gc.get_freeze_count()
        few = [[number] for number in range(100)]
        leave_little_to_collect()
        assert gc.get_freeze_count() <= frozen < frozen + len(few)
    finally:
        gc.unfreeze()
        gc.enable()
