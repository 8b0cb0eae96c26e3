"""Kernels that are compiled beside something else."""

from __future__ import annotations

import threading

from causeway.runtime.compiled import compiled_beside


def test_kernels_are_compiled_while_the_block_goes_on() -> None:
    goes_on, compiled = threading.Event(), threading.Event()

    def use_kernels() -> None:
        assert goes_on.wait(300)
        compiled.set()

    with compiled_beside(use_kernels) as wait_until_compiled:
        goes_on.set()
        wait_until_compiled()
        assert compiled.is_set()


def test_a_failure_is_left_to_whoever_needs_the_kernels() -> None:
    def fail() -> None:
        raise OSError("no space left")

    with compiled_beside(fail) as wait_until_compiled:
        wait_until_compiled()
