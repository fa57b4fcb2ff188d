"""What processes tell each other without a message, in memory that they share: whoever is killed, that is known."""

import mmap
from collections.abc import Iterable
from enum import IntEnum


class Stage(IntEnum):
    """What an extractor is at: between two messages, reading or writing one, or working on what one asks."""

    WAITING = 0
    WITHIN_FRAME = 1
    WORKING = 2


class Noted:
    """Languages, in memory that is shared with processes that are forked: what one of them notes, all know."""

    def __init__(self, languages: Iterable[str]) -> None:
        self._places = {language: place for place, language in enumerate(sorted(languages))}
        self._memory = mmap.mmap(-1, len(self._places))

    def note(self, language: str) -> bool:
        """Note a language, if it is a known one; return whether this is new."""
        place = self._places.get(language)
        if place is None or self._memory[place]:
            return False
        self._memory[place] = 1
        return True

    def noted(self) -> list[str]:
        """Return the languages that were noted."""
        return [language for language, place in self._places.items() if self._memory[place]]


class AtWork:
    """What an extractor is at, in memory that it shares with the process above it.

    Its stage, which file of the batch, and languages met.
    """

    def __init__(self, languages: Iterable[str]) -> None:
        self.met = Noted(languages)
        self._memory = mmap.mmap(-1, 9)

    def enter(self, stage: Stage) -> None:
        """Note that a stage is entered."""
        self._memory[8] = stage

    def stage(self) -> int:  # as the other side wrote it
        """Return the stage that was noted last."""
        return self._memory[8]

    def begin(self, number: int | None) -> None:
        """Note that a file is begun; None before the first."""
        self._memory[:8] = (0 if number is None else number + 1).to_bytes(8, "little")

    def begun(self) -> int | None:
        """Return the file that was noted last."""
        number = int.from_bytes(self._memory[:8], "little")
        return number - 1 if number else None
