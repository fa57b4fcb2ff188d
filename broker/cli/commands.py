"""Calls as they are typed in a shell: `search(query="a b", context=0)` is `fledgling search --context 0 'a b'`."""

import ast
import re
import shlex
from collections.abc import Iterable, Mapping

import msgspec

from fledgling.messages.questions import QUESTIONS

# A call in a sentence of ours: no argument of one that is offered holds a bracket, but in a string.
_CALL = rf"\b(?P<tool>{'|'.join(QUESTIONS)})\((?P<given>(?:[^()\"]|\"(?:[^\"\\]|\\.)*\")*)\)"
_QUOTED = r"""(?<![\w\\])(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""  # what somebody else has written
_ARGUMENT = r"""(?<!\S)(?P<name>mode|depth)=(?:"(?P<word>\w+)"|(?P<number>\d+))(?=\W?(?:\s|\Z))"""  # by itself
_PARTS = re.compile(f"{_CALL}|{_QUOTED}|{_ARGUMENT}")


def command(tool: str, arguments: Mapping[str, object], settings: Iterable[str] = ()) -> str:
    """Return a call as a command; `settings` are words of options that go with it.

    >>> command("search", {"query": "-x", "regex": True})
    'fledgling search --regex -- -x'
    >>> command("search", {"query": "x", "tags_any": ["auth", "database"]})
    'fledgling search --tags-any auth --tags-any database x'
    """
    first, *_ = QUESTIONS[tool].__struct_fields__
    words = ["fledgling", tool]
    for name, value in arguments.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(option)
        elif value is not False and name != first:
            for text in map(str, value if isinstance(value, list | tuple) else [value]):
                words += [f"{option}={text}"] if text.startswith("-") else [option, text]
    words += settings
    if (place := str(arguments.get(first, ""))) or first in arguments:
        words += ["--", place] if place.startswith("-") else [place]
    return shlex.join(words)


def in_shell(sentence: str, settings: Iterable[str] = ()) -> str:
    """Return a sentence of ours with the calls and arguments in it as they are typed.

    What is quoted stays, and so does what is no whole call.
    """
    settings = tuple(settings)

    def written(part: re.Match[str]) -> str:
        if part["name"]:
            return f"--{part['name']} {part['word'] or part['number']}"
        return _typed(part, settings) if part["tool"] else part[0]

    return _PARTS.sub(written, sentence)


def _typed(call: re.Match[str], settings: Iterable[str]) -> str:
    """Return a call as it is typed, or as it stands where it is no whole one."""
    tool = call["tool"]
    try:
        parsed = ast.parse(_pythonic(call[0]), mode="eval").body
        assert isinstance(parsed, ast.Call)
        arguments = {word.arg: ast.literal_eval(word.value) for word in parsed.keywords if word.arg}
        msgspec.convert(arguments, QUESTIONS[tool])
    except (SyntaxError, ValueError, RecursionError, MemoryError, msgspec.ValidationError):
        return call[0] if call["given"] else f"fledgling {tool}"  # `search()` finds text, whatever is sought
    return call[0] if parsed.args else command(tool, arguments, settings)


def _pythonic(call: str) -> str:
    """Return a call with Python's words for what JSON calls true and false, outside of strings."""
    return re.sub(r'"(?:[^"\\]|\\.)*"|\btrue\b|\bfalse\b', lambda found: _WORDS.get(found[0], found[0]), call)


_WORDS = {"true": "True", "false": "False"}
