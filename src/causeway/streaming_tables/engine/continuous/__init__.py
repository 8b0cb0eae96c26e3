"""Continuous queries: their ticks, and the four ways in which a tick is answered."""
