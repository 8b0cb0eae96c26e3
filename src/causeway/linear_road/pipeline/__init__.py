"""All five answers of Linear Road on Spark Structured Streaming: source, shards of roads, sink."""
