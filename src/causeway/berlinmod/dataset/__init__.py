"""The data set on disk: its layout, how its files are written, and how they are read again."""

from causeway.berlinmod.dataset.dataset import FACTS_FILE, Dataset, relation_names
from causeway.berlinmod.dataset.movements import Movements, RowGroupWriter, read_movements, table_of_movements
from causeway.berlinmod.dataset.schemas import HISTORIES, LEGS, TRIPS

__all__ = [
    "FACTS_FILE",
    "HISTORIES",
    "LEGS",
    "TRIPS",
    "Dataset",
    "Movements",
    "RowGroupWriter",
    "read_movements",
    "relation_names",
    "table_of_movements",
]
