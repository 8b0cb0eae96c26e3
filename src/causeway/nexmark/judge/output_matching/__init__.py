"""Output Matching (section 5.1): how far our answers were, over time, from those of an ideal system.

ideal        what the ideal system emits and when, and the distance that suits each query
areas        the area between two step functions, pure NumPy
matching     both timelines of a run, from Spark to arrays
"""

from causeway.nexmark.judge.output_matching.matching import output_matching

__all__ = ["output_matching"]
