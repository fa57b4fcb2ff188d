"""Notebooks without what their cells have put out, which nobody wrote: lines stay where they are, and are empty."""

import re

from fledgling.worker.deferred import deferred

NOTEBOOK = "jupyter"  # the language
_DATA = deferred(rb'"(?:outputs|attachments)"\s*+:\s*+[\[{]')
_BRACKET = deferred(rb'[^"\[\]{}]*+(?:"(?>(?:[^"\\]++|\\.)*)"[^"\[\]{}]*+)*+([\[\]{}])', re.DOTALL)


def without_outputs(text: bytes) -> bytes:
    r"""Return the text of a notebook with nothing but line ends in its outputs and attachments.

    >>> without_outputs(b'{"outputs": [\n{"data": "iVBOR"}\n], "source": "a"}')
    b'{"outputs": [\n\n], "source": "a"}'
    """
    kept: list[bytes] = []
    at = 0
    while found := _DATA.search(text, at):
        end = _end(text, found.end())
        kept += [text[at : found.end()], b"\n" * text.count(b"\n", found.end(), end)]
        at = end
    return b"".join([*kept, text[at:]])


def _end(text: bytes, at: int) -> int:
    """Return where the bracket is that closes the one before a place; in a notebook that is cut off, the end."""
    depth = 1
    while found := _BRACKET.match(text, at):
        depth += 1 if found[1] in b"[{" else -1
        if not depth:
            return found.start(1)
        at = found.end()
    return len(text)
