"""Loading MCP's SDK: what a server needs of it, and no more.

Two of its packages load all that the SDK offers as soon as anything in them is imported: clients over HTTP, OAuth,
another way to write servers. And pydantic makes a validator of each message of every version of MCP, of which a client
uses a few. Together that is half of the time that a server takes to start.
"""

import gc
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import BaseModel, ConfigDict

ENTERED = ("mcp", "mcp.server")  # as folders alone: a server names what it needs below them


@contextmanager
def lean() -> Iterator[None]:
    """Import the SDK inside: its packages load nothing of themselves, and a validator is made when it is first used.

    >>> with lean():
    ...     from fledgling.broker.protocol import server
    >>> await server.serve(front, log, "text")

    From there on garbage is collected; what is loaded by then stays, and is not looked at.
    """
    for name in ENTERED:
        if name not in sys.modules:
            spec = importlib.util.find_spec(name)
            assert spec is not None
            sys.modules[name] = importlib.util.module_from_spec(spec)
    before, BaseModel.model_config = BaseModel.model_config, ConfigDict(defer_build=True)
    try:
        yield
    finally:
        BaseModel.model_config = before
        gc.freeze()
        gc.enable()
