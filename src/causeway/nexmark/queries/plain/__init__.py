"""The Spark engine: what the queries need that are written in plain Structured Streaming, without kernels.

`streams` gives a query its streams by Spark's own file source. The others are stateful processors, one row of
Spark's state store for each key, for what neither SQL nor DataFrames can say.
"""
