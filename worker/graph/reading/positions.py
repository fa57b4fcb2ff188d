"""Where the nodes of a file stand in its text, and which names stand there, by their numbers."""

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from fledgling.worker.graph.reading.reduced import Reduced
from fledgling.worker.graph.tables import NONE


class Positions:
    """The lines and the names of a tree. Lines begin at `starts`; no parser has seen the spans `unseen`."""

    def __init__(self, tree: Reduced, starts: Sequence[int], unseen: Sequence[tuple[int, int]]) -> None:
        self.tree = tree
        self.starts = starts
        self.unseen = unseen
        self.names: dict[str, int] = {}
        self.begins: dict[int, int] = {}  # the line where a definition begins, where that is not the node's own
        self.lines: list[int] = np.searchsorted(starts, tree.start, "right").tolist()
        self._names = [NONE] * len(tree.labels)
        self._texts: list[str] = []

    def line(self, node: int) -> int:
        """The line where a node begins."""
        return self.lines[node]

    def line_at(self, start: int) -> int:
        """The line of a byte of the text."""
        return bisect_right(self.starts, start)

    def first_line(self, node: int) -> int:
        """The line where a definition begins, with its attributes."""
        return self.begins.get(node) or self.line(node)

    def begin(self, node: int, around: int) -> None:
        """Let a definition begin where what is around it does: a variable where `static int` stands."""
        if self.first_line(around) != self.line(node):
            self.begins[node] = self.first_line(around)

    def last_line(self, node: int) -> int:
        """The line where a node ends."""
        return bisect_right(self.starts, self.tree.end[node] - 1)

    def name(self, node: int) -> int:
        """The number of the name that stands there."""
        found = self._names[node]
        if found == NONE:
            found = self._names[node] = self.named(self.tree.text(node))
        return found

    def named(self, text: str) -> int:
        """The number of a name."""
        return self.names.setdefault(text, len(self.names))

    def text_of(self, name: int) -> str:
        """A name by its number."""
        if len(self._texts) <= name:
            self._texts.extend(list(self.names)[len(self._texts) :])
        return self._texts[name]

    def key_name(self, node: int) -> int:
        """The number of the name that stands there, in quotes or not."""
        text = self.tree.text(node)
        return self.named(text[1:-1]) if text[:1] in ("'", '"') else self.name(node)

    def lacks_words(self, node: int, end: int) -> bool:
        """Whether no parser has seen some words right before a node, or in it before an end: macros."""
        start = self.tree.start[node]
        at = bisect_right(self.unseen, (start, 0))
        before = self.unseen[at - 1 : at] if at else ()
        return any(not self.tree.source[behind:start].strip() for _, behind in before) or any(
            first < end for first, _ in self.unseen[at : at + 1]
        )

    def is_given(self, node: int) -> bool:
        """Whether a node is an item that a macro is given, whose braces no parser has seen: `cfg_a! { use b; }`."""
        at = bisect_right(self._given, (self.tree.start[node], 0)) - 1
        return at >= 0 and self.tree.start[node] < self._given[at][1]

    @cached_property
    def _given(self) -> list[tuple[int, int]]:
        """The spans of such braces, the outermost of each."""
        found, opened = list[tuple[int, int]](), list[int]()
        for start, end in self.unseen:
            brace = self.tree.source[start:end]
            if brace == b"{":
                opened.append(start)
            elif brace == b"}" and opened and (begin := opened.pop()) >= 0 and not opened:
                found.append((begin, end))
        return found
