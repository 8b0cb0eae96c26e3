"""The judge of an answers file: what the 2004 rules expect, held against what a system said.

It shares no rule with the pipeline that it judges. The rules stand here as SQL (`expected`, `comparison`)
over a digest of the whole input (`digest`), and as one NumPy walk over history (`travel_time`);
`answers_location` and `answers` read what a system answered, `judge` compares, `result` and `words` report.
"""

from causeway.linear_road.validation.answers_location import (
    READINGS,
    AnswersLocation,
    Conditions,
    locate_answers,
)
from causeway.linear_road.validation.judge import validate, write_validation
from causeway.linear_road.validation.result import Difference, ResponseTimes, TypeResult, Validation
from causeway.linear_road.validation.words import validation_table

__all__ = [
    "READINGS",
    "AnswersLocation",
    "Conditions",
    "Difference",
    "ResponseTimes",
    "TypeResult",
    "Validation",
    "locate_answers",
    "validate",
    "validation_table",
    "write_validation",
]
