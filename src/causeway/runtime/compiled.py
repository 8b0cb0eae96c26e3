"""Compiled kernels: numba functions whose machine code is kept between runs, and never stale."""

from __future__ import annotations

import hashlib
import inspect
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TypeVar, cast

import numba
from numba import njit
from numba.core import config

from causeway.runtime.cache import cache_entry

__all__ = ["compiled_beside", "inlined", "kernel"]

_Function = TypeVar("_Function", bound=Callable[..., object])


def kernel(function: _Function) -> _Function:
    """Compile `function` on first use and keep the result in the user's cache folder.

    numba alone would look at the age of the function's own file only, and go on using code that was
    compiled with the constants and inlined functions of other files as they were. Here all sources of the
    part of the package that it belongs to (a benchmark, say), and of this room, whose functions are inlined
    everywhere, name the folder where the result is kept.
    """
    config.CACHE_DIR = str(_cache_folder(Path(inspect.getfile(function))))  # type: ignore[attr-defined]
    return cast(_Function, njit(cache=True)(function))


def inlined(function: _Function) -> _Function:
    """Mark a small function that kernels call, to be compiled as part of each of them."""
    return cast(_Function, njit(inline="always")(function))


@contextmanager
def compiled_beside(use_kernels: Callable[[], object]) -> Iterator[Callable[[], None]]:
    """Have kernels compiled in a thread, by `use_kernels`, while the block does something else.

    The block gets a function that waits until they are. A failure is ignored: who needs a kernel fails, too.
    """

    def compile_them() -> None:
        with suppress(Exception):
            use_kernels()

    thread = threading.Thread(target=compile_them, name="compiling kernels", daemon=True)
    thread.start()
    yield thread.join


@cache
def _cache_folder(file: Path) -> Path:
    package = Path(__file__).parents[1]
    inside = file.is_relative_to(package)
    part = package / file.relative_to(package).parts[0] if inside else file.parent
    return cache_entry(f"compiled/{_digest(part)}")


@cache
def _digest(part: Path) -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    for room in (part, Path(__file__).parent):
        for source in sorted(room.rglob("*.py")):
            digest.update(source.read_bytes())
    return digest.hexdigest()[:16]
