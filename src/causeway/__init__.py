"""Causeway: streaming tables on Apache Spark, and the benchmarks that prove them."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("causeway")
except PackageNotFoundError:  # run from a source tree that was never installed
    __version__ = "0+unknown"

__all__ = ["__version__"]
