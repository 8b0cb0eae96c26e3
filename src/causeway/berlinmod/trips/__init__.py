"""How vehicles move: what they plan, how they drive, what is recorded. Arrays in, arrays out; no Spark."""
