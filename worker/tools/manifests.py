"""What manifests declare: the commands and files that a project begins at, and what it says it is.

TOML is read by expressions: tomllib takes a minute for a key of many parts.
"""

import json
import re
from collections.abc import Iterator

MOST_BYTES = 2**16  # of a manifest that is read
MOST_CHARS = 200  # of what it says
LEAST_WORDS = 3  # likewise: less is a name

_SCRIPTS = re.compile(r"(?ms)^\[(?:project\.scripts|project\.gui-scripts|tool\.poetry\.scripts)\]\s*\n(.*?)(?=^\[|\Z)")
_SCRIPT = re.compile(r"(?m)^[ \t]*[\"']?([\w.-]+)[\"']?[ \t]*=[ \t]*[\"']([^\"'\n]+)")
_SECTION = re.compile(r"(?ms)^\[(?:project|tool\.poetry|package|metadata)\][ \t]*\n(.*?)(?=^\[|\Z)")
_DESCRIPTION = re.compile(
    r"(?m)^description[ \t]*+=[ \t]*+"
    r"(?:\"{3}([^\"]+)\"{3}|([\"'])([^\n]+?)\2[ \t]*+(?:\#[^\n]*)?$|(?!file:|attr:)([^\n]+))"
)
_SUMMARY = re.compile(r"(?m)^[ \t]*+\w+\.summary[ \t]*+=[ \t]*+([\"'])([^\n]+?)\1(?:\.freeze)?[ \t]*+$")
# Of a directory, in the order in which they are asked what it is.
SPEAKING = ("pyproject.toml", "setup.cfg", "package.json", "Cargo.toml", "composer.json")


def scripts(pyproject: str) -> Iterator[str]:
    r"""Yield the commands that a project declares: of "[project.scripts]\nrun = 'a:main'" that is `run = a:main`."""
    for section in _SCRIPTS.finditer(pyproject):
        yield from (f"{script[1]} = {script[2]}" for script in _SCRIPT.finditer(section[1]))


def entries(package: str) -> Iterator[str]:
    """Yield what a package of Node begins at: of '{"main": "a.js"}' that is `a.js`."""
    declared = _object(package)
    bins, main = declared.get("bin"), declared.get("main")
    if isinstance(bins, dict):
        yield from (f"{name} = {path}" for name, path in bins.items() if isinstance(path, str))
    elif isinstance(bins, str):
        yield bins
    elif isinstance(main, str):
        yield main


def says(name: str, text: str) -> str | None:
    """Return what a manifest of a name says of the project in a line; None where it says nothing, or only a name.

    >>> says("package.json", '{"description": "Sends files to buckets"}')
    'Sends files to buckets'
    """
    if name.endswith(".json"):
        found = _object(text).get("description")
    elif name.endswith(".gemspec"):
        found = summary[2] if (summary := _SUMMARY.search(text)) else None
    else:
        found = next(filter(None, map(_described, _SECTION.finditer(text))), None)
    if not isinstance(found, str) or len(found.split()) < LEAST_WORDS:
        return None
    return " ".join(found.split())[:MOST_CHARS]


def _described(section: re.Match[str]) -> str | None:
    found = _DESCRIPTION.search(section[1])
    return found[1] or found[3] or found[4] if found else None


def _object(text: str) -> dict[str, object]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
