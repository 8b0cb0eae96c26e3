"""BerlinMOD (Düntgen, Behr and Güting, 2009): a city's vehicles over many days, and queries on them.

The functions of `api` can be called from here, as in `causeway.berlinmod.generate(…)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from causeway.berlinmod.api import (
        Dataset,
        InspectionResult,
        Parameters,
        SparkOptions,
        export,
        generate,
        import_dataset,
        inspect,
        play,
        run,
    )

__all__ = [
    "Dataset",
    "InspectionResult",
    "Parameters",
    "SparkOptions",
    "export",
    "generate",
    "import_dataset",
    "inspect",
    "play",
    "run",
]


def __getattr__(name: str) -> Any:
    # Modules of this package are imported on Spark's workers too, which need none of this.
    if name in __all__:
        from causeway.berlinmod import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
