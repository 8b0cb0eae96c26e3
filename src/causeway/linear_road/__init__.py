"""Linear Road (VLDB 2004): a traffic simulator, the pipeline that answers it on Spark, and its judge.

The functions of `api` can be called from here, as in `causeway.linear_road.run(…)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from causeway.linear_road.api import (
        InspectionResult,
        QueryResult,
        RunResult,
        SparkOptions,
        ValidationResult,
        Workload,
        drive,
        generate,
        generate_history,
        import_files,
        inspect,
        prepare,
        query,
        rate,
        run,
        validate,
    )

__all__ = [
    "InspectionResult",
    "QueryResult",
    "RunResult",
    "SparkOptions",
    "ValidationResult",
    "Workload",
    "drive",
    "generate",
    "generate_history",
    "import_files",
    "inspect",
    "prepare",
    "query",
    "rate",
    "run",
    "validate",
]


def __getattr__(name: str) -> Any:
    # Modules of this package are imported on Spark's workers too, which need none of this.
    if name in __all__:
        from causeway.linear_road import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
