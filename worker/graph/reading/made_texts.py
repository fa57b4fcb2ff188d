"""Texts of which only both ends are written out: `f"a_{b}"`, `"a_%s" % b`, `"a_{}".format(b)`."""

import re

from fledgling.worker.graph.reading.builder import Builder
from fledgling.worker.graph.tables import MADE, Op

# What stands before the first part that is computed, and behind the last one, with its brackets.
BEFORE = re.compile(r"[A-Za-z]{0,2}(?:\"\"\"|'''|[\"'`:]{1,2})(?P<name>\w{0,80})(?:[#$]?\{|\$\(|%)?")
BEHIND = re.compile(r"\s*\}?\)?(?P<name>\w{0,80}[?!=]?)[\"'`]{1,3}")
PLACES = {  # of what is filled in: by `%`, by `.format`
    "%": re.compile(r"%[a-z]"),
    "format": re.compile(r"\{\w*\}"),
}
NAME_PART = re.compile(r"(?=.*[A-Za-z])\w+[?!=]?")


def filled(builder: Builder, before: str, behind: str) -> int:
    """A text of which one knows how it begins and ends, by what stands around what is computed in it."""
    first, last = BEFORE.fullmatch(before), BEHIND.fullmatch(behind)
    begins, ends = first["name"] if first else "", last["name"] if last else ""
    if not builder.dialect.made_names or not (NAME_PART.fullmatch(begins) or NAME_PART.fullmatch(ends)):
        return MADE
    return builder.add(Op.FILLED, builder.named(begins), builder.named(ends))


def of_template(builder: Builder, node: int) -> int:
    """`f"a_{b}"`"""
    tree = builder.tree
    kids = tree.kids[node]
    before = tree.source[tree.start[node] : tree.start[kids[0]]].decode(errors="replace")
    return filled(builder, before, tree.source[tree.end[kids[-1]] : tree.end[node]].decode(errors="replace"))


def of_places(builder: Builder, text: str, how: str) -> int:
    """`"a_%s" % b`, `"a_{}".format(b)`, by the text as it is written."""
    found = [*PLACES[how].finditer(text)] if len(text) < 200 else []
    return filled(builder, text[: found[0].start()], text[found[-1].end() :]) if found else MADE
