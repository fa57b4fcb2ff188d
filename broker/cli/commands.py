"""Calls as they are typed in a shell: `search(query="a b", context=0)` is `fledgling search --context 0 'a b'`."""

import ast
import re
import shlex
from collections.abc import Iterable, Mapping

import msgspec

from fledgling.messages.questions import QUESTIONS

_ARGUMENT = re.compile(r'(?<!\S)(mode|depth)=(?:"(\w+)"|(\d+))(?!\w)')  # that a sentence names by itself
# A call in a sentence of ours: no argument of one that is offered holds a bracket, but in a string.
_CALL = re.compile(rf"\b({'|'.join(QUESTIONS)})\(((?:[^()\"]|\"(?:[^\"\\]|\\.)*\")*)\)")


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
    """Return a sentence of ours with the calls and arguments in it as they are typed; what is no whole call stays."""
    settings = tuple(settings)

    def written(call: re.Match[str]) -> str:
        try:
            parsed = ast.parse(_pythonic(call[0]), mode="eval").body
            assert isinstance(parsed, ast.Call)
            arguments = {word.arg: ast.literal_eval(word.value) for word in parsed.keywords if word.arg}
            msgspec.convert(arguments, QUESTIONS[call[1]])
        except (SyntaxError, ValueError, RecursionError, MemoryError, msgspec.ValidationError):
            return call[0] if call[2] else f"fledgling {call[1]}"  # `search()` finds text, whatever is sought
        if parsed.args:
            return call[0]
        return command(call[1], arguments, settings)

    return _ARGUMENT.sub(lambda found: f"--{found[1]} {found[2] or found[3]}", _CALL.sub(written, sentence))


def _pythonic(call: str) -> str:
    """Return a call with Python's words for what JSON calls true and false, outside of strings."""
    return re.sub(r'"(?:[^"\\]|\\.)*"|\btrue\b|\bfalse\b', lambda found: _WORDS.get(found[0], found[0]), call)


_WORDS = {"true": "True", "false": "False"}
