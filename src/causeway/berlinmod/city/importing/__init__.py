"""Reads maps of others: SECONDO's nested lists, Shapefiles, OpenStreetMap extracts."""

from causeway.berlinmod.city.importing.import_map import ImportedMap, import_map

__all__ = ["ImportedMap", "import_map"]
