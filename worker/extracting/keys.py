"""Keys of data: what the readers of JSON, TOML and YAML make of a key and its value."""

import json
import re

from fledgling.worker.extracting.outline import Definition


def key(name: str, start: int, value: int, end: int, parent: str | None = None) -> Definition:
    """The definition of a key whose value begins at `value`; no other key is inside."""
    return Definition(name, kind="key", start=start, end=end, head=start, inside=end, value=value, parent=parent)


def unquoted(written: bytes) -> str:
    """A key without its quotes and escapes; as it is written where these say something that no name holds."""
    text = written.decode(errors="replace").strip()
    if len(text) < 2 or text[0] not in "'\"" or text[-1] != text[0]:
        return text
    inner = text[1:-1]
    if text[0] == '"' and "\\" in inner:
        try:
            inner = str(json.loads(text))
        except ValueError:
            return text
    return inner if inner.isprintable() else text


def brackets_end(to_bracket: re.Pattern[bytes], source: bytes, start: int) -> int | None:
    """Where the bracket that is open here is closed, if it is: `to_bracket` leads to the next, `open` or not."""
    depth, at = 1, start + 1
    while depth:
        bracket = to_bracket.match(source, at)
        if bracket is None:
            return None
        depth += 1 if bracket["open"] else -1
        at = bracket.end()
    return at


def match_end(pattern: re.Pattern[bytes], source: bytes, at: int) -> int:
    """Where a pattern that matches here ends; here, where it does not."""
    match = pattern.match(source, at)
    return match.end() if match else at
