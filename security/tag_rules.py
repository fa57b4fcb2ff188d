"""Rules that say what a file is about: those of `tag_rules.txt`, and those that a profile adds in the same form.

A line is a rule: `database IMPORT 0.9 ^sqlite3$`. An expression is checked where it is compiled, by RE2 in the confined
indexer.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from fledgling.messages.profile import TAG, Matcher, TagRule
from fledgling.plain import MAX_SHOWN
from fledgling.security.sql_text import SqlTextError

MAX_RULES = 200  # of a profile, the shipped ones included: each is one look at all files
MAX_PATTERN_CHARS = 1000
LEAST = 0.1  # of a confidence: a rule that says less says nothing
FORM = "write TAG MATCHER CONFIDENCE EXPRESSION, such as search IMPORT 0.9 ^elasticsearch"

_TAG = re.compile(TAG)
_CONFIDENCE = re.compile(r"[01](?:\.[0-9]{1,3})?")
_MATCHERS: tuple[Matcher, ...] = get_args(Matcher)


def read(text: str, line: int = 0) -> tuple[TagRule, ...]:
    """Return the rules of a text whose first line is line `line` of a profile, of none where that is 0.

    >>> read("search IMPORT 0.9 ^elasticsearch")[0].confidence
    0.9

    Raises SqlTextError.
    """
    rules = tuple(_rules(text, line))
    if len(rules) > MAX_RULES:
        raise SqlTextError(line, f"{len(rules)} rules of tags", f"give {MAX_RULES} at most")
    return rules


def _rules(text: str, first: int) -> Iterator[TagRule]:
    for at, row in enumerate(text.split("\n")):
        if row.strip() and not row.lstrip().startswith("#"):
            yield _rule(row.split(None, 3), first + at if first else 0)


def _rule(parts: list[str], line: int) -> TagRule:
    if len(parts) != 4:
        raise SqlTextError(line, f"{' '.join(parts)[:MAX_SHOWN]!r} is not a rule", FORM)
    tag, name, sure, pattern = parts
    matcher = next((each for each in _MATCHERS if each == name), None)
    if not _TAG.fullmatch(tag):
        form = "write up to 32 small letters, digits, `/`, `_`, `-`"
        raise SqlTextError(line, f"a tag cannot be {tag[:MAX_SHOWN]!r}", form)
    if matcher is None:
        raise SqlTextError(line, f"unknown matcher {name[:MAX_SHOWN]!r}", f"write one of {', '.join(_MATCHERS)}")
    if not _CONFIDENCE.fullmatch(sure) or not LEAST <= float(sure) <= 1:
        raise SqlTextError(line, f"a confidence cannot be {sure[:MAX_SHOWN]!r}", f"write a number from {LEAST} to 1")
    if len(pattern) > MAX_PATTERN_CHARS:
        raise SqlTextError(line, f"an expression of {len(pattern)} characters", f"give {MAX_PATTERN_CHARS} at most")
    return TagRule(tag, matcher, float(sure), pattern.rstrip(), line)


SHIPPED = read(Path(__file__).with_name("tag_rules.txt").read_text("utf-8"))


def added(own: tuple[TagRule, ...], line: int) -> tuple[TagRule, ...]:
    """Return the shipped rules and own ones, which stand for all of a tag that they name. Raises SqlTextError."""
    named = {rule.tag for rule in own}
    rules = (*(rule for rule in SHIPPED if rule.tag not in named), *own)
    if len(rules) > MAX_RULES:
        raise SqlTextError(line, f"{len(rules)} rules of tags with the shipped ones", f"give {MAX_RULES} at most")
    return rules


def said(rules: tuple[TagRule, ...]) -> str:
    """Return rules for an operator's eyes: the shipped tags by name, the others with all that is said of them."""
    shipped = {rule.tag for rule in rules if rule in SHIPPED}
    own = [f"{rule.tag} {rule.matcher} {rule.confidence:g} {rule.pattern}" for rule in rules if rule not in SHIPPED]
    return "; ".join([*([", ".join(sorted(shipped))] if shipped else []), *own])
