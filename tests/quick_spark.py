"""Settings with which Spark starts soon and plans quickly. They change no answer.

Jobs of tests are over tables of a few rows, each once: starting, planning and compiling take all the time.
"""

from __future__ import annotations

from typing import Final

__all__ = ["QUICK_JAVA", "QUICK_SPARK"]

QUICK_JAVA: Final = "-XX:TieredStopAtLevel=1 -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
"""Java's thorough compiler would take longer than it saves, and Spark's classes need no check."""

QUICK_SPARK: Final = {
    "spark.driver.extraJavaOptions": QUICK_JAVA,
    # Compiling a query would take longer than running it.
    "spark.sql.codegen.wholeStage": "false",
}
