"""A fault of our own, as a line of the server's log."""

import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path


class EverybodysError(Exception):
    """A fault that every file would meet: it ends whoever meets it, and is never survived."""


def line(problem: BaseException) -> str:
    r"""Return what went wrong and where in our code, not what it says: a message may quote the project.

    `line(problem)` is "KeyError at search.py:120\n".
    """
    place = ""
    for frame, number in traceback.walk_tb(problem.__traceback__):  # extract_tb would open the source
        place = f" at {Path(frame.f_code.co_filename).name}:{number}"
    return f"{type(problem).__name__}{place}\n"


def survived(problem: Exception) -> None:
    """Write a fault to the log that costs what it met and nothing else: a file, a directory, the imports of a language.

    Raises it again where it is a MemoryError, since who meets that has not always caused it, or an EverybodysError.
    """
    if isinstance(problem, (MemoryError, EverybodysError)):
        raise problem
    sys.stderr.write(line(problem))


def ended(main: Callable[[], None]) -> None:
    """Run a back process to its end, and end it: what goes wrong is one line of the log and exit status 1.

    Whose broker is gone has nobody left to tell, and ends as if all were well.
    """
    try:
        main()
    except BrokenPipeError:
        os._exit(0)
    except BaseException as problem:  # noqa: BLE001  (the last resort of this process: one log line)
        sys.stderr.write(line(problem))
        os._exit(1)
    os._exit(0)  # images are sealed or lost, and calls still at work have nobody left to answer
