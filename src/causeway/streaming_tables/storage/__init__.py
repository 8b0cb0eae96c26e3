"""Storage of streaming tables: an arrival log for the present, a Delta table for the past."""

from causeway.streaming_tables.storage.column_types import type_text
from causeway.streaming_tables.storage.definition import (
    COMPARTMENT,
    LONGEST,
    REJECTED_SCHEMA,
    SEQ,
    ColumnDefinition,
    IndexDefinition,
    TableDefinition,
    TimeDefinition,
    default_compartment,
)
from causeway.streaming_tables.storage.errors import DamagedTableError, UnsupportedPredicate
from causeway.streaming_tables.storage.facts import Candidates, ScanReport, TableFacts
from causeway.streaming_tables.storage.log.arrival_log import sync_folder
from causeway.streaming_tables.storage.past.value_index import is_indexable
from causeway.streaming_tables.storage.predicate import Comparison, CompiledPredicate, Predicate
from causeway.streaming_tables.storage.reads.snapshot import Snapshot
from causeway.streaming_tables.storage.store import TableStore
from causeway.streaming_tables.storage.writer import Appended, TableWriter, refuse_far_times

__all__ = [
    "COMPARTMENT",
    "LONGEST",
    "REJECTED_SCHEMA",
    "SEQ",
    "Appended",
    "Candidates",
    "ColumnDefinition",
    "Comparison",
    "CompiledPredicate",
    "DamagedTableError",
    "IndexDefinition",
    "Predicate",
    "ScanReport",
    "Snapshot",
    "TableDefinition",
    "TableFacts",
    "TableStore",
    "TableWriter",
    "TimeDefinition",
    "UnsupportedPredicate",
    "default_compartment",
    "is_indexable",
    "refuse_far_times",
    "sync_folder",
    "type_text",
]
