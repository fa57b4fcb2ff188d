"""Which function answers which question, and what becomes of an engine that gives up."""

from collections.abc import Callable
from typing import Any

import duckdb

from fledgling.wire import AnyAnswer, AnyQuestion, Refusal
from fledgling.worker.dependencies import dependencies
from fledgling.worker.explore import explore
from fledgling.worker.index import Asking, Refused
from fledgling.worker.query import query
from fledgling.worker.read import read
from fledgling.worker.search import search
from fledgling.worker.symbols import symbols

ANSWERING: dict[str, Callable[[Asking, Any], AnyAnswer]] = {
    "explore": explore,
    "read": read,
    "search": search,
    "symbols": symbols,
    "dependencies": dependencies,
    "query": query,
}


def answer(asking: Asking, question: AnyQuestion) -> AnyAnswer | Refusal:
    """Answer one question under the profile, or say why not: a tool outside the allowlist is refused here too."""
    tool = type(question).__name__.lower()
    if tool not in asking.profile.tools:
        return Refusal(
            "denied", f"{tool} is not a tool of this profile", f"Use one of: {', '.join(asking.profile.tools)}."
        )
    try:
        return ANSWERING[tool](asking, question)
    except Refused as refused:
        return refused.refusal
    except duckdb.InterruptException:
        return interrupted(asking)
    except (duckdb.OutOfMemoryException, MemoryError):
        return Refusal(
            "memory",
            f"the call needed more than the profile's memory_limit of {asking.profile.memory_limit} bytes",
            "Ask for less at once: filter by path or language, aggregate, or select fewer columns.",
        )
    except duckdb.InvalidInputException as problem:
        return Refusal(
            "invalid",
            f"not a valid regular expression: {str(problem).splitlines()[0]}",
            "Write RE2 syntax, without look-around or back-references, or leave `regex` out to search for the text.",
        )


def interrupted(asking: Asking) -> Refusal:
    """Return the refusal for a call that was told to end."""
    if asking.ended == "cancelled":
        return Refusal("cancelled", "the call was cancelled", "Ask again if the answer is still wanted.")
    return timeout(asking.profile.query_timeout)


def timeout(seconds: float) -> Refusal:
    """Return the refusal for a call that took longer than the profile allows."""
    return Refusal(
        "timeout",
        f"the call took longer than the profile's query_timeout of {seconds:g} s",
        "Ask for less at once: filter by path or language, or aggregate over fewer rows.",
    )
