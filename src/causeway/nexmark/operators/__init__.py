"""Stateful queries on Spark: kernels on arrays, and how Spark runs them."""
