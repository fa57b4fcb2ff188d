"""Why SQL is denied, in words an agent can act on."""

from difflib import get_close_matches
from functools import lru_cache


class Denied(Exception):
    """SQL that does not pass. `Denied("the function now is not on the allowlist: ...", "Write the moment as ...")`."""

    def __init__(self, reason: str, next_step: str) -> None:
        """`reason` says what was wrong, `next_step` what to do instead."""
        super().__init__(reason)
        self.reason = reason
        self.next_step = next_step


CHANGES = "a statement that changes something", "The index is read-only: only SELECT runs, in a CTE as elsewhere."
# Node, word or field -> what it is called, and what to do instead.
REFUSALS = {
    "DELETE_QUERY_NODE": CHANGES,
    "INSERT_QUERY_NODE": CHANGES,
    "UPDATE_QUERY_NODE": CHANGES,
    "MERGE_QUERY_NODE": CHANGES,
    "COPY_QUERY_NODE": CHANGES,
    "DEFAULT": ("DEFAULT", "Write the value."),
    "PARAMETER": ("a parameter", "Write the value into the SQL."),
    "named_param_map": ("a parameter", "Write the value into the SQL."),
    "SHOW": ("SHOW", "DESCRIBE files lists the columns of a table."),
    "SHOW_SPECIAL": (
        "SHOW",
        "Tables are files, content, symbols, imports, calls, refs, inherits and others; DESCRIBE files lists columns.",
    ),
    "at_clause": ("AT, an earlier version of a table,", "There is one version; leave it out."),
    "sample": ("a random sample", "Take the same sample every time: ORDER BY hash(path) LIMIT 10."),
    "schema": ("a qualified function or type", "Write its name alone: left(path, 5), not path.left(5)."),
}


def not_parsed(error: str) -> Denied:
    """The first line of DuckDB's own words; those after it quote the SQL."""
    return Denied(
        shown(error.partition("\n")[0], 200), "Correct the SQL, in DuckDB's dialect; DESCRIBE files lists columns."
    )


def refused(word: str) -> Denied:
    """`refused("sample")` says that a random sample is not offered, and what to do instead."""
    what, next_step = REFUSALS.get(word, (shown(word), "Write it with SELECT, JOIN, WHERE, GROUP BY, CTEs, windows."))
    return Denied(f"{what} is not offered", next_step)


def folded(name: str) -> str:
    """`name` as DuckDB compares names. Only ASCII folds: to str.lower, the Kelvin sign is a k."""
    return name.encode().lower().decode()


def suggestion(name: str, names: frozenset[str]) -> str:
    """The nearest of `names`, or nothing: `suggestion("flies", frozenset({"files"}))` is `"Did you mean files? "`."""
    return _nearest(folded(name)[:60], names)


@lru_cache(256)  # comparing with 700 functions takes a third of a millisecond, and an agent errs again as it did before
def _nearest(name: str, names: frozenset[str]) -> str:
    near = get_close_matches(name, sorted(names), 1)
    return f"Did you mean {near[0]}? " if near else ""


def shown(text: str, length: int = 60) -> str:
    """Text of the caller's, fit for a message: short and printable."""
    return "".join(c if c.isprintable() else "?" for c in text[:length])
