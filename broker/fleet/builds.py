"""Cursors that say of which build they are: where changes of a project would stand."""

from msgspec.structs import replace

from fledgling.messages.answers import AnyAnswer, Next, Refusal
from fledgling.messages.questions import AnyQuestion

OTHER_BUILD = Refusal(
    "invalid",
    "the repositories were built anew since the page that this cursor goes on from",
    "Ask again without a cursor.",
)


def continued(question: AnyQuestion, build: int) -> AnyQuestion | None:
    """Return a question whose cursor is as the build knows it; None where it is of another build."""
    cursor: str | None = getattr(question, "cursor", None)
    if not cursor:
        return question
    number, plain = _parted(cursor)
    return replace(question, cursor=plain) if int(number) == build else None


def stamped(found: AnyAnswer | Refusal, build: int) -> AnyAnswer | Refusal:
    """Return an answer whose cursor says of which build it is."""
    following: Next | None = getattr(found, "next", None)
    cursor = following.arguments.get("cursor") if following else None
    if not build or not following or not isinstance(cursor, str):
        return found
    *project, offset = cursor.split(":")
    ours = ":".join([*project[:-1], str(build), offset])
    return replace(found, next=Next(following.tool, {**following.arguments, "cursor": ours}))


def _parted(cursor: str) -> tuple[str, str]:
    """Return the number of the build that a cursor is of, and the cursor as that build knows it.

    >>> _parted("2:7:500"), _parted("7:500"), _parted("500")
    (('7', '2:0:500'), ('7', '500'), ('0', '500'))
    """
    *project, build, offset = (["0"] if ":" not in cursor else []) + cursor.split(":")
    return build, ":".join([*project, "0", offset]) if project else offset
