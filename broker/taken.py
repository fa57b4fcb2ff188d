"""What a back process says that it took a question for: whether that may be, and how an answer says it."""

from msgspec.structs import replace

from fledgling.broker import fitting
from fledgling.messages.answers import Refusal
from fledgling.messages.inner_answers import Found
from fledgling.messages.questions import AnyQuestion, Asked, Inner
from fledgling.plain import said


def meant_by(asked: Asked, taken: AnyQuestion | None) -> Asked | None:
    """Return the question that a worker says it answers; None for one that nobody can have meant."""
    if taken is None:
        return asked
    return taken if fitting.may_mean(asked, taken) else None


def with_words(asked: Asked, meant: Asked, found: Found | Refusal) -> Found | Refusal:
    """Say what of a question was taken as what: the broker's own words, whatever the worker said."""
    if isinstance(found, Refusal):
        return found
    if meant is asked or isinstance(asked, Inner) or isinstance(meant, Inner):
        return replace(found, taken=None)
    from fledgling.broker.spelling.others import differences  # noqa: PLC0415  (a command waits; as a rule there are none)

    return replace(found, taken=said("; ".join(differences(asked, meant))))
