"""Causeway: streaming tables on Apache Spark, and the benchmarks that prove them."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from causeway.streaming_tables import Connection

try:
    __version__ = version("causeway")
except PackageNotFoundError:  # run from a source tree that was never installed
    __version__ = "0+unknown"

__all__ = ["__version__", "connect"]


def connect(*arguments: Any, **named: Any) -> Connection:
    """Open a warehouse of streaming tables; see `causeway.streaming_tables.connect`."""
    # Spark is imported only by those who use it.
    from causeway.streaming_tables import connect as connect_to

    return connect_to(*arguments, **named)
