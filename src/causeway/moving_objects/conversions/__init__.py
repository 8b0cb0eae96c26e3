"""Other layouts of the same values: Arrow, WKB, MF-JSON, MEOS binary; many rows at once, without Spark."""
