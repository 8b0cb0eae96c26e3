"""Streaming tables: SQL tables that take continuous writes, and one-time and continuous reads."""
