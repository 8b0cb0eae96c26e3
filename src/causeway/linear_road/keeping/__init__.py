"""History kept beside the pipeline: every position report enters a streaming table."""
