from __future__ import annotations

import pytest

from causeway.spark.errors import explain


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
