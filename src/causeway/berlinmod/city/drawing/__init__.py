"""Draws a city that never was: districts, water, arterial roads, quarters, streets. Only the seed decides."""

from causeway.berlinmod.city.drawing.draw import draw_city

__all__ = ["draw_city"]
