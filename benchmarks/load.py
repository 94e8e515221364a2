"""Processes that keep processors busy during a test."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# It ends when its parent has ended.
_BUSY = """
import os, sys
while os.getppid() == int(sys.argv[1]):
    sum(range(1_000_000))
"""


@contextmanager
def cpu_load(processes: int) -> Iterator[None]:
    """Keep this number of processors busy during the block."""
    busy = [subprocess.Popen([sys.executable, "-c", _BUSY, str(os.getpid())]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()
