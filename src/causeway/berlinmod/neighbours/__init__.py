"""Nearest neighbours over time (section 6.2): who is nearest, and when; ties are all told.

Each module with a `scan` is named as statements name it, like those of `scans`.
"""
