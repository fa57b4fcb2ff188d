#!/usr/bin/env python3
"""The module's own docstring is no symbol's."""

from __future__ import annotations

import os.path as osp, sys
from . import sibling
from ..pkg.mod import (
    one,
    two as deux,
)

try:
    import json
except ImportError:
    json = None

TIMEOUT = 30  # seconds
first = second = third = 0
ROUTES: dict[str, str] = {
    "/": "index",
}
left, right = 1, 2
left += 1
type Pairs[T] = list[tuple[T, T]]


@register("a")
# between decorators
@cache
class Engine(Base, metaclass=Meta):
    r"""Runs \d things.

        Indented.
    """

    limit: int
    _state = None
    # about the method

    async def run(self, *args: int, key: str = "# no comment") -> None:  # trailing
        """Run.""" "Now."

        def helper():
            text = """
# no comment
"""
            return text

        class Local:
            size = 1

    def __repr__(self): return f"# no comment"

    def __hidden(self):
        f"""not a docstring"""
    # the end of the class, but not of its code


def after(a, b=(1,
                2)):
    b"""not a docstring"""


class Outdented:
    @property
# stands further out than what it is about
    # and this one does not
    @cache
    def size(self):
        return 1

    @register(
        "b",
    )

# for the grammar this ends the class
    class Inner:
        @cache
  # and this a method's class
        def width(self): return 2


fourth = left.first, right = left[0] = fifth = 0
