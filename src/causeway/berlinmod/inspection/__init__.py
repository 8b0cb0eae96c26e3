"""Whether a data set is what the paper and its own parameters promise."""

from causeway.berlinmod.inspection.inspect import Inspection, inspect_dataset, write_figures

__all__ = ["Inspection", "inspect_dataset", "write_figures"]
