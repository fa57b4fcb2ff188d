"""What a tool of an operator's cannot do, and how an agent hears of it."""

from collections.abc import Awaitable

from fledgling.broker.front import Front
from fledgling.broker.operating.session import FullError, SessionError
from fledgling.broker.projects.projects import Projects
from fledgling.broker.terms import Terms
from fledgling.messages.answers import Exploration, Refusal
from fledgling.messages.operations import OwnAnswer
from fledgling.messages.questions import Explore, Read
from fledgling.plain import plain_path, said

FULL = Refusal("unavailable", "the session is full", "The operator can begin another one.")


class OperationError(Exception):
    """What is asked for cannot be; what would be right is in `fix`."""

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(problem)
        self.fix = fix


class UncheckedError(Exception):
    """What is asked for cannot be checked now; `refusal` says why."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.reason)
        self.refusal = refusal


async def answered(doing: Awaitable[OwnAnswer]) -> OwnAnswer | Refusal:
    """Return an answer, or the refusal that says why there is none."""
    try:
        return await doing
    except OperationError as wrong:
        return Refusal("invalid", said(str(wrong)), said(wrong.fix))
    except UncheckedError as unchecked:
        return unchecked.refusal
    except FullError:
        return FULL
    except SessionError as failed:
        return Refusal("unavailable", said(str(failed)), "Ask again once the operator has seen to it.")


def is_own(front: Front | Projects, path: str) -> bool:
    """Return whether a path of the tree is in a project that the agent has: others may have others."""
    return isinstance(front, Front) or path.partition("/")[0] in front.slots


async def path_of(front: Front | Projects, path: str, field: str, until: float) -> str:
    """Return a path of the index as answers have it, of a file without a `/` behind it.

    A path that is not in the index raises OperationError, whether it is hidden or does not exist; UncheckedError says
    that the index could not be asked.
    """
    plain = plain_path(path)
    found = await front.ask(Explore(plain), Terms(until)) if plain and not path.startswith("/") else None
    if isinstance(found, Exploration):
        return f"{plain}/"
    if isinstance(found, Refusal) and found.kind == "invalid":  # it is a file
        return plain
    if isinstance(found, Refusal) and found.kind not in ("not_found", "denied"):
        raise UncheckedError(found)
    raise not_there(path, field)


def not_there(path: str, field: str) -> OperationError:
    """Return what is said of a path that is not in the index, or that an agent is not to know of."""
    return OperationError(f"{path[:200]!r} of {field} is not in the index", "Give paths that explore() shows.")


async def symbol_of(front: Front | Projects, path: str, symbol: str, until: float) -> None:
    """Raise OperationError unless a file has one such definition; UncheckedError where nobody can tell now."""
    found = await front.ask(Read(path, symbol=symbol), Terms(until))
    if isinstance(found, Refusal):
        if found.kind in ("not_found", "ambiguous", "invalid"):
            raise OperationError(found.reason, found.next_step)
        raise UncheckedError(found)
