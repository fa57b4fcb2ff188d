"""Changing one table of a TOML text, and not one byte besides. It is for tables that have a header of their own."""

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

_HEADER = re.compile(r"[ \t]*\[")


class TOMLTextError(Exception):
    """A text cannot be read or changed: what is wrong, and where."""


def value(text: str) -> dict[str, Any]:
    """Return what a text says. Raises TOMLTextError."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as wrong:
        raise TOMLTextError(str(wrong) or "it is nested too deep") from None


def put(text: str, table: str, new: Mapping[str, object]) -> str:
    r"""Return the text with these keys of a table; others that it has stay.

    >>> put("a = 1\n", "b.c", {"d": "e"})
    'a = 1\n\n[b.c]\nd = "e"\n'
    """
    lines = text.splitlines(keepends=True)
    end = "\r\n" if "\r\n" in text else "\n"
    written = {key: f"{key} = {json.dumps(new[key], ensure_ascii=False)}{end}" for key in new}
    at = _header(lines, table)
    if at is None:
        gap = "" if not text.strip() else end if text.endswith("\n") else end * 2
        return f"{text}{gap}[{table}]{end}{''.join(written.values())}"
    last = _end(lines, at)
    for key, line in written.items():
        span = _pair(lines, at + 1, last, key)
        if span is None:
            lines.insert(at + 1, line)
            last += 1
        elif tomllib.loads("".join(lines[slice(*span)])) != {key: new[key]}:
            lines[slice(*span)] = [line]
            last -= span[1] - span[0] - 1
    return "".join(lines)


def remove(text: str, table: str) -> str:
    """Return the text without a table, and without the tables below it."""
    lines = text.splitlines(keepends=True)
    while (at := _header(lines, table, is_whole=False)) is not None:
        end = _end(lines, at)
        while at and not lines[at - 1].strip():
            at -= 1
        del lines[at:end]
    return "".join(lines)


def _header(lines: list[str], table: str, *, is_whole: bool = True) -> int | None:
    """Return the line of a table's header, however it is spaced and quoted; else of a table below it too."""
    names = [rf"""(?:{name}|"{name}"|'{name}')""" for name in map(re.escape, table.split("."))]
    dotted = r"[ \t]*\.[ \t]*".join(names)
    pattern = re.compile(rf"[ \t]*\[[ \t]*{dotted}[ \t]*[{']' if is_whole else '].'}]")
    return next((number for number, line in enumerate(lines) if pattern.match(line)), None)


def _end(lines: list[str], header: int) -> int:
    """Return the line where the next table begins, without the comments and blank lines that lead to it."""
    end = next((number for number in range(header + 1, len(lines)) if _HEADER.match(lines[number])), len(lines))
    if end == len(lines):
        return end
    while end > header + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return end


def _pair(lines: list[str], start: int, end: int, key: str) -> tuple[int, int] | None:
    """Return the lines of `key = value`, as many as it takes to be one."""
    first = next((n for n in range(start, end) if re.match(rf"[ \t]*{re.escape(key)}[ \t]*=", lines[n])), None)
    if first is None:
        return None
    for last in range(first + 1, end + 1):
        try:
            tomllib.loads("".join(lines[first:last]))
        except tomllib.TOMLDecodeError:
            continue
        return first, last
    return None
