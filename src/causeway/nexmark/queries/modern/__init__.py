"""The queries that engines of today run."""
