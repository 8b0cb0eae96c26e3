"""Sliding windows on arrays: which rows are in them, and what is kept from one tick to the next."""
