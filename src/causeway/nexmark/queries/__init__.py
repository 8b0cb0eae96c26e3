"""The queries, one folder each: see `files` for what stands where, `query` for how one becomes a stream."""

from causeway.nexmark.queries.files import RULE_SETS, query_names
from causeway.nexmark.queries.own import batch_file, errors_in, own_query
from causeway.nexmark.queries.query import ENGINES, FEED, Input, Query, find_query, register_static_views

__all__ = [
    "ENGINES",
    "FEED",
    "RULE_SETS",
    "Input",
    "Query",
    "batch_file",
    "errors_in",
    "find_query",
    "own_query",
    "query_names",
    "register_static_views",
]
