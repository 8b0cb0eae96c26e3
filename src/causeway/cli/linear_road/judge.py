"""`causeway linear-road validate` and `rate`: whether answers are right, and for how many expressways."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from causeway.cli.linear_road.options import (
    FromMinute,
    Minutes,
    Sample,
    Speed,
    WorkloadFolder,
    halves_of_expressways,
    read_speed,
)
from causeway.cli.options import Conf, Master, output, print_lines, spark_options, wants_debugging
from causeway.runtime.errors import CheckFailedError
from causeway.runtime.progress import console

__all__ = ["rate", "validate"]


def validate(
    folder: WorkloadFolder,
    answers: Annotated[
        Path,
        typer.Argument(
            metavar="RUN",
            help="A run's folder, or another system's answers as a flat file or Parquet.",
            show_default=False,
        ),
    ],
    only_xways: Annotated[
        str | None,
        typer.Option(
            help="Judge only vehicles that report from these expressways.",
            metavar="A,B,…",
            show_default=False,
        ),
    ] = None,
    sample: Sample = None,
    speed: Annotated[
        str | None,
        typer.Option(
            help="Simulated seconds per real second, for another system's answers; default 1. max: do not "
            "judge response times. Not needed for a run's folder.",
            metavar="K|max",
            show_default=False,
        ),
    ] = None,
    from_minute: Annotated[
        int | None,
        typer.Option(
            help="The minute at which real time began, for another system's answers; default 0.",
            metavar="M",
            min=0,
            show_default=False,
        ),
    ] = None,
    master: Master = "local[*]",
    conf: Conf = None,
) -> None:
    """Check that the answers to a workload are complete, right and in time.

    Each expected answer must be there once, and no other. The expected answers are computed from the whole
    input, with other code than that of `run`. Writes RUN/validation.json, or NAME.validation.json beside
    another system's answers. Exit code 1 if the answers fail.
    """
    from causeway.linear_road import api
    from causeway.linear_road.validation import validation_table

    if only_xways is not None and sample is not None:
        raise typer.BadParameter("give either the expressways or how many, not both.", param_hint="--sample")
    result = api.validate(
        folder,
        answers,
        only_xways=_expressways(only_xways),
        sample=sample,
        speed=None if speed is None else read_speed(speed),
        from_minute=from_minute,
        spark=spark_options(master, conf),
    )
    output.print(validation_table(result.validation))
    for difference in result.validation.differences:
        print_lines(f"- {difference.words}")
    for note in result.validation.notes:
        print_lines(note)
    print_lines(f"Judgement: {result.file}")
    if result.report is not None:
        print_lines(f"Report: {result.report}")
    if not result.passed:
        raise CheckFailedError("the answers fail; see the table")


def _expressways(text: str | None) -> list[int] | None:
    if text is None:
        return None
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no list as in 0,3,4.", param_hint="--only-xways") from None


def rate(
    out: Annotated[
        Path, typer.Option(help="Folder for the rating; an interrupted rating continues.", metavar="DIR")
    ] = Path("rating"),
    max_xways: Annotated[
        float | None,
        typer.Option(
            help="The largest number of expressways to try.",
            metavar="L",
            callback=halves_of_expressways,
            show_default=False,
        ),
    ] = None,
    minutes: Minutes = 180,
    speed: Speed = 1.0,
    from_minute: FromMinute = None,
    seed: Annotated[int, typer.Option(help="Seed of the traffic and its history.", metavar="N", min=0)] = 1,
    sample: Sample = None,
    workloads: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the workloads, which ratings can share; default DIR/workloads.",
            metavar="DIR",
            show_default=False,
        ),
    ] = None,
    master: Master = "local[*]",
    conf: Conf = None,
) -> None:
    """Find the largest L that this machine sustains.

    Generates, runs and validates L = 0.5, 1, 2, 4 … expressways until one fails, then halves the gap. It
    takes hours; you can interrupt it and call it again. Prints the paper's tables with a column for this
    machine and writes DIR/rating.json. Exit code 1 if no L passes.
    """
    from causeway.linear_road import api
    from causeway.linear_road.rating.rate import RATING_FILE
    from causeway.linear_road.report.rating import print_rating, rating_words

    rating = api.rate(
        out,
        max_xways=max_xways,
        minutes=minutes,
        speed=speed,
        from_minute=from_minute or 0,
        seed=seed,
        sample=sample,
        workloads=workloads,
        spark=spark_options(master, conf),
        report_line=lambda line: console.print(escape(line)),
        debug=wants_debugging(),
    )
    print_rating(rating, output)
    print_lines(f"Rating: {out / RATING_FILE}")
    if not rating.xways:
        raise CheckFailedError(rating_words(rating))
