"""The data driver: delivers a workload in real time into a spool."""
