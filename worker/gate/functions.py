"""Which functions SQL may call, and what their arguments must be so that one call stays small.

`functions.txt` and `denied_functions.txt` are the review of every function of every tested release of DuckDB; a test
names each that the installed one has and the review has not.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from fledgling.worker.gate.denied import Denied, folded, shown, suggestion
from fledgling.worker.gate.syntax import Node, names

MAX_REPEAT = 1000  # what one call may pad, repeat or compare, in characters or elements
REVIEW = Path(__file__).parent


def _reviewed_refusals(text: str) -> dict[str, tuple[str, str]]:
    """Name -> (why, what to do), of lines under `# why: what to do`: `{"now": ("it reads the clock", "write ...")}`."""
    refusals: dict[str, tuple[str, str]] = {}
    why = remedy = ""
    for line in text.splitlines():
        if line.startswith("# "):
            why, _, remedy = line.removeprefix("# ").partition(": ")
        elif line:
            refusals[folded(line)] = (why, remedy)
    return refusals


FUNCTIONS = frozenset(folded(name) for name in (REVIEW / "functions.txt").read_text().splitlines())
REFUSED_FUNCTIONS = _reviewed_refusals((REVIEW / "denied_functions.txt").read_text())
TABLE_FUNCTIONS = names("generate_series json_each json_tree range unnest")


class Bound(NamedTuple):
    """What an argument must be, so that one call stays small."""

    holds: Callable[[Node], bool]
    words: str


def _is_small_literal(node: Node) -> bool:
    """Whether `node` is a number written out, from 0 to MAX_REPEAT: `40`."""
    if node["class"] != "CONSTANT" or node["literal"]["kind"] != "INTEGER":
        return False
    digits = str(node["literal"]["text"])
    return digits.isdecimal() and len(digits) <= len(str(MAX_REPEAT)) and int(digits) <= MAX_REPEAT


def _is_small_number(node: Node) -> bool:
    """Whether `node` is at most MAX_REPEAT: `40`, `least(line_count, 40)`."""
    if node["class"] == "FUNCTION" and folded(node["function_name"]) == "least":
        return any(_is_small_literal(argument["expression"]) for argument in node["arguments"])
    return _is_small_literal(node)


def _is_short_text(node: Node) -> bool:
    """Whether `node` is text of at most MAX_REPEAT characters: `'parse'`, `left(name, 100)`; not `left(name, -1)`."""
    if node["class"] == "FUNCTION" and folded(node["function_name"]) == "left":
        arguments = [argument["expression"] for argument in node["arguments"] if not argument["name"]]
        return len(arguments) == 2 and _is_small_literal(arguments[1])
    return node["class"] == "CONSTANT" and len(node["literal"]["text"]) <= MAX_REPEAT


def _is_fixed_format(node: Node) -> bool:
    """Whether `node` is a literal without huge or computed widths: `'%5d'`, not `'%99999d'`, `'%*d'`, `'{:{}}'`."""
    huge_or_computed = r"%[^a-zA-Z%]*(\d{4}|\*)|\{[^}]*(\d{4}|\{)"
    return node["class"] == "CONSTANT" and not re.search(huge_or_computed, node["literal"]["text"])


def _is_aggregate_name(node: Node) -> bool:
    """Whether `node` names, as text, a function that may be called: `'avg'` in `list_aggregate(l, 'avg')`."""
    return node["class"] == "CONSTANT" and folded(node["literal"]["text"]) in FUNCTIONS


SMALL = Bound(_is_small_number, f"an integer literal up to {MAX_REPEAT}, or least(n, {MAX_REPEAT})")
SHORT = Bound(_is_short_text, f"a literal of up to {MAX_REPEAT} characters, or left(text, {MAX_REPEAT})")
FIXED = Bound(_is_fixed_format, "a literal whose widths have at most three digits")
NAMED = Bound(_is_aggregate_name, "the name of an aggregate on the allowlist as a literal, 'avg'")

# One call of these can fill memory, compare two long texts for minutes in which DuckDB cannot be interrupted, or call a
# function by a name given as text
BOUNDED: dict[str, dict[int, Bound]] = {
    "aggregate": {1: NAMED},
    "array_aggr": {1: NAMED},
    "array_aggregate": {1: NAMED},
    "array_resize": {1: SMALL},
    "bar": {3: SMALL},
    "bitstring": {1: SMALL},
    "damerau_levenshtein": {0: SHORT, 1: SHORT},
    "editdist3": {0: SHORT, 1: SHORT},
    "equi_width_bins": {2: SMALL},
    "format": {0: FIXED},
    "jaro_similarity": {0: SHORT, 1: SHORT},
    "jaro_winkler_similarity": {0: SHORT, 1: SHORT},
    "levenshtein": {0: SHORT, 1: SHORT},
    "list_aggr": {1: NAMED},
    "list_aggregate": {1: NAMED},
    "list_resize": {1: SMALL},
    "lpad": {1: SMALL},
    "printf": {0: FIXED},
    "repeat": {1: SMALL},
    "rpad": {1: SMALL},
    "to_base": {2: SMALL},
}


def refused_function(name: str, offered: frozenset[str]) -> Denied:
    """Why `name` is not offered, as reviewed in denied_functions.txt, or the nearest name that is."""
    if name in REFUSED_FUNCTIONS:
        why, remedy = REFUSED_FUNCTIONS[name]
    else:
        why, remedy = "nothing of that name may be called here", f"{suggestion(name, offered)}use one of DuckDB's own"
    return Denied(f"the function {shown(name)} is not on the allowlist: {why}", f"{remedy[0].upper()}{remedy[1:]}.")
