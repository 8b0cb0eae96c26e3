"""Feeds: where data is, how it is cut into batches and tasks, and how Spark reads it."""
