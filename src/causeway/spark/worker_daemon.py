"""Spark's daemon of Python workers, with what every worker needs imported before it forks them.

Spark starts a process of its own for each step of a query's start: to look up a source, to make it, to plan
its reading, to ask for offsets. Each imports Arrow, NumPy and Spark's own modules anew, a third of a second
of CPU time, unless the process that it was forked from has them.
"""

import sys
from importlib import import_module

from pyspark.daemon import manager

if __name__ == "__main__":
    for name in ("pyarrow.compute", "pyarrow.parquet", "pyspark.sql.datasource", *sys.argv[1:2]):
        import_module(name)
    manager()
