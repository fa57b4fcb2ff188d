"""Expressions that are compiled when they are first used.

A project has few of the languages there are, and a worker is asked few of the questions: the expressions of all of them
take a twentieth of a second, and a tenth of the time that a worker takes to be ready.
"""

import re
from functools import cached_property
from types import ModuleType
from typing import Any, AnyStr, cast


def deferred(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return what `re.compile` would, once it is used: `deferred(rb"a+").fullmatch(b"aa")`."""
    return cast("re.Pattern[AnyStr]", _Deferred(pattern, flags))


def compile_all(module: ModuleType) -> None:
    """Compile the expressions that a module names. Raises re.error."""
    for value in vars(module).values():
        if isinstance(value, _Deferred):
            _ = value.compiled


class _Deferred:
    """Stands for an expression: each attribute is that of the compiled one, and is kept."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    @cached_property
    def compiled(self) -> re.Pattern[Any]:
        return re.compile(self.pattern, self._flags)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.compiled, name)
        setattr(self, name, value)
        return value
