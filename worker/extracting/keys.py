"""Keys of data: what the readers of JSON, TOML and YAML make of a key and its value."""

import json

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
