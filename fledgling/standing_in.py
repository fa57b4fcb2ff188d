"""Loading without what a library imports, and nobody uses or few."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType


@contextmanager
def standing_in(name: str, module: ModuleType | None) -> Iterator[None]:
    """Let imports find a module in the place of one, with None no module at all, unless that one is loaded already.

    >>> with standing_in("ssl", None):
    ...     import asyncio
    """
    if name in sys.modules:
        yield
        return
    sys.modules[name] = module  # type: ignore[assignment]
    try:
        yield
    finally:
        if sys.modules.get(name) is module:
            del sys.modules[name]


class StandIn(ModuleType):
    """What is used of a module as a rule. Where anything else is, that is loaded, and has it.

    >>> with standing_in("platform", StandIn("platform", system=lambda: "Linux")):
    ...     import uuid
    """

    def __init__(self, name: str, **parts: object) -> None:
        super().__init__(name)
        vars(self).update(parts)

    def __getattr__(self, name: str) -> object:
        """Return what only the module itself has."""
        if name.startswith("__"):  # the import system asks for some
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        __import__(self.__name__)
        return getattr(sys.modules[self.__name__], name)


@contextmanager
def lean() -> Iterator[None]:
    """Load msgspec and click inside, and all else that comes with them, in three quarters of the time.

    msgspec looks for typing_extensions and needs nothing of it. pathlib can make URLs, uuid asks for the system's name,
    and click wants indented texts without their indent: it has one-line texts, unless somebody asks for help.
    """
    with standing_in("urllib.parse", StandIn("urllib.parse", quote_from_bytes=_quoted)):
        import pathlib  # noqa: F401, PLC0415
    with (
        standing_in("typing_extensions", None),
        standing_in("platform", StandIn("platform", system=lambda: os.uname().sysname)),
        standing_in("inspect", StandIn("inspect", cleandoc=_cleandoc)),
    ):
        yield


def load_numpy() -> None:
    """Load numpy without its documentation and its types, in five sevenths of the time."""
    more, most, types = "numpy._core._add_newdocs_scalars", "numpy._core._add_newdocs", "numpy._typing"
    with (
        standing_in(more, ModuleType(more)),
        standing_in(most, ModuleType(most)),
        standing_in(types, StandIn(types, NDArray=list)),
    ):
        import numpy  # noqa: F401, PLC0415


def _quoted(text: bytes) -> str:
    from urllib.parse import quote_from_bytes  # noqa: PLC0415  (what `lean` spares)

    return quote_from_bytes(text)


def _cleandoc(text: str) -> str:
    if "\n" not in text:
        return text.expandtabs().lstrip()
    from inspect import cleandoc  # noqa: PLC0415  (likewise)

    return cleandoc(text)
