"""Streaming tables: live, recent and old rows in one SQL table on Spark."""
