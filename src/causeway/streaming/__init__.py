"""What streaming pipelines share: cells of arrays, deliveries, sinks, state and run folders."""
