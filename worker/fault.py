"""A fault of our own, as a line of the server's log."""

import traceback
from pathlib import Path


def line(problem: BaseException) -> str:
    r"""Return what went wrong and where in our code, not what it says: a message may quote the project.

    `line(problem)` is "KeyError at search.py:120\n".
    """
    [*_, last] = traceback.extract_tb(problem.__traceback__, limit=-1) or [None]
    place = f" at {Path(last.filename).name}:{last.lineno}" if last else ""
    return f"{type(problem).__name__}{place}\n"
