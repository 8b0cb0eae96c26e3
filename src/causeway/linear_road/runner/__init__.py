"""A run: the pipeline and the driver at work, and the folder that they leave."""
