"""A graph by columns: who uses what, which class is derived from which, and what overrides what."""

from array import array
from dataclasses import dataclass, field

from fledgling.worker.graph.reasons import Reason

EXTENDS, IMPLEMENTS, MAY_IMPLEMENT, FURTHER = "extends", "implements", "may implement", "further"
BASE_REASONS = {  # why a class is not surely derived so; and of one with more below than are looked at
    EXTENDS: 0,
    IMPLEMENTS: Reason.INTERFACE,
    MAY_IMPLEMENT: Reason.METHODS_OUTSIDE,
    FURTHER: Reason.FURTHER_BELOW,
}

Begun = tuple[list[str], str, int, int]  # one of several on a line: its names, that around, the line and part of that

# Where a name is made, how it begins and ends, and file and line of the class that it is asked of, 0 of a module; -1
# where not known: with neither end, such a name may be any.
MadeName = tuple[int, int, str, str, int, int]


@dataclass
class GraphColumns:
    """Columns with an entry for each row, sorted by file, line and column; `target_file` is -1 for none.

    `bases` are rows (file, line of the class, name of the base, target_file, target_line, kind), where what is no name
    is "" and the last one a key of BASE_REASONS, `overrides` rows (file, line, base_file, base_line, 0 or why that
    is not sure). `made` are names that are not wholly known, where rows do not tell what they
    mean. `broken` are files that were not parsed whole. `is_cut` where the budget ended the work.
    """

    file: "array[int]" = field(default_factory=lambda: array("I"))
    line: "array[int]" = field(default_factory=lambda: array("I"))
    column: "array[int]" = field(default_factory=lambda: array("I"))
    name: "array[int]" = field(default_factory=lambda: array("I"))
    kind: "array[int]" = field(default_factory=lambda: array("B"))
    enclosing_line: "array[int]" = field(default_factory=lambda: array("I"))
    target_file: "array[int]" = field(default_factory=lambda: array("i"))
    target_line: "array[int]" = field(default_factory=lambda: array("I"))
    enclosing_part: "array[int]" = field(default_factory=lambda: array("H"))
    target_part: "array[int]" = field(default_factory=lambda: array("H"))
    confidence: "array[int]" = field(default_factory=lambda: array("B"))
    reason: "array[int]" = field(default_factory=lambda: array("B"))
    names: list[str] = field(default_factory=list)
    bases: list[tuple[int, int, str, int, int, str]] = field(default_factory=list)
    overrides: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    made: list[MadeName] = field(default_factory=list)
    broken: list[int] = field(default_factory=list)
    together: list[tuple[int, int, list[Begun]]] = field(default_factory=list)
    is_cut: bool = False
