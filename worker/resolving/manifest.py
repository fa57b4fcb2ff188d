"""Texts of manifests to values. They are as hostile as any file of the project: what cannot be read says nothing."""

import json
import tomllib
from typing import Any

from fledgling.worker.deferred import deferred

Table = dict[str, Any]

# A string is kept, a comment is dropped, and so is a comma before a closing bracket.
JSONC = deferred(r'("(?>(?:[^"\\]|\\.)*)"?)|//[^\n]*|/\*(?s:.*?)(?:\*/|\Z)')
TRAILING_COMMA = deferred(r'("(?>(?:[^"\\]|\\.)*)"?)|,(?=\s*+[\]}])')
MANY_DOTS = deferred(r"[^\s.]\s*+(?:\.[^\n.]{0,100}){20}")  # tomllib takes quadratic time for a.b.c.d...


def parse_json(text: str) -> Table:
    """An object in JSON with comments and trailing commas, as TypeScript reads its configuration; else nothing."""
    plain = JSONC.sub(lambda match: match[1] or " ", text.removeprefix("\ufeff"))
    try:
        value = json.loads(TRAILING_COMMA.sub(lambda match: match[1] or "", plain))
    except (ValueError, RecursionError):
        return {}
    return table(value)


def parse_toml(text: str) -> Table:
    """A TOML document, or nothing."""
    if MANY_DOTS.search(text):
        return {}
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return {}


def table(value: object) -> Table:
    """A value if it is a table, else an empty one: `table(package.get("exports"))`."""
    return value if isinstance(value, dict) else {}


def strings(value: object) -> list[str]:
    """A string, or the strings of a list: both "a" and ["a", 1] give ["a"]."""
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)]
