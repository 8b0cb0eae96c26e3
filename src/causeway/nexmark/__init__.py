"""NEXMark: queries over the streams of an auction house.

    import causeway.nexmark as nexmark

    nexmark.generate("events", events=1_000_000)
    nexmark.run("run", source="events", queries="q5", check=True)

`api` has the functions. They are loaded on first use: importing the package takes no time.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from causeway.nexmark.api import (
        Check,
        Comparison,
        Dataset,
        Latency,
        QueryResult,
        RunResult,
        compare,
        generate,
        run,
    )

__all__ = [
    "Check",
    "Comparison",
    "Dataset",
    "Latency",
    "QueryResult",
    "RunResult",
    "compare",
    "generate",
    "run",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from causeway.nexmark import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
