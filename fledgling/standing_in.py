"""Loading without what a library imports and nobody uses."""

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
        del sys.modules[name]
