"""Command lines of grep and its kin, as a search that means the same; none where a part of one is not understood."""

import re
import shlex
from collections.abc import Iterator
from functools import partial

from fledgling.broker.spelling.table import listed
from fledgling.messages.questions import MAX_CONTEXT

_GREP, _OTHERS = ("grep", "rg"), ("ack", "ag")  # the latter are words of prose, too, unless a flag follows
_SHELL = re.compile(r"[|<>;&]+|\$\(.*|`.*|\d?>.*")  # what a shell makes of a line: `| head`
_LINES = frozenset({"-A", "-B", "-C"})
_LONG = {
    "--after-context": "-A", "--before-context": "-B", "--context": "-C", "--regexp": "-e", "--glob": "-g",
    "--include": "-g", "--type": "-t", "--ignore-case": "-i", "--word-regexp": "-w", "--fixed-strings": "-F",
    "--extended-regexp": "-E", "--perl-regexp": "-P", "--line-number": "-n", "--recursive": "-r",
}  # fmt: skip
_VALUED = _LINES | {"-e", "-g", "-t"}
_BARE = frozenset({"-i", "-w", "-F", "-E", "-P", "-n", "-r", "-R", "-H"})
_PLAIN = re.compile(r"[^\\^$.|?*+()\[\]{}]*")  # what an expression and a text mean alike
_BASIC = re.compile(r"\\.|[|+?(){}]", re.DOTALL)  # letters of grep, and signs with a backslash


def command(text: str) -> dict[str, object] | None:
    """Return the arguments of search that a command line means.

    >>> command("grep -rn -A 3 'a.*b' src")
    {'query': 'a.*b', 'regex': True, 'path': 'src', 'context': 3}
    """
    try:
        words = shlex.split(text)
    except ValueError:  # a quote without an end
        return None
    name = words[0] if words and words[0] in (*_GREP, *_OTHERS) else ""
    rest = words[1:] if name else words
    if not rest or "-" in rest or (name not in _GREP and not rest[0].startswith("-")):
        return None
    flags, places = _parted(rest)
    values: dict[str, list[str]] = {}
    for flag, value in flags:
        values.setdefault(flag, []).append(value)
    if values.keys() - _VALUED - _BARE or any(len(values.get(flag, ())) > 1 for flag in ("-e", "-g", "-t")):
        return None
    [query] = values.get("-e") or places[:1] or [""]
    places = places if "-e" in values else places[1:]
    lines = [value for flag in _LINES for value in values.get(flag, ())]
    if not query or any(map(_SHELL.fullmatch, places)) or not all(re.fullmatch(r"\d{1,4}", line) for line in lines):
        return None
    path = _path([place for place in places if place not in (".", "./")], *values.get("-g", ()))
    if path is None:
        return None
    if is_regex := "-F" not in values and not _PLAIN.fullmatch(query):
        query = _BASIC.sub(_swapped, query) if name == "grep" and values.keys().isdisjoint({"-E", "-P"}) else query
    types = listed().values["language"]
    said = {
        "regex": is_regex,
        "path": path,
        "language": next((types.get(each, each) for each in values.get("-t", ())), ""),
        "whole_word": "-w" in values,
        "context": min(max(map(int, lines), default=0), MAX_CONTEXT),
    }
    return {"query": query} | {field: value for field, value in said.items() if value}


def _parted(words: list[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the flags of a line with their values, and its other words."""
    flags: list[tuple[str, str]] = []
    places: list[str] = []
    rest = iter(words)
    following = partial(next, rest, "")
    for word in rest:
        if word == "--":
            places += rest
        elif word.startswith("--"):
            long, sign, value = word.partition("=")
            flag = _LONG.get(long, long)
            flags.append((flag, value if sign or flag not in _VALUED else following()))
        elif word.startswith("-") and word != "-":
            flags += ((flag, following() if value is None else value) for flag, value in _short(word))
        else:
            places.append(word)
    return flags, places


def _short(word: str) -> Iterator[tuple[str, str | None]]:
    """Yield the flags of one word, the last with its value, or with None where that is the next word: `-rnA3`."""
    for place, letter in enumerate(word[1:], 2):
        if f"-{letter}" in _VALUED:
            yield f"-{letter}", word[place:] or None
            return
        yield f"-{letter}", ""


def _path(places: list[str], glob: str = "") -> str | None:
    """Return where a command looks: in the files of some places that a glob chooses; None if no path says it."""
    if glob.startswith("!") or any(sign in place for place in places for sign in "{},"):
        return None
    place = "{" + ",".join(each.rstrip("/") for each in places) + "}" if len(places) > 1 else "".join(places)
    if not (place and glob):
        return place or glob
    return None if "/" in glob else f"{place.rstrip('/')}/**/{glob}"


def _swapped(found: re.Match[str]) -> str:
    """Return a sign of grep as RE2 has it: what is a letter as one, and what is a sign as one."""
    sign = found[0]
    if len(sign) == 1:
        return f"\\{sign}"
    return sign[1] if sign[1] in "|+?(){}" else sign
