"""Streaming tables: SQL tables whose live, recent and old rows can be read at once."""
