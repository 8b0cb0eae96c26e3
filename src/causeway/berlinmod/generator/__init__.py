"""The generator: Spark tasks over ranges of vehicles, each of which writes its files."""

from causeway.berlinmod.generator.generate import check_output, generate
from causeway.berlinmod.generator.part import PartCounts, write_part

__all__ = ["PartCounts", "check_output", "generate", "write_part"]
