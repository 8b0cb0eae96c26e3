"""Readers of the parts of a statement: its clauses, and the extensions in its queries."""
