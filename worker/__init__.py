"""The back processes: indexer, extractors and query worker."""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # or loading numpy starts threads, before a process is confined and forks
