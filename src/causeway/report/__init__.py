"""Tables and plots after a run."""
