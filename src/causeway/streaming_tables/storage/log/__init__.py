"""The present: the log of rows that were accepted and are not in the past yet."""
