"""A data set's inspection as a table for the terminal and as one page that needs no network."""

from __future__ import annotations

from pathlib import Path

from rich.table import Table

from causeway.berlinmod.inspection import Inspection
from causeway.berlinmod.model.calendar import date_of
from causeway.berlinmod.report.inspection_plots import city_plot, density_plot, duration_plot, week_plot
from causeway.report.figures import FIGURES_STYLE, count_verdicts, figures_html, figures_table
from causeway.report.page import (
    headline_html,
    page_html,
    section_html,
    settings_html,
    short,
    tile,
    write_page,
)
from causeway.report.plots import figure_html

__all__ = ["inspection_table", "write_inspection_page"]


def inspection_table(inspection: Inspection) -> Table:
    """The figures, group by group, in a table that fits 80 columns."""
    return figures_table(_title(inspection), inspection.figures)


def write_inspection_page(inspection: Inspection, path: Path) -> None:
    """Write the maps, plots and figures as one HTML file that carries everything it needs."""
    parameters, counts = inspection.dataset.parameters, inspection.dataset.counts
    out, judged = count_verdicts(inspection.figures)
    tiles = [
        tile(f"{out} out" if out else "all hold", f"of {judged} judged figures", "out" if out else "holds"),
        tile(f"{counts['vehicles']:,}", f"vehicles, {parameters.days} days"),
        tile(short(counts["trips"]), "trips and pauses"),
        tile(short(counts["units"]), "units"),
        tile(short(counts["kilometres"]), "kilometres"),
    ]
    settings = {"Table 8": parameters.facts(), "Map": inspection.dataset.map}
    body = (
        headline_html("BerlinMOD: a city and its traffic", [_title(inspection)], tiles, [])
        + section_html("The city", figure_html(city_plot(inspection), "city"))
        + section_html("Homes, work places and traffic", figure_html(density_plot(inspection), "densities"))
        + section_html("How long drives take", figure_html(duration_plot(inspection), "durations"))
        + section_html("Traffic over the week", figure_html(week_plot(inspection), "week"))
        + section_html("Figures", figures_html(inspection.figures))
        + section_html("Parameters", settings_html(settings))
    )
    write_page(path, page_html(_title(inspection), body, FIGURES_STYLE))


def _title(inspection: Inspection) -> str:
    dataset, parameters = inspection.dataset, inspection.dataset.parameters
    disturbed = ", disturbed" if parameters.disturb else ""
    days = f"{parameters.days} day{'' if parameters.days == 1 else 's'}"
    return (
        f"{dataset.folder}: {dataset.map['name']}, {parameters.mode}-based{disturbed}, "
        f"{parameters.cars:,} vehicles, {days} from {date_of(parameters.start_day)}"
    )
