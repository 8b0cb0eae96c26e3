"""Shortest paths through a road map."""
