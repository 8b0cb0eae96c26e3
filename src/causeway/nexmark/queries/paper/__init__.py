"""The eight queries of the draft of 2002."""
