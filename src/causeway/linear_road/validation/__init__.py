"""The judge of an answers file: what the 2004 rules expect, held against what a system said.

It shares no rule with the pipeline that it judges. The rules stand here as SQL over the whole input
(`expected`) and as one NumPy walk over history (`travel_time`); `answers` reads what was said, `judge`
compares, `result` and `words` tell.
"""

from causeway.linear_road.validation.judge import validate, write_validation
from causeway.linear_road.validation.result import Difference, ResponseTimes, TypeResult, Validation
from causeway.linear_road.validation.words import validation_table

__all__ = [
    "Difference",
    "ResponseTimes",
    "TypeResult",
    "Validation",
    "validate",
    "validation_table",
    "write_validation",
]
