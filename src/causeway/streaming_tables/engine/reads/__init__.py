"""One-time reads: Spark's relations of a snapshot, and plain scans that need no Spark."""
