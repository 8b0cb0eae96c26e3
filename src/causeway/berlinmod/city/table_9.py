"""Table 9 of the paper: the districts, with their areas, nodes, inhabitants and jobs."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["AUTHORS_MAP", "SURROUNDINGS", "TABLE_9", "AuthorsMap", "District"]


class District(NamedTuple):
    """A row of Table 9."""

    name: str
    priority: int
    square_kilometres: float | None
    nodes: int
    population: int
    jobs: int


TABLE_9: Final = (
    District("Mitte", 1, 42.86, 671, 320_800, 20_287),
    District("Friedrichshain-Kreuzberg", 2, 21.88, 419, 258_500, 13_082),
    District("Pankow", 3, 111.91, 415, 350_500, 8_868),
    District("Charlottenburg-Wilmersdorf", 4, 70.30, 534, 314_700, 8_325),
    District("Spandau", 5, 99.77, 187, 225_700, 21_580),
    District("Steglitz-Zehlendorf", 6, 111.36, 354, 288_500, 8_882),
    District("Tempelhof-Schöneberg", 7, 57.67, 489, 334_400, 20_546),
    District("Neukölln", 8, 48.81, 275, 305_700, 15_966),
    District("Treptow-Köpenick", 9, 182.20, 350, 234_700, 11_239),
    District("Marzahn-Hellersdorf", 10, 67.16, 210, 251_400, 7_438),
    District("Lichtenberg", 11, 56.90, 233, 257_500, 7_042),
    District("Reinickendorf", 12, 96.99, 307, 245_500, 17_050),
    District("Brandenburg", 13, None, 26, 10_000, 1_000),
)
SURROUNDINGS: Final = TABLE_9[-1]
"""What is in no district: the region of last resort."""


class AuthorsMap(NamedTuple):
    """Figures of the authors' map: section 7.5.1, and what their file of streets has."""

    nodes: int
    edges: int
    streets_by_speed: dict[int, int]
    kilometres_by_speed: dict[int, float]


AUTHORS_MAP: Final = AuthorsMap(
    nodes=4468,
    edges=13_384,
    streets_by_speed={30: 1716, 50: 809, 70: 197},
    kilometres_by_speed={30: 1162.0, 50: 933.6, 70: 295.6},
)
