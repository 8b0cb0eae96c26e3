"""The city: a road network with home and work regions, as a folder on disk and as arrays."""

from causeway.berlinmod.city.drawing import draw_city
from causeway.berlinmod.city.figures import MapFigures, describe
from causeway.berlinmod.city.importing import ImportedMap, import_map
from causeway.berlinmod.city.open_map import open_map
from causeway.berlinmod.city.road_map import Regions, RoadMap, Streets
from causeway.berlinmod.city.table_9 import AUTHORS_MAP, TABLE_9, District

__all__ = [
    "AUTHORS_MAP",
    "TABLE_9",
    "District",
    "ImportedMap",
    "MapFigures",
    "Regions",
    "RoadMap",
    "Streets",
    "describe",
    "draw_city",
    "import_map",
    "open_map",
]
