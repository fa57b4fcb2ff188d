"""What a reply proves: that an attack was stopped, and by which layer, or that it got through."""

import base64
import re
import unicodedata
from collections.abc import Mapping
from typing import Literal

import msgspec
from msgspec import Struct

from fledgling.security.audit.client import ClientReply
from fledgling.security.audit.corpus import Ask

Status = Literal["through", "unproven", "held", "works", "not run", "elsewhere"]

# What a refusal says -> the layer whose words these are; the first that fits. `query` alone has a gate and an engine.
_WORDS = [
    ("door", re.compile(r"is not a tool of (?:the|this) profile")),
    ("arguments", re.compile(r"^(?:explore|read|search|symbols|dependencies|query): ")),
    ("paths", re.compile(r"is not a path below the root|holds `\.\.`")),
    ("limits", re.compile(r"query_timeout|memory_limit|calls are at work|ended while it worked|was cancelled|killed")),
]
_ENGINE = re.compile(r"^(?!Parser )\w[\w ]* Error: ")  # the gate has the statement parsed, and passes those words on
_EVIDENCE = 300  # characters of a reply that a report quotes


class Verdict(Struct, frozen=True):
    """held, by which layer, or through; works or unproven: what had to be allowed was, or was not."""

    status: Status
    layer: str
    evidence: str


def judge(ask: Ask, reply: ClientReply, forbidden: Mapping[str, str], root: str) -> Verdict:
    """Return what one reply to one call proves. `forbidden` are canaries by what they are in."""
    evidence = shown(reply.text)
    if seen := leaks(reply.text, forbidden):
        return Verdict("through", "", f"the reply holds what is in {seen[0]}")  # and a report is passed on
    if root in reply.text and root not in msgspec.json.encode(ask.arguments).decode():
        return Verdict("through", "", f"the reply holds an absolute path: {evidence}")
    if "Traceback (most recent call last)" in reply.text:
        return Verdict("through", "", f"the reply holds a traceback: {evidence}")
    if ask.must == "works":
        return Verdict("unproven" if reply.is_refused else "works", "", evidence)
    if ask.must == "refused" and not reply.is_refused:
        return Verdict("through", "", f"it was answered: {evidence}")
    if ask.must == "printable" and (raw := _raw(reply.text)):
        return Verdict("through", "output", f"the reply holds {raw}: {evidence}")
    return Verdict("held", layer(ask.tool, reply), evidence)


def layer(tool: str, reply: ClientReply) -> str:
    """Return which layer a reply comes from; an answer that holds nothing hidden is the index's."""
    if not reply.is_refused:
        return "image"
    for name, words in _WORDS:
        if words.search(reply.text):
            return name
    if reply.code:
        return "protocol"
    if tool == "query":
        return "engine" if _ENGINE.search(reply.text) else "gate"
    return "image"


def leaks(text: str, forbidden: Mapping[str, str]) -> list[str]:
    """Return what of the forbidden is in a text: as it is, in hexadecimal, or in base64 however it is aligned."""
    if "CANARY" not in text and not _CODED.search(text):
        return []
    return [name for name, token in forbidden.items() if any(form in text for form in _forms(token))]


_CODED = re.compile(r"[0-9a-fA-F]{24}|[A-Za-z0-9+/]{24}")


def _forms(token: str) -> list[str]:
    data = token.encode()
    coded = [base64.b64encode(b"\0" * shift + data).decode()[4:-4] for shift in range(3)]
    return [token, data.hex(), data.hex().upper(), token[::-1], *coded]


def _raw(text: str) -> str:
    """Name the first character that a terminal would obey, if there is one."""
    for character in text:
        if character not in "\n\t" and unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp"):
            return f"U+{ord(character):04X}"
    return ""


def shown(text: str) -> str:
    """Return the beginning of a text with nothing in it that is not printable."""
    cut = text[:_EVIDENCE]
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" if c != "\n" else " " for c in cut)
