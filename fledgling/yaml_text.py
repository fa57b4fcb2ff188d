"""The YAML that is read: a mapping of names to text or lists of text.

The parser's events are read and nothing is constructed, so aliases, tags and nesting end where they stand.
"""

from collections.abc import Iterator
from typing import NamedTuple

import yaml

NO_TEXT = "it is not YAML in UTF-8"


class YamlEntry(NamedTuple):
    """What a name is given, and on which line, from 1."""

    value: str | list[str]
    line: int | None


class YamlProblemError(Exception):
    """What is wrong with a text, on which line, from 1, where that is known; `fix` says what helps."""

    def __init__(self, problem: str, line: int | None = None, fix: str = "") -> None:
        super().__init__(problem)
        self.line = line
        self.fix = fix


def entries(data: bytes) -> dict[str, YamlEntry]:
    r"""Return what a text says: `entries(b"max_files: 10\n")["max_files"].value` is "10". Raises YamlProblemError."""
    try:
        return _mapping(_Events(data.decode()))
    except yaml.MarkedYAMLError as wrong:
        line = wrong.problem_mark.line + 1 if wrong.problem_mark else None
        raise YamlProblemError((wrong.problem or "it is not YAML")[:120], line) from None
    except (yaml.YAMLError, ValueError, OverflowError):  # the last two: not UTF-8, or an escape of no character
        raise YamlProblemError(NO_TEXT) from None


class _Events:
    """The events of a text, taken one by one; any but the expected kinds is refused."""

    def __init__(self, text: str) -> None:
        self._events: Iterator[yaml.Event] = yaml.parse(text, Loader=yaml.SafeLoader)

    def take(self, *kinds: type[yaml.Event]) -> yaml.Event:
        event = next(self._events)
        if not isinstance(event, kinds) or getattr(event, "anchor", None) or getattr(event, "tag", None):
            raise YamlProblemError("it holds more than names, text and lists of text", _line(event))
        if isinstance(event, yaml.ScalarEvent):
            event.value.encode()  # an escape may name half a character, which no text that is passed on holds
        return event


def _line(event: yaml.Event) -> int | None:
    return event.start_mark.line + 1 if event.start_mark else None


def _mapping(events: _Events) -> dict[str, YamlEntry]:
    found: dict[str, YamlEntry] = {}
    events.take(yaml.StreamStartEvent)
    if isinstance(events.take(yaml.DocumentStartEvent, yaml.StreamEndEvent), yaml.StreamEndEvent):
        return found
    events.take(yaml.MappingStartEvent)
    while isinstance(key := events.take(yaml.ScalarEvent, yaml.MappingEndEvent), yaml.ScalarEvent):
        if key.value in found:
            raise YamlProblemError(f"{key.value[:40]!r} stands twice", _line(key), "leave one out")
        found[key.value] = YamlEntry(_value(events), _line(key))
    events.take(yaml.DocumentEndEvent)
    events.take(yaml.StreamEndEvent)
    return found


def _value(events: _Events) -> str | list[str]:
    first = events.take(yaml.ScalarEvent, yaml.SequenceStartEvent)
    if isinstance(first, yaml.ScalarEvent):
        return first.value
    items: list[str] = []
    while isinstance(item := events.take(yaml.ScalarEvent, yaml.SequenceEndEvent), yaml.ScalarEvent):
        items.append(item.value)
    return items
