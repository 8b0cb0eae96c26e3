"""CPU time does not go down when a process ends, whether or not somebody waits for it."""

from __future__ import annotations

import os
import subprocess
import sys

from causeway.runtime.cpu_time import CpuMeter, cpu_seconds

# More than the 0.3 s that are asked for below: /proc rounds a process's times down to hundredths.
BUSY = "import time; began = time.process_time()\nwhile time.process_time() < began + 0.4: pass\n"
# Its child is nobody's to wait for, and so is its time.
CARELESS = f"""
import signal, subprocess, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", {BUSY + "print('busy', flush=True); input()"!r}],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
child.stdout.readline()
print("busy", flush=True)
input()
child.communicate("")
print("ended", flush=True)
input()
"""


def test_what_a_process_took_stays_when_it_is_gone() -> None:
    meter = CpuMeter()
    before = meter.read()
    with subprocess.Popen(
        [sys.executable, "-c", CARELESS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdin is not None and parent.stdout is not None
        parent.stdout.readline()
        while_busy = meter.read()
        lost_from = cpu_seconds(parent.pid)
        parent.stdin.write("\n")
        parent.stdin.flush()
        parent.stdout.readline()
        lost_to = cpu_seconds(parent.pid)
        after = meter.read()
        parent.stdin.write("\n")
        parent.stdin.flush()
    assert before is not None and while_busy is not None and after is not None
    assert while_busy - before >= 0.3
    assert after >= while_busy
    # The time is gone indeed, where nobody kept it.
    assert lost_from is not None and lost_to is not None
    assert lost_to < lost_from


def test_descendants_that_do_not_count() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", BUSY + "print(1, flush=True); input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as child:
        meter, without = CpuMeter(), CpuMeter(without=[child.pid])
        assert child.stdout is not None
        child.stdout.readline()
        # In this order what this process takes meanwhile makes the difference larger, not smaller.
        left_out, counted = without.read(), meter.read()
        child.communicate(b"\n")
    assert counted is not None and left_out is not None
    assert counted - left_out >= 0.3


def test_a_process_that_is_not_there_has_taken_nothing() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        pass
    assert ended.pid != os.getpid()
    assert cpu_seconds(ended.pid) is None
