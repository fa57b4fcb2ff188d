"""A plugin of pytest that notes which function calls which, and which lines run.

CALLS_ROOT is traced, by `sys.setprofile` and `sys.settrace`; CALLS_OUT is written. A call is a caller's file, the line
that it is at, and the file, first line and qualified name of what it calls.
"""

import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = os.path.realpath(os.environ["CALLS_ROOT"]) + os.sep
calls: set[tuple[str, int, str, int, str]] = set()
ran: set[tuple[str, int]] = set()
known: dict[CodeType, str] = {}


def path(code: CodeType) -> str:
    """Return the path of the file in the root that a code is of, or nothing."""
    found = known.get(code)
    if found is None:
        file = os.path.realpath(code.co_filename) if code.co_filename[:1] != "<" else ""
        found = known[code] = file.removeprefix(ROOT) if file.startswith(ROOT) else ""
    return found


def note(frame: FrameType, event: str, _argument: object) -> None:
    """Note a call between two functions of the root."""
    caller = frame.f_back
    if event == "call" and caller is not None:
        own, other = path(frame.f_code), path(caller.f_code)
        if own and other:
            code = frame.f_code
            calls.add((other, caller.f_lineno, own, code.co_firstlineno, code.co_qualname))


def lines(frame: FrameType, _event: str, _argument: object) -> Callable[..., Any] | None:
    """Note the lines that run, of functions of the root."""
    own = path(frame.f_code)
    if not own:
        return None
    ran.add((own, frame.f_lineno))
    return lines


def begin() -> None:
    """Note what this thread does from now on."""
    sys.setprofile(note)
    sys.settrace(lines)


threading.setprofile(note)
threading.settrace(lines)
begin()


def pytest_runtest_call(item: object) -> None:
    """Go on noting: a test may have ended it."""
    begin()


def pytest_unconfigure(config: object) -> None:
    """Write what was seen."""
    sys.setprofile(None)
    sys.settrace(None)
    Path(os.environ["CALLS_OUT"]).write_text(json.dumps({"calls": sorted(calls), "ran": sorted(ran)}))
