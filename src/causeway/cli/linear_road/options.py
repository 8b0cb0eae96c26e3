"""Options and words that several commands of Linear Road share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

__all__ = [
    "FromMinute",
    "Minutes",
    "Sample",
    "Speed",
    "WorkloadFolder",
    "counted",
    "halves_of_expressways",
    "read_speed",
]

Minutes = Annotated[int, typer.Option(help="Minutes to simulate; the benchmark has 180.", metavar="N", min=1)]
Speed = Annotated[float, typer.Option(help="Simulated seconds per real second.", metavar="K")]
FromMinute = Annotated[
    int | None,
    typer.Option(
        help="Deliver everything before minute M at once; real time starts at M. Default 0.",
        metavar="M",
        min=0,
        show_default=False,
    ),
]
Sample = Annotated[
    int | None,
    typer.Option(help="Judge only the vehicles of N expressways.", metavar="N", min=1, show_default=False),
]
WorkloadFolder = Annotated[
    Path,
    typer.Argument(metavar="DIR", help="A workload, made by `generate` or `import`.", show_default=False),
]


def halves_of_expressways(number: float | None) -> float | None:
    """Check a number of expressways."""
    if number is None:
        return None
    if number <= 0 or not (2 * number).is_integer():
        raise typer.BadParameter(f"{number:g} is none of 0.5, 1, 1.5, 2 and so on.")
    return number


def read_speed(text: str) -> float | Literal["max"]:
    """Read a number, or the word "max"."""
    if text == "max":
        return "max"
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no number, and not max.", param_hint="--speed") from None


def counted(number: int, one: str, more: str | None = None) -> str:
    """A number of things; `more` is the plural where it is not formed by an s."""
    return f"{number:,} {one if number == 1 else more or f'{one}s'}"
