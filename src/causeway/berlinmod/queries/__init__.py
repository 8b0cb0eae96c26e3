"""The 26 queries, one folder each: see `files` for what stands where, `statement` for how one is answered."""

from causeway.berlinmod.queries.files import QUERIES, RANGE_QUERIES, chosen_queries
from causeway.berlinmod.queries.statement import SETTINGS, answer, paper_answer, registered_relations

__all__ = [
    "QUERIES",
    "RANGE_QUERIES",
    "SETTINGS",
    "answer",
    "chosen_queries",
    "paper_answer",
    "registered_relations",
]
