"""Statements over streaming tables on Spark: catalog, reads, continuous queries, inserts, the connection."""
