"""Kernels: text and Arrow in, typed rows and rejects out, without Spark."""
