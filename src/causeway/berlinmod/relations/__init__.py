"""The query relations of section 5, and the nodes."""

from causeway.berlinmod.relations.queries import query_relations, write_relations

__all__ = ["query_relations", "write_relations"]
