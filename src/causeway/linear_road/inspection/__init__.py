"""Whether a workload's traffic is what the paper promises."""
