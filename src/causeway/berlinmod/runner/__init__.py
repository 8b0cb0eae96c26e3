"""A run of queries: what is asked, measured, checked and left behind."""
