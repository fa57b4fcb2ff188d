"""One question of an agent, answered as it was meant: in other spellings, and with a way on where nothing is found."""

import posixpath
from collections.abc import Awaitable, Callable, Collection

from msgspec.structs import replace

from fledgling.broker.protocol import tools
from fledgling.broker.protocol.render import asking
from fledgling.broker.spelling.arguments import Taken
from fledgling.broker.spelling.others import others
from fledgling.broker.spelling.wider import Wider, wider
from fledgling.messages.answers import AnyAnswer, Excerpt, Hits, Refusal, SymbolList
from fledgling.messages.questions import AnyQuestion, Dependencies, Read, Search, Symbols, name_of
from fledgling.plain import counted, said
from fledgling.refusals import NO_DEFINITION, NO_FILE

MAX_WAYS = 2  # that are named where nothing was found

Ask = Callable[[AnyQuestion], Awaitable[AnyAnswer | Refusal]]


async def answered(meant: Taken, ask: Ask, allowed: Collection[str], root: str) -> AnyAnswer | Refusal:
    """Return the answer to what was meant, with what was taken as what.

    `allowed` are the tools of the profile, and `root` is the path of the project.
    """
    found, words = await ask(meant.question), meant.words
    if _is_meant(found):
        return _with_words(found, words)
    if isinstance(found, Refusal) and found.kind == "denied":
        return _with_words(await _below(meant.question, found, ask), words)
    best = found if isinstance(found, Refusal) else None
    for other in () if _is_several(found) else others(meant.question, root):
        again = await ask(other.question)
        if _is_meant(again) or (isinstance(found, Refusal) and not isinstance(again, Refusal)):
            return _with_words(again, (*words, *other.words))
        if isinstance(again, Refusal) and (_is_several(again) or _is_nearer(again, best)):
            best = again  # which names what may be meant, or a file that is there and lacks the definition
        if _is_several(again):
            break
    if isinstance(found, Refusal):
        return _with_words(await _elsewhere(meant.question, best or found, ask), words)
    return _with_words(await _with_ways(meant.question, found, ask, allowed), words)


def _is_meant(found: AnyAnswer | Refusal) -> bool:
    """Return whether a question was about something that there is, even where it is refused: line 90 of 80."""
    if isinstance(found, Refusal):
        return found.kind not in ("not_found", "ambiguous", "denied")
    return not tools.is_empty(found)


def _is_several(found: AnyAnswer | Refusal) -> bool:
    """Return whether a name or path is there more than once: no other spelling of it is what was meant."""
    return isinstance(found, Refusal) and found.kind == "ambiguous"


def _is_nearer(again: Refusal, best: Refusal | None) -> bool:
    return best is not None and best.reason.startswith(NO_FILE) and again.reason.startswith(NO_DEFINITION)


async def _below(question: AnyQuestion, refused: Refusal, ask: Ask) -> Refusal:
    """Say what there is at a path if the root is taken for `/`, as some clients show it, and at `src/../docs`."""
    path = str(getattr(question, "path", ""))
    plain = posixpath.normpath(path).lstrip("/")
    if plain in ("", ".", path) or plain.split("/")[0] == "..":
        return refused
    below = replace(question, path=plain)
    found = await ask(below)
    if isinstance(found, Refusal) or (tools.is_empty(found) and not isinstance(question, Dependencies)):
        return refused
    return replace(refused, next_step=said(f"Perhaps you mean {asking(below)}. {refused.next_step}"))


async def _elsewhere(question: AnyQuestion, refused: Refusal, ask: Ask) -> Refusal:
    """Say where a definition is that is not in the file that was named."""
    if not (isinstance(question, Read) and question.path and question.symbol and refused.kind == "not_found"):
        return refused
    found = await ask(Read(symbol=question.symbol))
    if isinstance(found, Excerpt):
        there = asking(Read(found.path, symbol=question.symbol))
        return replace(refused, next_step=said(f"It is in another file: {there}. {refused.next_step}"))
    if isinstance(found, Refusal) and found.kind == "ambiguous":
        return replace(refused, next_step=said(f"Elsewhere, {found.reason}. {refused.next_step}"))
    return refused


async def _with_ways(question: AnyQuestion, found: AnyAnswer, ask: Ask, allowed: Collection[str]) -> AnyAnswer:
    """Say what wider questions find, and how they are asked."""
    ways: list[str] = []
    for each in wider(question):
        if len(ways) < MAX_WAYS and name_of(type(each.question)) in allowed and (way := await _way(each, ask)):
            ways.append(way)
    return replace(found, note=said(" ".join(filter(None, (found.note, *ways))))) if ways else found


async def _way(each: Wider, ask: Ask) -> str | None:
    """Return what a wider question finds: `As text: 3 hits, search(query="x").`"""
    assert isinstance(each.question, Search | Symbols)
    narrow = await ask(replace(each.question, max_results=1))
    if not isinstance(narrow, Hits | SymbolList) or not narrow.total:
        return None
    least = "at least " if narrow.total_is_lower_bound else ""
    things = counted(narrow.total, "hit" if isinstance(narrow, Hits) else "definition")
    return f"{each.words[0].upper()}{each.words[1:]}: {least}{things}, {asking(each.question)}."


def _with_words(found: AnyAnswer | Refusal, words: tuple[str, ...]) -> AnyAnswer | Refusal:
    if not words:
        return found
    if isinstance(found, Refusal):
        return replace(found, reason=said(f"{found.reason.rstrip('.')} (taken: {'; '.join(words)})"))
    known = (found.taken,) if found.taken else ()
    return replace(found, taken=said("; ".join((*words, *known))))
