"""Paths of one project as paths of the tree that several are in, and back.

Where a message holds a path is known from its type: whatever field is a Path or a Place is one, in a tool of tomorrow
too. Sentences hold paths as well; they are not changed, and say of which project they speak.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from msgspec import Struct
from msgspec.structs import replace

from fledgling.messages.answers import AnyAnswer, Context, Next
from fledgling.messages.bounded import Path, Place
from fledgling.messages.questions import AnyQuestion, Search, Symbols
from fledgling.plain import said

S = TypeVar("S", bound=Struct)
Change = Callable[[Any, str], Any]  # a value, and the name of its project with a `/` behind it

_ANYWHERE = re.compile(r"\*\*/|[^/]*\Z")  # a glob that holds in any directory: `**/x.py`, `*.py`


class ProjectPart(NamedTuple):
    """What of a question is one project's: its name, and the question as it is put there."""

    project: str
    question: AnyQuestion


@dataclass(frozen=True)
class Parts:
    """What of a question is whose: the projects that it is about, in their order, and the question as each is asked."""

    projects: Sequence[str]
    question: AnyQuestion
    is_named: bool = False  # its path begins with the one project
    is_all: bool = False  # they are all that there are

    def __iter__(self) -> Iterator[ProjectPart]:
        """Yield the part of each project."""
        return (ProjectPart(name, self.question) for name in self.projects)

    def __len__(self) -> int:
        """Return how many projects it is about."""
        return len(self.projects)


def parts(question: AnyQuestion, projects: Sequence[str]) -> Parts:
    """Return what of a question is whose; it has no parts where its path is in no project.

    >>> [*parts(Search("timeout", path="api/src"), ["api", "web"])]
    [ProjectPart(project='api', question=Search(query='timeout', path='src', ...))]
    """
    path = _path(question)
    is_filter = isinstance(question, Search | Symbols)
    first, _, rest = path.partition("/")
    if first and first in projects:
        return Parts([first], replace(question, path=rest or (None if is_filter else "")), is_named=True)
    if not path or (is_filter and _ANYWHERE.match(path) and any(c in path for c in "*?[{")):
        return Parts(projects, question, is_all=True)
    if not is_filter or not any(c in first for c in "*?[{"):
        return Parts([], question)
    return Parts([name for name in projects if fnmatchcase(name, first)], replace(question, path=rest or None))


def top(question: AnyQuestion) -> str:
    """Return the first name of a question's path, which is a project's if the path is in one: `api` of `./api/src`."""
    return _path(question).partition("/")[0]


def _path(question: AnyQuestion) -> str:
    return str(getattr(question, "path", None) or "").removeprefix("./")


def within(found: AnyAnswer, project: str) -> AnyAnswer:
    """Return an answer of a project with the paths of the tree: `src/a.py` is `api/src/a.py`.

    >>> within(Excerpt("a.py", "python", 1, ["x = 1"], 1), "api").path
    'api/a.py'
    """
    placed = _within(found, f"{project}/")
    if isinstance(placed, Context):  # whose text names others
        note = f"Paths in the text are relative to {project}/. {placed.note or ''}"
        return replace(placed, note=said(note.rstrip()))
    return placed


def _within(found: S, prefix: str) -> S:
    changed = {}
    for field, change in _changes(type(found)).items():
        value = getattr(found, field)
        if value is not None:
            changed[field] = change(value, prefix)
    return replace(found, **changed) if changed else found


def _next(call: Next, prefix: str) -> Next:
    path = str(call.arguments.get("path") or "")
    return Next(call.tool, {**call.arguments, "path": f"{prefix}{path}".removesuffix("/")})


@cache
def _changes(kind: type[Struct]) -> Mapping[str, Change]:
    """Return how each field of a Struct is changed, but for those that hold no path."""
    hints = get_type_hints(kind, include_extras=True)
    found = {field: _change(hints[field]) for field in kind.__struct_fields__}
    changes = {field: change for field, change in found.items() if change}
    for field in {"note", "account", "taken"} & hints.keys():
        changes[field] = lambda sentence, prefix: said(f"{prefix} {sentence}")
    return changes


def _change(hint: Any) -> Change | None:
    """Return how a value of a type is changed; None where it can hold no path."""
    if hint in (Path, Place):
        return lambda path, prefix: f"{prefix}{path}"
    if hint is Next:
        return _next
    if isinstance(hint, type) and issubclass(hint, Struct):
        return _within if _changes(hint) else None
    if get_origin(hint) is Annotated:
        return _change(get_args(hint)[0])
    inner = [change for part in get_args(hint) if (change := _change(part))]
    if not inner:
        return None
    assert len(inner) == 1, f"{hint} holds paths in more than one way"
    [change] = inner
    if get_origin(hint) in (list, tuple):
        return lambda values, prefix: type(values)(change(value, prefix) for value in values)
    if get_origin(hint) is dict:
        assert _change(get_args(hint)[0]) is None, f"{hint} has paths as its keys"
        return lambda values, prefix: {key: change(value, prefix) for key, value in values.items()}
    return change  # of a union, which is with None
