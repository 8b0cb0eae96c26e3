"""The Linear Road benchmark (Arasu et al., VLDB 2004): generate, drive, answer, validate, rate."""
