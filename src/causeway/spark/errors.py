"""Errors of Spark in the user's words: the innermost cause of a stack trace of Java, Spark and Python."""

from __future__ import annotations

import re

__all__ = ["explain", "was_interrupted"]

_PYTHON_ERROR = re.compile(r"^([A-Za-z_][\w.]*): (.*)", re.MULTILINE)
_JAVA_ERROR = re.compile(r"^(?:Caused by: |: )([\w.$]+): (.*)", re.MULTILINE)


def explain(failure: BaseException) -> str:
    """What went wrong, in a line, with the notes of the exception: where Spark's log is, for instance."""
    notes = getattr(failure, "__notes__", [])
    return "; ".join([_innermost_cause(failure), *notes])


def was_interrupted(failure: BaseException | None) -> bool:
    """Whether Ctrl-C is behind an error.

    PySpark's handler of Ctrl-C cancels the jobs. What waits for their rows then raises that they were
    cancelled, in place of the KeyboardInterrupt.
    """
    # PySpark's errors may be their own causes.
    seen: list[BaseException] = []
    while failure is not None and failure not in seen:
        if isinstance(failure, KeyboardInterrupt):
            return True
        seen.append(failure)
        failure = failure.__cause__ if failure.__suppress_context__ else failure.__context__
    return False


def _innermost_cause(failure: BaseException) -> str:
    trace = f"{failure}\n{getattr(failure, '_stackTrace', '')}".strip()
    if "JAVA_GATEWAY_EXITED" in trace:
        return "its Java ended at once"
    _, in_python, traceback = trace.rpartition("Traceback (most recent call last):")
    found = _PYTHON_ERROR.findall(traceback)[:1] if in_python else _JAVA_ERROR.findall(trace)[-1:]
    if found:
        name, message = found[0]
        return f"{name.rpartition('.')[2]}: {message}"
    return f"{type(failure).__name__}: {trace.splitlines()[0] if trace else 'no message'}"
