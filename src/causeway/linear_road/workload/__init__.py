"""A workload on disk: its files, how they are read, and how others' files are imported."""
