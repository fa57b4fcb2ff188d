"""What the relations of a definition share: the call at work, and what is related, with the file it is in."""

from collections.abc import Iterable
from typing import NamedTuple

from fledgling.messages.answers import Related
from fledgling.messages.bounded import MAX_STEPS
from fledgling.messages.questions import Relation, Symbols
from fledgling.worker.of_tests import is_apart
from fledgling.worker.store.graph import SURE, Confidence, Graph, GraphDefinition
from fledgling.worker.store.text import File
from fledgling.worker.tools import definitions
from fledgling.worker.tools.modules_of_tests import ModulesOfTests
from fledgling.worker.tools.request import Request

SHOWN_CHARS = 120  # of a line that uses something
POSSIBLE: Confidence = "possible"
SHOWN_NAMES = 8  # that a definition calls, or a class is derived from, without being found
MOST = MAX_STEPS  # definitions and uses that an answer follows
# Steps to follow where nobody says how many; else 1.
STEPS: dict[Relation, int] = {"impact": 3, "hierarchy": MOST, "overrides": MOST}


class RelatedEntry(NamedTuple):
    """Something related, and the file it is in."""

    file: File
    related: Related


class RelatedEntries(NamedTuple):
    """What a relation leads to, and what is to be said of it."""

    entries: list[RelatedEntry]
    note: str | None = None


class Asked(NamedTuple):
    """A call at work: the question, the graph, and what it is about."""

    request: Request
    graph: Graph
    question: Symbols
    about: definitions.Chosen

    @property
    def places(self) -> list[GraphDefinition]:
        """Where the definitions begin that the question is about."""
        return [definitions.place(self.request, each) for each in self.about.definitions]

    @property
    def steps(self) -> int:
        """How many steps to follow."""
        return self.question.depth or STEPS.get(self.question.relation or "usages", 1)

    def admits(self, confidence: Confidence) -> bool:
        """Return whether a use is shown: one that only the name speaks for only if it is asked for."""
        return confidence in SURE or (confidence == POSSIBLE and self.question.possible)


def in_order(modules: ModulesOfTests, entries: Iterable[RelatedEntry]) -> list[RelatedEntry]:
    """Return entries by file and line; files of tests, examples and the like, or with nothing but tests, come last."""
    entries = [*entries]
    own = {file.number for file, related in entries if not modules.hold(file, related.line)}

    def order(entry: RelatedEntry) -> tuple[bool, str, int, int]:
        file, related = entry
        last = is_apart(file.path) or file.number not in own
        return last, file.path, related.line, related.distance

    return sorted(entries, key=order)
