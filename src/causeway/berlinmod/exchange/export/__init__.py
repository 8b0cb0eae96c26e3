"""Exports: the three formats of the paper (section 7.7), and three that today's tools read."""

from causeway.berlinmod.exchange.export.export import (
    EXPORT_FORMATS,
    Export,
    ExportFormat,
    check_export,
    export_dataset,
)

__all__ = ["EXPORT_FORMATS", "Export", "ExportFormat", "check_export", "export_dataset"]
