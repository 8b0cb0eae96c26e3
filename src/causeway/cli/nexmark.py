"""The commands of NEXMark: `causeway nexmark generate | run | compare`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from causeway.cli.options import Conf, Master, command_session, output, print_counts, print_lines
from causeway.runtime.errors import CheckFailedError

__all__ = ["nexmark"]

nexmark = typer.Typer(
    help="""NEXMark (2002): queries over the streams of an auction house.

    `generate` makes a folder of events, in the paper's model or in the one that engines use today. `run`
    measures queries: over such a folder as fast as possible, or over generated events at a fixed rate.
    `compare` sets several runs beside each other.
    """,
    epilog="""Example:

    \b
      causeway nexmark generate --out events --events 5000000
      causeway nexmark run --source events --query q0,q5,q9 --check --out run
      causeway nexmark run --source generator --rate 50000 --duration 60 --query q5 --out steady
      causeway nexmark compare run run-on-another-machine
    """,
    no_args_is_help=True,
    rich_markup_mode=None,
)


class ModelOption(StrEnum):
    """Whose model."""

    paper = "paper"
    modern = "modern"


class ScaleOption(StrEnum):
    """How large (section 4.2)."""

    small = "small"
    medium = "medium"
    large = "large"


class FormatOption(StrEnum):
    """How events are written."""

    parquet = "parquet"
    json = "json"
    xml = "xml"


class RulesOption(StrEnum):
    """Whose reading of the queries."""

    ours = "ours"
    beam = "beam"
    flink = "flink"


class EngineOption(StrEnum):
    """What answers the queries."""

    columnar = "columnar"
    spark = "spark"


Events = Annotated[
    int | None,
    typer.Option(help="Number of events, instead of the scale's.", metavar="N", min=1, show_default=False),
]
Seed = Annotated[
    int | None,
    typer.Option(
        help="The same seed gives the same events; default: 1.", metavar="N", min=0, show_default=False
    ),
]
BidStreams = Annotated[
    int | None,
    typer.Option(
        help="Bid streams of the paper's model, instead of the scale's.",
        metavar="B",
        min=1,
        show_default=False,
    ),
]
Disorder = Annotated[
    float | None,
    typer.Option(
        help="Deliver events up to S seconds (of event time) late; default: 0.",
        metavar="S",
        min=0,
        show_default=False,
    ),
]
Scale = Annotated[
    ScaleOption, typer.Option(help="Sets the number of events, their rate and the bid streams.")
]


@nexmark.command()
def generate(
    out: Annotated[Path, typer.Option(help="Folder for the events, new or empty.", metavar="DIR")],
    model: Annotated[
        ModelOption, typer.Option(help="The paper's five streams, or today's three.")
    ] = ModelOption.modern,
    scale: Scale = ScaleOption.small,
    events: Events = None,
    rate: Annotated[
        float | None,
        typer.Option(
            help="Events per second of event time, instead of the scale's.", metavar="R", show_default=False
        ),
    ] = None,
    bid_streams: BidStreams = None,
    disorder: Disorder = None,
    seed: Seed = None,
    file_format: Annotated[
        FormatOption, typer.Option("--format", help="Parquet, JSON lines, or XML with one element per line.")
    ] = FormatOption.parquet,
    master: Master = "local[*]",
    conf: Conf = None,
) -> None:
    """Generate the events of an auction house, in the order of delivery.

    The same seed gives the same events on any number of cores. DIR/nexmark.json describes the
    folder; each stream has a subfolder of slices.
    """
    import causeway.nexmark as library

    dataset = library.generate(
        out,
        model=model.value,
        scale=scale.value,
        events=events,
        rate=rate,
        bid_streams=bid_streams,
        disorder=disorder or 0.0,
        seed=1 if seed is None else seed,
        file_format=file_format.value,
        open_session=lambda log: command_session("nexmark generate", master, conf, log),
    )
    print_counts(f"{out}: {dataset.model} model, seed {dataset.seed}", dict(dataset.counts))


@nexmark.command()
def run(
    out: Annotated[Path, typer.Option(help="Folder for the run, new or empty.", metavar="RUN")],
    query: Annotated[
        str | None,
        typer.Option(
            help="Names of queries, such as q5,q7; default: all.", metavar="Q,Q,…|all", show_default=False
        ),
    ] = None,
    query_file: Annotated[
        Path | None,
        typer.Option(
            help="A query of your own, *.sql or *.py, on the Spark engine; checked by *.batch.sql beside it.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    model: Annotated[
        ModelOption | None,
        typer.Option(
            help="Model of the queries; default: the source folder's, or modern.", show_default=False
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            help="A folder of events, or generator (the default): events at a fixed rate.",
            metavar="DIR|generator",
            show_default=False,
        ),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(
            help="Events per second from the generator; default: 10000.",
            metavar="R",
            min=1,
            show_default=False,
        ),
    ] = None,
    duration: Annotated[
        float | None,
        typer.Option(
            help="Seconds for which the generator runs, for each query; default: 60.",
            metavar="S",
            min=1,
            show_default=False,
        ),
    ] = None,
    warm_up: Annotated[
        float | None,
        typer.Option(
            help="Seconds at the start that are not measured; default: 15.",
            metavar="S",
            min=0,
            show_default=False,
        ),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            help="Run each query N times; figures are medians, the first round is checked; default: 1.",
            metavar="N",
            min=1,
            show_default=False,
        ),
    ] = None,
    rules: Annotated[
        RulesOption | None,
        typer.Option(
            help="Whose version of a query, where public ones differ; default: ours.", show_default=False
        ),
    ] = None,
    engine: Annotated[
        EngineOption | None,
        typer.Option(
            help="Hand-written columnar operators, or Structured Streaming alone; default: columnar.",
            show_default=False,
        ),
    ] = None,
    check: Annotated[
        bool | None,
        typer.Option(
            "--check", help="Compare the final answers with the batch statements.", show_default=False
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Continue an interrupted run; it keeps its own settings."),
    ] = False,
    bid_streams: BidStreams = None,
    disorder: Disorder = None,
    seed: Seed = None,
    master: Master = "local[*]",
    conf: Conf = None,
) -> None:
    """Run queries on Spark, one after the other, and measure them.

    Over a folder of events, each query runs as fast as it can; the result is events and megabytes per second.
    The generator delivers events at a fixed rate; the result is latency, and the distance of the output to an
    ideal system's. RUN/result.json has all figures, RUN/report.html shows them, RUN/q5/answers has the
    answers of q5, RUN/log.txt is Spark's log. Exit code 1 if a check fails.
    """
    import causeway.nexmark as library
    from causeway.nexmark.report.table import result_table

    result = library.run(
        out,
        source=None if source == "generator" else source,
        queries=query,
        query_file=query_file,
        model=model.value if model else None,
        rules=rules.value if rules else None,
        engine=engine.value if engine else None,
        check=check,
        rate=rate,
        duration=duration,
        warm_up=warm_up,
        rounds=rounds,
        bid_streams=bid_streams,
        disorder=disorder,
        seed=seed,
        resume=resume,
        open_session=lambda log: command_session("nexmark run", master, conf, log),
    )
    output.print(result_table(result.facts))
    for one in result.queries:
        for difference in one.check.differences if one.check else ():
            output.print(f"- {one.query}: {difference}", markup=False)
    print_lines(f"Figures: {out / 'result.json'}\nReport: {result.report}")
    failed = [one.query for one in result.queries if one.check and not one.check.passed]
    if failed:
        raise CheckFailedError(f"the answers of {', '.join(failed)} are not those of the batch statements")


@nexmark.command()
def compare(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs, two or more.", metavar="RUN RUN…")],
    out: Annotated[
        Path, typer.Option(help="The page to write; one that is there is replaced.", metavar="PAGE")
    ] = Path("nexmark-compare.html"),
) -> None:
    """Compare runs with the first of them: other engines, machines or versions.

    Shows each query's figures and their ratios to those of the first run, with the least and the most of the
    rounds where a run has several (`run --rounds`).
    """
    import causeway.nexmark as library
    from causeway.nexmark.report.comparison import comparison_table

    compared = library.compare(runs, out)
    output.print(comparison_table(compared.runs))
    print_lines(f"Page: {compared.page}")
