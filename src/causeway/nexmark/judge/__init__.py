"""Whether answers are right, and how far they were from the ideal over time."""
