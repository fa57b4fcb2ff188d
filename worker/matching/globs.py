"""Path and name filters of an agent, as RE2 patterns: matching is linear whatever is asked."""

import re

from fledgling.messages.questions import Search
from fledgling.plain import WILDCARD

_TOKENS = re.compile(r"\*\*/|\*\*|\*|\?|\[[!^]?\]?[^\]]*\]|\{[^{}]*\}|.", re.DOTALL)
_EITHER = re.compile(r"\{([^{}]*)\}")
_RANGES = re.compile(r"(.)-(.)|(.)", re.DOTALL)
NOTHING = r"[^\x00-\x{10ffff}]"  # matches no character
_OPEN_QUOTE = re.compile(r"(?:[^\\]|\\[^Q]|\\Q.*?\\E)*+\\Q", re.DOTALL)  # without its `\E` it goes on to the end


def literal(text: str) -> str:
    """Return the pattern that matches just this text: `literal("a.b")` is `a\\.b`; RE2 escapes ASCII alone."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


def query_pattern(question: Search) -> str:
    """Return the pattern of what a search asks for, in text or in names.

    >>> query_pattern(Search("a.b", whole_word=True))
    '(?i)(?:^|\\\\W)(?:a\\\\.b)(?:\\\\W|$)'
    """
    pattern = question.query if question.is_regex else literal(question.query)
    if question.whole_word and question.is_regex and _OPEN_QUOTE.match(pattern):
        pattern += r"\E"
    if question.whole_word:  # as for `grep -w`: no word character is beside the match, whatever the match begins with
        pattern = rf"(?:^|\W)(?:{pattern})(?:\W|$)"
    return pattern if question.case_sensitive else f"(?i){pattern}"


def path_pattern(path: str) -> str:
    """Return the pattern of the paths that a path filter means.

    A plain path means that file, or everything below that directory. A glob without `/` matches file names in any
    directory; with `/` it is anchored at the root, `*` stays inside one directory and `**` crosses them.

    >>> path_pattern("src")
    '^src(/|$)'
    >>> path_pattern("src/*.py")
    '^src\\\\/[^/]*\\\\.py$'

    Each choice of `{src,docs}` is a filter by itself and, as a glob without `/`, also the name of files anywhere.
    Choices within a path that has no other wildcard are plain paths, too: `src/{core,web}` holds what is below both.
    """
    path = path.removeprefix("./").rstrip("/")
    if (either := _EITHER.fullmatch(path)) and (choices := [*filter(None, either[1].split(","))]):
        return f"({'|'.join(map(_choice, choices))})"
    if not WILDCARD.search(path):
        return f"^{literal(path)}(/|$)" if path not in ("", ".") else ""
    anchor = "^" if "/" in path else "(^|/)"
    pattern = f"{anchor}{_translate(path)}$"
    return f"({pattern}|^{_translate(chosen)}(/|$))" if (chosen := _plain_choices(path)) else pattern


def _plain_choices(path: str) -> str | None:
    """Return a path with its plain choices alone, `src/{core,*.md}` as `src/{core}`; None for one with wildcards."""
    choices = [[each for each in found.split(",") if not WILDCARD.search(each)] for found in _EITHER.findall(path)]
    if WILDCARD.search(_EITHER.sub("", path)) or not all(choices):
        return None
    left = iter(choices)
    return _EITHER.sub(lambda _: f"{{{','.join(next(left))}}}", path)


def choices(path: str) -> list[str]:
    """Return the filters that one is made of: `choices("{src,docs}")` is ["src", "docs"], `choices("src")` none."""
    either = _EITHER.fullmatch(path)
    return [*filter(None, either[1].split(","))] if either else []


def _choice(path: str) -> str:
    is_name = plain(path) and "/" not in path
    return f"{path_pattern(path)}|(^|/){literal(path)}$" if is_name else path_pattern(path)


def plain(glob: str | None) -> str | None:
    """Return a glob that is just a text, `src/app.py`: comparing is much faster than matching. None for any other."""
    return glob if glob and not WILDCARD.search(glob) else None


def name_pattern(glob: str) -> str:
    """Return the pattern of the names that a glob matches whole: `name_pattern("parse_*")` is `^parse_[^/]*$`."""
    return f"^{_translate(glob)}$"


def literals(glob: str) -> list[str]:
    """Return the texts between the wildcards of a glob, which all that it matches holds: ["parse_"] of `parse_*`."""
    texts = [""]
    for token in _TOKENS.findall(glob):
        if len(token) == 1 and token not in "*?":
            texts[-1] += token
        else:
            texts.append("")
    return [text for text in texts if text]


def _translate(glob: str) -> str:
    return "".join(_piece(token) for token in _TOKENS.findall(glob))


def _piece(token: str) -> str:
    if token == "**/":
        return "(.*/)?"
    if token == "**":
        return ".*"
    if token == "*":
        return "[^/]*"
    if token == "?":
        return "[^/]"
    if token[0] == "[" and len(token) > 2:
        negated = token[1] in "!^"
        return _characters(token[1 + negated : -1], negated=negated)
    if token[0] == "{" and len(token) > 1:
        return "(" + "|".join(_translate(choice) for choice in token[1:-1].split(",")) + ")"
    return literal(token)


def _characters(body: str, *, negated: bool) -> str:
    """Return a class of characters; a range that runs backwards, `z-a`, holds none, as for git."""
    ranges = _RANGES.findall(body)
    members = "".join(
        f"{literal(first)}-{literal(last)}" if first else literal(single)
        for first, last, single in ranges
        if first <= last
    )
    if negated:
        return f"[^/{members}]"
    return f"[{members}]" if members else NOTHING
