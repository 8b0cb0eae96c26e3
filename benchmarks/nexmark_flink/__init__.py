"""Both sides of `benchmarks/nexmark_vs_flink.py`, each in processes of its own, and what they are given.

`flink_side` and `handshake` run in Flink's environment too, so they use nothing of Causeway.
"""
