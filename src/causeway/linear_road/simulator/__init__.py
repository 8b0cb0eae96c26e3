"""The traffic simulator: demand, traffic, vehicles, requests, and the Spark stages that run them."""
