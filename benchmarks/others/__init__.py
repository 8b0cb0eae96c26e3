"""The systems that `streaming_tables_vs_others.py` compares, one module each, and how they are measured."""
