"""One-time queries over the history of a run (the extended loads of the Streaming Tables paper, §VII)."""
