"""The largest number of expressways that a machine sustains."""
