from __future__ import annotations

import pytest

from causeway.spark.errors import explain, was_interrupted


@pytest.mark.parametrize(
    ("trace", "line"),
    [
        ("[JAVA_GATEWAY_EXITED] Java gateway process exited", "its Java ended at once"),
        (
            "An error occurred while calling o1.x.\n: org.apache.spark.SparkException: Aborted\n\tat a.b(C)\n"
            'Caused by: java.lang.NumberFormatException: For input string: "abc"\n\tat d.e(F)\n\t... 3 more',
            'NumberFormatException: For input string: "abc"',
        ),
        (
            ": org.apache.spark.SparkException: Job aborted: Traceback (most recent call last):\n"
            '  File "worker.py", line 1, in main\n    write()\nOSError: [Errno 28] No space left on device\n'
            "\n\tat org.apache.spark.X\nCaused by: org.apache.spark.PythonException: Y",
            "OSError: [Errno 28] No space left on device",
        ),
        ("plain words\nand more", "RuntimeError: plain words"),
        ("", "RuntimeError: no message"),
    ],
)
def test_a_stack_trace_becomes_a_line(trace: str, line: str) -> None:
    assert explain(RuntimeError(trace)) == line


def test_notes_of_the_exception_are_part_of_the_line() -> None:
    failure = RuntimeError("no space left")
    failure.add_note("Spark's log is r/spark.log")
    assert explain(failure) == "RuntimeError: no space left; Spark's log is r/spark.log"


def test_ctrl_c_is_found_behind_what_was_raised_in_its_place() -> None:
    def fail(*, deliberately: bool) -> Exception:
        try:
            try:
                raise KeyboardInterrupt
            except KeyboardInterrupt:
                if deliberately:
                    raise RuntimeError("stopped as the user wanted") from None
                raise RuntimeError("job cancelled")  # noqa: B904
        except RuntimeError as cancelled:
            try:
                raise ValueError("the statement failed") from cancelled
            except ValueError as failure:
                return failure

    assert was_interrupted(KeyboardInterrupt())
    assert was_interrupted(fail(deliberately=False))
    assert not was_interrupted(fail(deliberately=True))
    own_cause = ValueError("x")
    own_cause.__cause__ = own_cause
    assert not was_interrupted(own_cause)
