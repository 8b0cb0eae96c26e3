"""Causeway: streaming tables on Apache Spark, and the benchmarks that prove them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from causeway.streaming_tables import Connection

__all__ = ["__version__", "connect"]


def __getattr__(name: str) -> str:
    """`__version__`, looked up on first use: every worker of Spark's imports this package."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("causeway")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "0+unknown"


def connect(*arguments: Any, **named: Any) -> Connection:
    """Open a warehouse of streaming tables; see `causeway.streaming_tables.connect`."""
    # Spark is imported only by those who use it.
    from causeway.streaming_tables import connect as connect_to

    return connect_to(*arguments, **named)
