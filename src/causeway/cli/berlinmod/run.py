"""`causeway berlinmod run`: the paper's queries over a data set."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from causeway.cli.options import Conf, Master, output, print_lines, spark_options
from causeway.runtime.errors import CheckFailedError

__all__ = ["run_command"]


class RepresentationOption(StrEnum):
    """Which relations are read."""

    oba = "oba"
    tba = "tba"
    both = "both"


class AggregateOption(StrEnum):
    """What the distances to a group become."""

    sum = "sum"
    min = "min"
    max = "max"


def run_command(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A data set, made by `generate`.", show_default=False)
    ],
    out: Annotated[Path, typer.Option(help="Folder for the run, new or empty.", metavar="RUN")],
    query: Annotated[
        str,
        typer.Option(help="Names such as q1,q6; or r (Q1 to Q17), nn (Q18 to Q26), all.", metavar="Q,Q,…"),
    ] = "all",
    representation: Annotated[
        RepresentationOption,
        typer.Option(help="Object-based (a row a vehicle), trip-based (a row a trip), or both, compared."),
    ] = RepresentationOption.both,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Compare with the paper's own text, or with a brute force; for small data sets.",
        ),
    ] = False,
    runs: Annotated[int, typer.Option(help="Times that each query is run.", metavar="N", min=1)] = 3,
    aggregate: Annotated[
        AggregateOption, typer.Option(help="What distances to a group become, for q25 and q26.")
    ] = AggregateOption.sum,
    master: Master = "local[*]",
    conf: Conf = None,
) -> None:
    """Answer the paper's queries on Spark, one after the other, and measure them.

    RUN/result.json has all figures, RUN/report.html shows them beside published ones, and RUN/q4.oba.parquet
    has the answer of Q4 in the object-based representation. Exit code 1 if a check fails, or if the two
    representations do not give the same answer.
    """
    import causeway.berlinmod as library
    from causeway.berlinmod.report.run_table import run_table

    result = library.run(
        folder,
        out,
        queries=query,
        representation=representation.value,
        check=check,
        runs=runs,
        aggregate=aggregate.value,
        spark=spark_options(master, conf),
    )
    output.print(run_table(result.facts))
    for one in result.queries:
        for difference in one.differences:
            output.print(f"- {one.query}, {one.representation}: {difference}", markup=False)
    print_lines(f"Figures: {out / 'result.json'}\nReport: {result.report}")
    failed = [f"{one.query} ({one.representation})" for one in result.queries if one.passed is False]
    if failed:
        raise CheckFailedError(f"the answers of {', '.join(failed)} are not as expected")
