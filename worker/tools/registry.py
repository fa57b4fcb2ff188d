"""Which function answers which question: the one that is named after its tool, in the file that is, too.

`search(request, question: Search) -> Hits | SymbolList` in search.py answers the question Search. A question without
such a function is an error at import. What the broker must know of a tool is a row of broker/protocol/tools.py.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, get_args, get_type_hints

from fledgling.messages.inner_answers import Found
from fledgling.messages.questions import Asked, name_of
from fledgling.worker.tools.request import Request

Handler = Callable[[Request, Any], Found]


def _handler(question: type[Asked]) -> Handler:
    """Return the function that answers a question. Raises LookupError where there is none that takes it."""
    name = name_of(question)
    handler: Handler | None = getattr(import_module(f"fledgling.worker.tools.{name}"), name, None)
    if handler is None or question not in get_type_hints(handler).values():
        raise LookupError(f"fledgling.worker.tools.{name} has no function {name} that takes a {question.__name__}")
    return handler


HANDLERS: dict[type[Asked], Handler] = {question: _handler(question) for question in get_args(Asked)}
