"""Ten weeks of history: generated, prepared for lookups, and the travel times that need it."""
