"""Reads of a table: snapshots, scans by both indexes, last rows."""
