"""Imports: the authors' CSV files, and the files of MobilityDB's BerlinMOD."""

from causeway.berlinmod.exchange.importing.import_dataset import (
    IMPORT_FORMATS,
    Import,
    ImportFormat,
    check_import,
    import_dataset,
)

__all__ = ["IMPORT_FORMATS", "Import", "ImportFormat", "check_import", "import_dataset"]
