"""A run of queries: answers as they arrive, and what was measured."""
