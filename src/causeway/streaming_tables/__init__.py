"""Streaming tables: SQL tables whose live, recent and old rows are read at once, on Apache Spark."""
