"""Changing one value in a JSON text, and not one byte besides: comments, order and layout stay as they are.

Comments and commas before a closing bracket are read, as VS Code, Zed and Gemini CLI read them.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

MAX_DEPTH = 200  # levels; settings have five, and reading them is a recursion

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+|//[^\n]*|/\*.*?\*/)
    |(?P<mark>[{}\[\]:,])
    |(?P<scalar>"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*"|true|false|null|-?[0-9][0-9.eE+-]*)""",
    re.VERBOSE | re.DOTALL,
)


class JSONTextError(Exception):
    """A text cannot be read or changed: what is wrong, and in which line."""


class _Token(NamedTuple):
    text: str
    start: int
    end: int


@dataclass
class _Member:
    """One member of an object: where its name starts, its value, and where the comma behind it is."""

    start: int
    value: "_Value"
    comma: int | None = None


@dataclass
class _Value:
    """A value, where it stands, and what it is; `members` of an object by name."""

    start: int
    end: int = 0
    plain: object = None
    members: dict[str, _Member] | None = None
    twice: set[str] = field(default_factory=set)


def value(text: str) -> object:
    """Return what a text says: `value('{"a": [1,], // one\n}')` is `{"a": [1]}`. Raises JSONTextError."""
    return _read(text).plain


def put(text: str, path: Sequence[str], new: object) -> str:
    """Return the text with a value at a path; objects on the way are made where they are missing.

    >>> print(put('{"a": 1}', ["b", "c"], 2))
    {"a": 1,
      "b": {
        "c": 2
      }
    }

    Raises JSONTextError where something on the way is no object, or stands twice.
    """
    at = _read(text)
    for depth, name in enumerate(path):
        member = _member(text, at, name)
        if member is None:
            for missing in reversed(path[depth + 1 :]):
                new = {missing: new}
            return _added(text, at, name, new)
        at = member.value
    if at.plain == new:
        return text
    return text[: at.start] + _written(text, new, _indent_at(text, at.start)) + text[at.end :]


def remove(text: str, path: Sequence[str]) -> str:
    """Return the text without the member at a path, which need not be there. Raises JSONTextError."""
    at = _read(text)
    for name in path[:-1]:
        member = _member(text, at, name)
        if member is None:
            return text
        at = member.value
    member = _member(text, at, path[-1])
    if member is None or at.members is None:
        return text
    names = list(at.members)
    position = names.index(path[-1])
    before = at.members[names[position - 1]] if position else None
    end = member.value.end if member.comma is None else member.comma + 1
    start = len(text[: member.start].rstrip(" \t"))
    if re.match(r"[ \t]*\r?\n", text[end:]) and text[:start].endswith("\n"):  # the line was its own
        start -= 2 if text[:start].endswith("\r\n") else 1
    head = text[:start]
    if member.comma is None and before is not None and before.comma is not None:
        head = text[: before.comma] + text[before.comma + 1 : start]
    return head + text[end:]


# ---- reading --------------------------------------------------------------------------------------------------------


def _read(text: str) -> _Value:
    tokens = list(_tokens(text))
    if not tokens:
        raise JSONTextError("it is empty")
    reader = _JsonReader(text, tokens)
    try:
        read = reader.value(0)
    except IndexError:
        raise JSONTextError("it ends in the middle of a value") from None
    if reader.position < len(tokens):
        raise _wrong(text, reader.taken().start)
    return read


def _tokens(text: str) -> Iterator[_Token]:
    position = 1 if text.startswith("\ufeff") else 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise _wrong(text, position)
        if found.lastgroup != "space":
            yield _Token(found[0], position, found.end())
        position = found.end()


def _wrong(text: str, position: int) -> JSONTextError:
    return JSONTextError(f"line {text.count(chr(10), 0, position) + 1} is not JSON")


class _JsonReader:
    def __init__(self, text: str, tokens: list[_Token]) -> None:
        self._text = text
        self._tokens = tokens
        self.position = 0

    def taken(self) -> _Token:
        token = self._tokens[self.position]
        self.position += 1
        return token

    def _take(self, mark: str) -> _Token | None:
        return self.taken() if self._tokens[self.position].text == mark else None

    def value(self, depth: int) -> _Value:
        token = self.taken()
        if depth > MAX_DEPTH:
            raise JSONTextError(f"it is nested deeper than {MAX_DEPTH} levels")
        if token.text == "{":
            return self._object(token, depth)
        if token.text == "[":
            return self._list(token, depth)
        return _Value(token.start, token.end, self._scalar(token))

    def _scalar(self, token: _Token) -> object:
        try:
            return json.loads(token.text)
        except ValueError:
            raise _wrong(self._text, token.start) from None

    def _object(self, opened: _Token, depth: int) -> _Value:
        read = _Value(opened.start, members={})
        assert read.members is not None
        while not (closed := self._take("}")):
            name = self.taken()
            if not name.text.startswith('"') or not self._take(":"):
                raise _wrong(self._text, name.start)
            key = str(self._scalar(name))
            if key in read.members:
                read.twice.add(key)
            member = read.members[key] = _Member(name.start, self.value(depth + 1))
            member.comma = self._comma("}")
        read.end = closed.end
        read.plain = {key: member.value.plain for key, member in read.members.items()}
        return read

    def _list(self, opened: _Token, depth: int) -> _Value:
        items = []
        while not (closed := self._take("]")):
            items.append(self.value(depth + 1).plain)
            self._comma("]")
        return _Value(opened.start, closed.end, items)

    def _comma(self, closing: str) -> int | None:
        if comma := self._take(","):
            return comma.start
        following = self._tokens[self.position]
        if following.text != closing:
            raise _wrong(self._text, following.start)
        return None


def _member(text: str, at: _Value, name: str) -> _Member | None:
    if at.members is None:
        raise JSONTextError(f"line {text.count(chr(10), 0, at.start) + 1}: the value is not an object")
    if name in at.twice:
        raise JSONTextError(f"{name!r} occurs twice in one object")
    return at.members.get(name)


# ---- writing --------------------------------------------------------------------------------------------------------


def _added(text: str, at: _Value, name: str, new: object) -> str:
    """Put a member behind the last one, and behind the comments that follow that."""
    outer = _indent_at(text, at.start)
    inner = outer + _unit(text)
    end = _line_end(text)
    members = list((at.members or {}).values())
    last = members[-1] if members else None
    if last and text[text.rfind("\n", 0, last.start) + 1 : last.start].isspace():
        inner = _indent_at(text, last.start)
    line = f"{end}{inner}{json.dumps(name, ensure_ascii=False)}: {_written(text, new, inner)}"
    behind = len(text[: at.end - 1].rstrip())
    head, tail = text[:behind], text[behind : at.end - 1]
    if last and last.comma is None:
        head = text[: last.value.end] + "," + text[last.value.end : behind]
    if "\n" not in tail:
        tail = end + outer
    return head + line + tail + text[at.end - 1 :]


def _written(text: str, new: object, indent: str) -> str:
    """Return a value as JSON: an object over lines, anything else in one."""
    if not isinstance(new, Mapping):
        return json.dumps(new, ensure_ascii=False)
    inner = indent + _unit(text)
    lines = [f"{inner}{json.dumps(key, ensure_ascii=False)}: {_written(text, new[key], inner)}" for key in new]
    end = _line_end(text)
    return f"{{{end}{f',{end}'.join(lines)}{end}{indent}}}"


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _unit(text: str) -> str:
    """Return the indentation of one level, as the first indented line has it."""
    found = re.search(r'^[ \t]+(?=")', text, re.MULTILINE)
    return found[0] if found else "  "


def _indent_at(text: str, position: int) -> str:
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]
