"""Figures: what was measured, kept in a file between runs."""

import json
from pathlib import Path
from statistics import median

import corpora
import peers

OURS = "fledgling"
BARE = "bare"


class Figures:
    """All that was measured, by `corpus/tool/measure`; kept in a file, so that a run can go on where it stopped.

    A figure has as many values as it was measured times. Why one is missing is kept beside it, by `corpus/tool`.
    """

    def __init__(self, file: Path, *, resume: bool) -> None:
        self._file = file
        kept = json.loads(file.read_text("utf-8")) if file.exists() else {}
        self._resume = resume
        self._values: dict[str, list[float]] = kept.get("values", {})
        self.missing: dict[str, str] = kept.get("missing", {})
        self.about: dict[str, str] = kept.get("about", {})

    def begin(self, prefix: str) -> None:
        """Forget what is known of `corpus/tool`, unless this run goes on with another one."""
        self.missing.pop(prefix, None)
        if not self._resume:
            self._values = {key: value for key, value in self._values.items() if not key.startswith(f"{prefix}/")}

    def count(self, key: str) -> int:
        """Return how often a figure was measured."""
        return len(self._values.get(key, ()))

    def add(self, prefix: str, values: dict[str, float]) -> None:
        """Add what one round found."""
        for name, value in values.items():
            self._values.setdefault(f"{prefix}/{name}", []).append(value)
        self.save()

    def miss(self, prefix: str, reason: str) -> None:
        """Say why there is no figure."""
        self.missing[prefix] = reason
        self.save()

    def save(self) -> None:
        """Write everything to the file."""
        kept = {"values": self._values, "missing": self.missing, "about": self.about}
        new = self._file.with_suffix(".new")
        new.write_text(json.dumps(kept, indent=1), "utf-8")
        new.replace(self._file)

    def get(self, key: str) -> float | None:
        """Return the median of a figure."""
        return median(self._values[key]) if self._values.get(key) else None

    def rows(self) -> list[tuple[str, str]]:
        """Return every corpus and tool that has figures, in the order of the tables."""
        known = {(corpus, tool) for corpus, tool, _ in (key.split("/") for key in self._values)}
        corpus_order, tool_order = list(corpora.load()), ["source", OURS, BARE, *peers.load()]
        return sorted(known, key=lambda row: (corpus_order.index(row[0]), tool_order.index(row[1])))
