"""What all layers of a query worker cost when they are put on, imports included: the median of ROUNDS, in seconds."""

import subprocess
import sys
from statistics import median

ROUNDS = 21

# One process each, as in life: most of the time is the import of ctypes.
PROGRAM = """
import os, sys, time
from fledgling.messages.control import CONFINED
begun = time.perf_counter()
from fledgling.security import limits
from fledgling.security.confinement import confine
confine("query worker", CONFINED, parent=os.getppid(), lowered=limits.of_query_worker(2_000_000_000))
os.write(1, repr(time.perf_counter() - begun).encode())
"""


def seconds() -> float:
    """Return what the layers cost."""
    command = [sys.executable, "-I", "-B", "-c", PROGRAM]
    return median(float(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(ROUNDS))
