"""The past: a Delta table, its data files and their value indexes."""
