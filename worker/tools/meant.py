"""What a question means whose path or definition is not in the index as it is spelled: the only one it can mean.

A path may lack the directories before it or its extension, and a name those of its module; either may be in another
case. Where more than one could be meant, the refusal names them; where one of them comes first, the answer does.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from itertools import groupby
from typing import NamedTuple

from msgspec.structs import replace

from fledgling.messages.questions import AnyQuestion, Dependencies, Explore, Kind, Read, Search, Symbols
from fledgling.plain import by_depth
from fledgling.worker.deferred import deferred
from fledgling.worker.matching import globs
from fledgling.worker.of_tests import is_test
from fledgling.worker.store.symbols import CODES, DEFINITIONS, Outlines, Row
from fledgling.worker.store.text import File
from fledgling.worker.tools import paths, unknown, unlisted
from fledgling.worker.tools.empty_answers import of_symbols, ways_to
from fledgling.worker.tools.request import Refused, Request

_NAME = deferred(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")  # of a definition, also behind those of what it is in
IN_THIS_CASE = 3
SHOWN_MEANT = 10  # of several that may be meant
WORDS = ("section", "key")  # kinds that nothing calls: what documents and data say of a name
FIELDS = ("variable", "constant", "property")  # kinds of what objects have beside methods
VALUES = ("variable", "constant")  # kinds that are named after what is assigned: `const Reply = require("./reply")`


class Placed(NamedTuple):
    """A definition, and the file it is in."""

    file: File
    row: Row


class _Listed(NamedTuple):
    total: int
    row: int | None


class MeantQuestion(NamedTuple):
    """A question as it is meant, and in a sentence what else it may mean."""

    question: AnyQuestion
    others: str | None = None


def meant(request: Request, question: AnyQuestion) -> MeantQuestion:
    """Return the question with the path and the name that it means; as it is where those are in the index.

    >>> meant(request, Read("query.py")).question
    Read(path='django/db/models/query.py')
    """
    if isinstance(question, Explore) and question.pattern and not question.path:
        paths.check(request, question.pattern)
    if isinstance(question, Explore | Read | Search | Symbols | Dependencies) and question.path:
        paths.check(request, question.path)
        if isinstance(question, Symbols) and (name := _name_at(request, question, question.path)):
            return MeantQuestion(replace(question, path=None, name_pattern=name))
        path = _path(request, question, question.path)
        question = question if path == question.path else replace(question, path=path)
    if isinstance(question, Read) and question.symbol and request.outlines:
        inside = paths.inside(question.path)
        if not inside or (paths.is_there(request, inside) and not request.blocks.find(inside)):
            return _below(request, question, question.symbol, inside)
        question = _definition(request, question, question.symbol)
    elif isinstance(question, Symbols) and question.symbol and request.outlines:
        name = _last_name(request, question.symbol, words=False)
        question = question if name == question.symbol else replace(question, symbol=name)
    elif isinstance(question, Symbols) and question.name_pattern and request.outlines:
        name = _name(request, question.name_pattern)
        question = question if name == question.name_pattern else replace(question, name_pattern=name)
    return MeantQuestion(question)


def _name_at(request: Request, question: Symbols, asked: str) -> str | None:
    """Return the name of a definition that is `asked` for as a path, `Engine.run`; None where a path may be meant.

    A path that is spelled so comes first, be it indexed or not, then a name, then a path in another case, then such a
    name; but `res.send` before `test/res.send.js`, of which a directory and the extension are missing. A missing
    `main.go` is no `go`: what stands before a name must be what the definition is in.
    """
    outlines = request.outlines
    if not outlines or not _NAME.fullmatch(asked) or question.name_pattern or question.symbol:
        return None
    is_known = paths.is_there(request, asked) or unlisted.at(request, asked)
    if is_known or next(_alike(request, asked.replace(".", "/"))).files:
        return None
    alike = [bool(each.files or each.directories) for each in _alike(request, asked)]
    is_qualified = "." in asked
    if any(alike[: IN_THIS_CASE - is_qualified]):
        return None
    name = asked if any(alike) else _last_name(request, asked)
    return name if called(request, outlines, name, question.kind) else None


# ---- paths ----------------------------------------------------------------------------------------------------------


class _Alike(NamedTuple):
    """Files and directories whose path ends as was asked."""

    files: list[str]
    directories: list[str]


def _path(request: Request, question: AnyQuestion, path: str) -> str:
    asked = paths.inside(path)
    if not globs.plain(asked) or paths.is_there(request, asked):
        return path
    as_module = asked.replace("::", ".").replace(".", "/")
    if as_module != asked and "/" not in asked and next(_alike(request, as_module)).files:
        return path  # which the broker takes for the module, not for `docs/celery.app.task.rst`
    for alike in _alike(request, asked):
        places = alike.files
        if isinstance(question, Explore):
            places = alike.directories or alike.files
        elif isinstance(question, Search | Symbols):
            places = [*alike.files, *alike.directories]
            if len(alike.files) > 1 and all(f"/{file}".endswith(f"/{asked}") for file in alike.files):
                return f"**/{asked}"
        if isinstance(question, Read) and question.symbol:
            places = _defining(request, places, question.symbol) or places
        if len(places) == 1:
            return places[0]
        if places and not isinstance(question, Search | Symbols):
            raise _several(f"{asked!r} is the end of {len(places)} paths", places, "Give one of them as path.")
    return path


def _alike(request: Request, asked: str) -> Iterator[_Alike]:
    """Yield what is there but for an extension; what ends so, without and with an extension; both in another case.

    The first IN_THIS_CASE are spelled as was asked.
    """
    candidates = paths.matching(request, rf"(?i)(^|/){globs.literal(asked)}(\.[^./]+)?(/|$)")
    yield _Alike([path for path in candidates if _stem(path) == asked], [])
    exact = [path for path in candidates if f"/{path}".endswith(f"/{asked}")]
    yield _Alike(exact, _directories(candidates, asked))
    yield _Alike([path for path in candidates if f"/{_stem(path)}".endswith(f"/{asked}")], [])
    name = asked.lower()
    forms = ((path, (f"/{path.lower()}", f"/{_stem(path.lower())}")) for path in candidates)
    files = [path for path, two in forms if any(form.endswith(f"/{name}") for form in two)]
    directories = _directories(candidates, asked, any_case=True)
    yield _Alike(*([path for path in some if path.lower() == name] for some in (files, directories)))
    yield _Alike(files, directories)


def _stem(path: str) -> str:
    """Return a path without the extension of its file."""
    directories, slash, name = path.rpartition("/")
    return f"{directories}{slash}{name.rpartition('.')[0] or name}"


def _directories(candidates: Sequence[str], asked: str, *, any_case: bool = False) -> list[str]:
    """Return the directories of this name that paths are below, each once."""
    cased = str.lower if any_case else str
    wanted = f"/{cased(asked)}/"
    places = ((path, cased(f"/{path}").find(wanted)) for path in candidates)
    return [*dict.fromkeys(path[: place + len(asked)] for path, place in places if place >= 0)]


# ---- definitions ----------------------------------------------------------------------------------------------------


def named(rows: Iterable[Row], symbol: str) -> list[Row]:
    """Return the definitions that `Class.method` names: in full, or by the last parts of their qualified name."""
    return [row for row in rows if symbol == row.name or f".{row.qualified_name}".endswith(f".{symbol}")]


def _defining(request: Request, candidates: Sequence[str], symbol: str) -> list[str]:
    """Return which of some files define a name."""
    files = [file for file in map(request.blocks.find, candidates) if file]
    outlines = request.outlines
    return [file.path for file in files if outlines and placed(_all_of(file, outlines.definitions(file)), symbol)]


def _definition(request: Request, question: Read, symbol: str) -> Read:
    file = request.blocks.find(paths.inside(question.path))
    if not file or not request.outlines:
        return question  # which is refused
    rows = request.outlines.definitions(file)
    if named(rows, symbol):
        return question
    for found in (placed(_all_of(file, rows), symbol), placed(_all_of(file, rows), symbol, any_case=True)):
        names = {each.row.qualified_name for each in found}
        if len(names) == 1:
            return replace(question, symbol=names.pop())
    return question


def defines(outlines: Outlines, file: File, symbol: str) -> bool:
    """Return whether a file has a definition that a name may mean, as `read` takes it."""
    rows = outlines.definitions(file)
    return bool(named(rows, symbol) or placed(_all_of(file, rows), symbol, any_case=True))


def _all_of(file: File, rows: Sequence[Row]) -> list[Placed]:
    return [Placed(file, row) for row in rows]


def placed(defined: Sequence[Placed], symbol: str, *, any_case: bool = False) -> list[Placed]:
    """Return the definitions that a name means whose first parts may be of their path: `db.models.query.QuerySet`."""
    parts = symbol.casefold().split(".") if any_case else symbol.split(".")
    for count in range(len(parts)):
        place, name = parts[:count], ".".join(parts[count:])
        found = [
            each
            for each in defined
            if f".{_cased(each.row.qualified_name, any_case=any_case)}".endswith(f".{name}")
            and {*place} <= _parts(each.file.path, any_case=any_case)
        ]
        if found:
            return found
    return []


def called(request: Request, outlines: Outlines, name: str, kind: Kind | None) -> list[int]:
    """Return the rows of a name, or of the definitions that a qualified one means: `Engine.run`, `core.engine.Engine`.

    Where none is, of names that end so: `Stall.Basket` may be the module `Market.Stall.Basket`.

    >>> called(request, outlines, "Nope.run", None)
    []
    """
    numbers = outlines.named(name, kind)
    if numbers or "." not in name:
        return numbers
    numbers = outlines.named(name.rpartition(".")[2], kind)
    defined = [Placed(request.blocks.file(outlines.file_of(number)), outlines.row(number)) for number in numbers]
    meant_by = {*(placed(defined, name) or placed(defined, name, any_case=True))}
    found = [number for number, each in zip(numbers, defined, strict=True) if each in meant_by]
    return found or _listed(request, rf"(?i)\.{globs.literal(name)}$", kind)


def _parts(path: str, *, any_case: bool) -> set[str]:
    return {*_cased(path, any_case=any_case).replace(".", "/").split("/"), "crate"}


def _cased(text: str, *, any_case: bool) -> str:
    return text.casefold() if any_case else text


def code(found: list[Placed]) -> list[Placed]:
    """Return those of some definitions that are of code, if any are: what documents and data say is rarely meant."""
    return [each for each in found if each.row.kind not in WORDS] or found


def first_meant(found: list[Placed], symbol: str) -> list[Placed]:
    """Return those of some definitions that a name means before the others.

    In full, and then outside of tests; and a class before its constructor, `A` before `A.A`.
    """
    full = [each for each in found if each.row.qualified_name == symbol] or found
    first = [each for each in full if not is_test(each.file.path)] or full
    names = {each.row.qualified_name for each in first}
    return [each for each in first if each.row.qualified_name.rpartition(".")[0] not in names]


def others(found: Iterable[Placed]) -> str | None:
    """Say what else has a name: `Also of this name: B.run (b.py:7); give path or a qualified name.`"""
    places = _places(found)
    return f"Also of this name: {unknown.listed(places)}; give path or a qualified name to choose." if places else None


def _places(found: Iterable[Placed]) -> list[str]:
    return [f"{each.row.qualified_name} ({each.file.path}:{each.row.line_start})" for each in found]


def _below(request: Request, question: Read, symbol: str, directory: str) -> MeantQuestion:
    """Return the question with the path of the file in a directory that defines a name, and what else has that name."""
    asked = _last_name(request, symbol)
    name = asked.rpartition(".")[2]
    place = f"{directory}/" if directory else ""
    everything = all_named(request, asked, lambda file: file.path.startswith(place))
    known = code(placed(everything, symbol) or placed(everything, symbol, any_case=True))
    found = first_meant(known, symbol)
    files = [*dict.fromkeys(each.file.path for each in found)]
    is_code = placed(known, symbol) or any(each.row.kind not in WORDS for each in known)
    if not is_code and (owner := _owner(request, symbol, place)):
        return MeantQuestion(replace(question, path=owner), None)
    if not found:
        looked = of_symbols(request, Symbols(directory or None, name_pattern=name))
        alike = placed(everything, name) if name != symbol else []
        ways = f"{name!r} alone is {unknown.listed(_places(code(alike)))}." if alike else ways_to(request, symbol)
        raise Refused(
            "not_found",
            f"no file {f'in {place}' if place else 'of the index'} defines {symbol!r}",
            unknown.joined(looked, ways) or ways,
        )
    if len(files) > 1:
        budget = f", budget_tokens={question.budget_tokens}" if question.budget_tokens else ""
        first = min(found, key=lambda each: by_depth(each.file.path))
        example = f'read(path="{first.file.path}", symbol="{first.row.qualified_name}"{budget})'
        raise _several(f"{symbol!r} is defined in {len(files)} files", files, f"Give path, too: {example}.")
    names = {each.row.qualified_name for each in found}
    is_named = named([each.row for each in found], symbol)
    chosen = replace(question, path=files[0], symbol=symbol if is_named or len(names) > 1 else names.pop())
    return MeantQuestion(chosen, others(each for each in known if each.file.path != files[0]))


def _owner(request: Request, symbol: str, place: str) -> str | None:
    """Return the one file in a directory with the class of a member, which it may have from above."""
    files = {each.file.path for each in owning(request, symbol, lambda file: file.path.startswith(place))}
    return files.pop() if len(files) == 1 else None


def owning(request: Request, symbol: str, is_meant: Callable[[File], bool]) -> list[Placed]:
    """Return the classes that a member may be of: of `Engine.run` those called `Engine`, and no variable."""
    owner = symbol.rpartition(".")[0]
    known = placed(all_named(request, owner, is_meant), owner) if owner else []
    return first_meant(code([each for each in known if each.row.kind not in VALUES]), owner)


def all_named(request: Request, symbol: str, is_meant: Callable[[File], bool]) -> list[Placed]:
    """Return what the last part of a name may mean in the files that are meant, in the order of paths and lines.

    A name may have several parts itself, as those of modules have: of `Shop.Cart` all of it, or its end, `Cart`.
    """
    assert request.outlines
    names = dict.fromkeys((symbol, symbol.rpartition(".")[2]))
    found = [*_at(request, {row for name in names for row in request.outlines.named(name)}, is_meant)]
    if placed(found, symbol):
        return found
    alike = _at(request, {*_listed(request, rf"(?i)(^|\.){globs.literal(symbol)}$")}, is_meant)
    return sorted({*found, *alike}, key=lambda each: (each.file.number, each.row.line_start))


def _at(request: Request, rows: Set[int], is_meant: Callable[[File], bool]) -> Iterator[Placed]:
    assert request.outlines
    for number, some in groupby(sorted(rows), key=request.outlines.file_of):
        if is_meant(file := request.blocks.file(number)):
            yield from (Placed(file, request.outlines.row(row)) for row in some)


def _name(request: Request, name: str, *, words: bool = True) -> str:
    """Return the name that is meant by one in another case, if it is the only one and none ends in this.

    Without `words` it is none of what documents and data say.
    """
    assert request.outlines
    if not globs.plain(name) or request.outlines.defines(name):
        return name
    rows = request.rows("names_in_any_case", int, name=name, definitions=DEFINITIONS)
    listed = map(request.outlines.row, rows)
    names = {row.name for row in listed if words or row.kind not in WORDS}
    only = names.pop() if len(names) == 1 else name
    return only if only.casefold() == name.casefold() else name


def _listed(request: Request, name: str, kind: Kind | None = None) -> list[int]:
    """Return the rows of definitions whose names match an expression."""
    found = request.rows(
        "list_names",
        _Listed,
        first=None,
        last=None,
        name=name,
        path="",
        language=None,
        code=None if kind is None else CODES[kind],
        definitions=DEFINITIONS,
        max_results=None,
        offset=0,
    )
    return [row for _, row in found if row is not None]


def _last_name(request: Request, name: str, *, words: bool = True) -> str:
    """Return a name whose last part is the one that is meant by one in another case: `Engine.run` of `Engine.RUN`."""
    first, dot, last = name.rpartition(".")
    return f"{first}{dot}{_name(request, last, words=words)}"


def _several(reason: str, places: Sequence[str], next_step: str) -> Refused:
    """Return the refusal that names what may be meant, what is nearer to the root first."""
    nearest = sorted(places, key=by_depth)
    more = f" and {len(places) - SHOWN_MEANT} more" if len(places) > SHOWN_MEANT else ""
    return Refused("ambiguous", f"{reason}: {', '.join(nearest[:SHOWN_MEANT])}{more}", next_step)
