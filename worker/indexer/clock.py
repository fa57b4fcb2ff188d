"""How long each stage of a build takes, and how far it is."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

from fledgling.messages.control import Progress

PROGRESS_SECONDS = 0.1  # between two reports

Stage = Literal["walk", "read", "extract", "seal", "words", "relate", "fill"]


class Clock:
    """Seconds by stage, and progress reports at a bearable rate."""

    def __init__(self, report: Callable[[Progress], None]) -> None:
        self._report = report
        self._reported = 0.0
        self._begun = time.perf_counter()
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: Stage) -> Iterator[None]:
        """Time one stage: `with clock.stage("walk"): ...`."""
        self._report(Progress(name, 0, 0))
        begun = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - begun

    def mark(self, name: Literal["text", "definitions", "total"]) -> None:
        """Note how long it took from the beginning to here."""
        self.seconds[name] = time.perf_counter() - self._begun

    def tick(self, stage: Stage, done: int, total: int, at: str | None) -> None:
        """Report that `done` of `total` files are through, and one is at work, unless the last report was just now."""
        if time.monotonic() - self._reported > PROGRESS_SECONDS:
            self._reported = time.monotonic()
            self._report(Progress(stage, done, total, at))
