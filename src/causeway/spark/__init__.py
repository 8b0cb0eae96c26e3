"""Spark itself: its session, its Java, its home, and everything that leans on its internals."""
