"""A process that the indexer has forked, and how it ended: the build ends with it, and the broker is told."""

import os
import threading
from typing import Literal, TypeVar

from fledgling.messages.control import Crashed
from fledgling.pipe import CutFrameError, Pipe

Received = TypeVar("Received")


class CrashError(Exception):
    """A process that the build needs is gone; `crashed` says which, and how it ended."""

    def __init__(self, crashed: Crashed) -> None:
        super().__init__(f"the {crashed.process} has ended")
        self.crashed = crashed


class Child:
    """One such process.

    >>> lister = Child("lister", pid)
    >>> lister.heard(pipe)
    Began(...)
    """

    def __init__(self, role: Literal["lister", "extractors' parent"], pid: int) -> None:
        self._role: Literal["lister", "extractors' parent"] = role
        self._pid = pid
        self._waiting = threading.Lock()
        self._status: int | None = None

    def ended(self) -> int:
        """Wait until the process is gone; return its exit status, negative for a signal. Any thread may ask."""
        with self._waiting:
            if self._status is None:
                _, status = os.waitpid(self._pid, 0)
                self._status = os.waitstatus_to_exitcode(status)
            return self._status

    def heard(self, pipe: Pipe[Received]) -> Received:
        """Return its next message. Raises CrashError where none will come: it is gone."""
        try:
            message = pipe.receive()
        except (CutFrameError, ConnectionResetError):
            message = None
        if message is None:
            raise self.crash()
        return message

    def crash(self) -> CrashError:
        """Return what to raise where the process has closed its end too early."""
        return CrashError(Crashed(self._role, self.ended()))
