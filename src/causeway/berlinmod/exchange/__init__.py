"""Data sets of this project as files of others, and files of others as data sets."""

from causeway.berlinmod.exchange.coordinates import Coordinates
from causeway.berlinmod.exchange.export import (
    EXPORT_FORMATS,
    Export,
    ExportFormat,
    check_export,
    export_dataset,
)
from causeway.berlinmod.exchange.importing import (
    IMPORT_FORMATS,
    Import,
    ImportFormat,
    check_import,
    import_dataset,
)

__all__ = [
    "EXPORT_FORMATS",
    "IMPORT_FORMATS",
    "Coordinates",
    "Export",
    "ExportFormat",
    "Import",
    "ImportFormat",
    "check_export",
    "check_import",
    "export_dataset",
    "import_dataset",
]
