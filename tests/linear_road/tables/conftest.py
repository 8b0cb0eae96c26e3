"""The random workload of the pipeline's tests, and a columnar run of it."""

from tests.linear_road.pipeline.conftest import answered, asked

__all__ = ["answered", "asked"]
