"""What a project puts in place of things outside it: `json.dumps = a`, `setattr(json, "dumps", a)`, and the like."""

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

from fledgling.worker.graph.effects.builtin_types import FileFacts
from fledgling.worker.graph.tables import NONE, Flag, Op, ScopeKind, Use, Write
from fledgling.worker.languages.python import effects as known

EVERYTHING = "*"  # all that is outside, but for what Python has built in
GIVEN = (Op.PARAMETER, Op.ELEMENT, Op.ITEM)  # what may be any text
NAMED = {Op.NAME: 0, Op.GET: 1}  # which of its parts is the name
MAX_WAYS = 64  # expressions that one may be: each that sets something has them looked at


def replaced(files: Mapping[int, FileFacts]) -> frozenset[str]:
    """Return what the project puts in place of things outside: `json.dumps = a` is `json.*`, of which more may call it.

    Of what is put into nobody knows what, it is the name alone: `def patch(module): module.dumps = a`.
    """
    found: set[str] = set()
    for file in files.values():
        expressions = file.facts.expressions
        found.update(file.name(name) for name, _ in file.facts.replaced)
        for write in file.facts.writes:
            found.update(_by_key(file, write) if write.name == NONE else ())
        for site in file.sites:  # `a.b = c`, `a.b += c`, `del a.b`
            op, *parts = expressions[site.at] if site.use == Use.WRITE else (Op.TEXT,)
            found.update(_by_name(file, parts[0], parts[1]) if op == Op.GET else ())
        for op, *parts in expressions if known.SETTING & {*file.facts.names} else ():
            found.update(_by_call(file, *parts) if op == Op.CALL else ())
    return frozenset(found)


def patched(files: Mapping[int, FileFacts]) -> frozenset[str]:
    """Return the names of what tests patch that may be the project's own: `run` of `patch("core.run")`."""
    found: set[str] = set()
    for file in files.values():
        for op, *parts in file.facts.expressions if known.SETTING & {*file.facts.names} else ():
            for of, text in _patches(file, *parts) if op == Op.CALL else ():
                if not known.PURE & {text, *(f"{full}.{text}" for full in _dotted(file, of))}:
                    found.add(text.rpartition(".")[2])
    return frozenset(found)


def may_change_names(names: Iterable[str]) -> bool:
    """Whether a file that names these may change the names of a module."""
    return not known.TELLING.isdisjoint(names)


def with_unseen_names(files: Mapping[int, FileFacts], paths: Mapping[int, str]) -> frozenset[int]:
    """Return the files whose names may be others than they say: `globals().update(a)`, `b.__dict__[c] = d` of a file b.

    Of these `files`, and of all whose `paths` are given: those that other ones change.

    A file that does more with its own names than read one may give them to who changes them: `names = globals()`.
    """
    unseen = {number for number, file in files.items() if _gives_its_names_away(file)}
    modules = {module for file in files.values() for module in _changed_modules(file)}
    return frozenset(unseen | {number for number, path in paths.items() if modules and _module(path) in modules})


def _gives_its_names_away(file: FileFacts) -> bool:
    named = {*file.facts.names}
    expressions = file.facts.expressions
    if "modules" in named and _sets_own(file):
        return True
    if "exec" in named and any(_executes(file, parts) for op, *parts in expressions if op == Op.CALL):
        return True
    if "__dict__" not in named and known.NAMESPACES.isdisjoint(known.BUILTIN + name for name in named):
        return False
    local = {site.at for site in file.sites if site.use == Use.CALL and file.function(site.scope) != NONE}
    own = {
        at
        for at, (op, *parts) in enumerate(expressions)
        if op in (Op.CALL, Op.GET) and None in _namespaces(file, at)
        if not (op == Op.CALL and at in local and _built_in(file, parts[0]) in known.LOCAL_NAMESPACES)
    }
    facts = file.facts
    return bool(own) and (
        any(_gives(file, expression, own) for expression in expressions)
        or any(binding.value in own for binding in facts.bindings)
        or any(write.value in own or (write.of in own and not _is_text(file, write.key)) for write in facts.writes)
        or any(own & {*scope.returned, *scope.yielded} for scope in facts.scopes)
        or any(parameter.default in own for scope in facts.scopes for parameter in scope.parameters)
    )


def _sets_own(file: FileFacts) -> bool:
    """Return whether a file sets names of its own module, `sys.modules[__name__].a = b`, or puts another there."""
    expressions = file.facts.expressions
    put_into = [write.of for write in file.facts.writes if write.name != NONE]
    calls = [parts for op, *parts in expressions if op == Op.CALL and parts[1] and parts[1][0] >= 0]
    put_into += [arguments[0] for called, arguments, _ in calls if _built_in(file, called) in known.SETTERS]
    is_another = any(
        write.name == NONE and file.dotted(write.of) == "sys.modules" and _names_own(file, write.key)
        for write in file.facts.writes
    )
    return is_another or any(_unless_own(file, way) is None for at in put_into for way in _ways(file, at))


def _executes(file: FileFacts, call: Sequence[Any]) -> bool:
    """Return whether a call runs a text among the names of the file itself: `exec(text)`."""
    called, arguments, named = call
    return _built_in(file, called) == known.BUILTIN + "exec" and len(arguments) + len(named) < 2


def _gives(file: FileFacts, expression: Sequence[Any], own: Set[int]) -> bool:
    """Return whether an expression hands on the names of a file, or takes a method that changes them."""
    op, *parts = expression
    if op == Op.GET:
        return parts[0] in own and file.name(parts[1]) not in known.READING_NAMES
    if op in (Op.CALL, Op.NEW):
        called, arguments, named = parts
        given = {*arguments, *(value for _, value in named)}  # `f(**globals())` copies them
        return bool(own & given) and _built_in(file, called) not in known.READERS
    if op in (Op.LIST, Op.TUPLE, Op.CHOICE):
        return bool(own & {*parts[0]})
    if op == Op.DICT:
        return any(value in own for key, value in parts[0] if key != NONE)
    return op in (Op.DECLARED, Op.NARROWED, Op.CAST) and bool(own & {*parts})


def _changed_modules(file: FileFacts) -> Iterator[str]:
    """Yield what modules are called of which a name that is not seen is changed: `a.b` and `b` are both `b`."""
    if not {"__dict__", "vars"} & {*file.facts.names}:
        return
    expressions = file.facts.expressions
    changed = [write.of for write in file.facts.writes if write.name == NONE and not _is_text(file, write.key)]
    changed += [parts[0] for op, *parts in expressions if op == Op.GET and file.name(parts[1]) in known.CHANGING_NAMES]
    for at in changed:
        ways = {way for of in _namespaces(file, at) if of is not None for way in _ways(file, of)}
        for way in ways:
            op, *parts = expressions[way]
            if op == Op.IMPORT:
                row = file.facts.imports[parts[0]]
                yield row.name or row.module.rpartition(".")[2]
            elif op == Op.GET:  # `import a.b` gives `a`
                yield file.name(parts[1])


def _module(path: str) -> str:
    stem = posixpath.splitext(path)[0]
    return posixpath.basename(stem.removesuffix("/__init__"))


def _is_text(file: FileFacts, at: int) -> bool:
    return at != NONE and file.facts.expressions[at][0] == Op.TEXT


def _of_module(file: FileFacts, at: int, name: str) -> Iterator[str]:
    """Yield what is replaced where a name is set in an expression, if that is something outside."""
    ways, are_all = _walk(file, at)
    if not are_all:
        yield name
    for way in ways:
        if above := file.dotted(way):
            above = known.BUILTIN.rstrip(".") if above == known.BUILTINS else above
            module = above.partition(".")[0]
            is_single = f"{module}." == known.BUILTIN and (name or above != module)
            yield f"{above}.{name}" if is_single else f"{module}.*"


def _by_name(file: FileFacts, of: int, name: int) -> Iterator[str]:
    """Yield what `of.name = a` replaces: in what is not the project's own it may be anybody's name."""
    modules = [*_of_module(file, of, file.name(name))]
    yield from modules
    if not modules and not _is_own(file, of):
        yield file.name(name)


def _by_key(file: FileFacts, write: Write) -> Iterator[str]:
    """Yield what is replaced by its text: `globals()["sorted"] = a`, `vars(a)["b"]`, `sys.modules["a"]`."""
    op, *parts = file.facts.expressions[max(write.key, 0)]
    name = file.name(parts[0]) if op == Op.TEXT else ""
    is_given = any(file.facts.expressions[way][0] in GIVEN for way in _ways(file, max(write.key, 0)))
    if file.dotted(write.of) == "sys.modules":
        yield f"{name.partition('.')[0]}.*" if name else ""
        yield EVERYTHING if is_given else ""
    for of in _namespaces(file, write.of):
        yield name
        yield from () if of is None else _of_module(file, of, name)


def _by_call(file: FileFacts, called: int, arguments: Sequence[int], named: Sequence[tuple[int, int]]) -> Iterator[str]:
    """Yield what a call replaces: `setattr(a, "b", c)`, `a.__setattr__("b", c)`, `vars(a).update(b=c)`."""
    for way in _ways(file, called):
        op, *parts = file.facts.expressions[way]
        method = file.name(parts[1]) if op == Op.GET else ""
        if method in known.SETTING_METHODS or file.dotted(way) in known.SETTERS:
            given = [*(parts[:1] if method else ()), *(max(each, 0) for each in arguments)]
            names = [file.name(text[1]) for each in given if (text := file.facts.expressions[each])[0] == Op.TEXT]
            yield from names
            for each in given:
                yield from _of_module(file, each, names[0] if names else "")
        elif method in known.CHANGING_NAMES:
            for of in _namespaces(file, parts[0]):
                yield from () if of is None else _of_module(file, of, "")
    for of, text in _patches(file, called, arguments, named):
        yield from _by_patch(file, of, text)


def _is_patch(file: FileFacts, called: int) -> bool:
    """Return whether a call is one of `patch`, `mock.patch`, `mocker.patch` or `patch.object`."""
    op, *parts = file.facts.expressions[called]
    name = file.name(parts[NAMED[op]]) if op in NAMED else ""
    return name == "patch" or (name == "object" and op == Op.GET and _is_patch(file, parts[0]))


def _patches(
    file: FileFacts, called: int, arguments: Sequence[int], named: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, str]]:
    """Yield what a test replaces by a call: a text, and the expression of whose name that is, or of the text itself.

    `patch("json.dumps")`, `patch.object(json, attribute="dumps")`, `patch.multiple("json", dumps=a)`.
    """
    by_name = {file.name(name): max(value, 0) for name, value in named}
    for way in _ways(file, called):
        op, *parts = file.facts.expressions[way]
        if op == Op.GET and file.name(parts[1]) == "multiple" and _is_patch(file, parts[0]):
            yield from ((0, name) for name in by_name)
        elif _is_patch(file, way) or (op == Op.GET and file.name(parts[1]) in known.PATCHING_METHODS):
            given = [max(each, 0) for each in arguments[:2]]
            given += [by_name.get("target", 0)] * (not given)
            given += [by_name.get("attribute", by_name.get("name", 0))] * (len(given) == 1)
            texts = [text[1] for each in given if (text := file.facts.expressions[each])[0] == Op.TEXT]
            yield from ((given[0], file.name(text)) for text in texts[:1])


def _by_patch(file: FileFacts, of: int, text: str) -> Iterator[str]:
    """Yield the one function that a test replaces.

    Of another module, which may have it by an import, it is the name alone: `patch("core.dumps")`.
    """
    if not _is_own(file, of):
        above = _dotted(file, of)
        yield from (f"{full}.{text}" for full in above)
        if not above:
            yield text if text in known.PURE else text.rpartition(".")[2]


def _dotted(file: FileFacts, at: int) -> list[str]:
    """Return the full names of what an expression may be outside the project."""
    return [full for way in _ways(file, at) if (full := file.dotted(way))]


def _namespaces(file: FileFacts, at: int) -> set[int | None]:
    """Return of what an expression may be the names: `vars(a)`, `a.__dict__`, and None of `globals()`."""
    found: set[int | None] = set()
    for way in _ways(file, at):
        op, *parts = file.facts.expressions[way]
        if file.dotted(way) == known.BUILTINS:
            found.add(way)
        elif op == Op.CALL and _built_in(file, parts[0]) in known.NAMESPACES:
            found.add(_unless_own(file, max(parts[1][0], 0)) if parts[1] else None)
        elif op == Op.GET and file.name(parts[1]) == "__dict__":
            found.add(_unless_own(file, parts[0]))
    return found


def _built_in(file: FileFacts, at: int) -> str | None:
    """Return the full name of what is outside, also of what Python has built in where a star may have put another."""
    op, *parts = file.facts.expressions[at]
    is_free = op == Op.NAME and parts[1] == NONE
    return known.BUILTIN + file.name(parts[0]) if is_free else file.dotted(at)


def _unless_own(file: FileFacts, at: int) -> int | None:
    """Return an expression, and None where it is the module of the file itself: `sys.modules[__name__]`."""
    op, *parts = file.facts.expressions[at]
    if op != Op.INDEX or file.dotted(parts[0]) != "sys.modules":
        return at
    return None if _names_own(file, parts[1]) else at


def _names_own(file: FileFacts, at: int) -> bool:
    """Return whether an expression is the name of the file's own module: `__name__`."""
    op, *parts = file.facts.expressions[max(at, 0)]
    return op == Op.NAME and file.name(parts[0]) == "__name__"


def _ways(file: FileFacts, at: int) -> list[int]:
    """Return an expression and, of a name, its values: of what a loop goes over, what stands there."""
    return _walk(file, at)[0]


def _walk(file: FileFacts, at: int) -> tuple[list[int], bool]:
    """Return what an expression may be, and whether that is all."""
    found = dict.fromkeys([(at, 0)])  # each with the loops that it was reached through
    waiting = [*found]
    for way, loops in waiting:
        op, *parts = file.facts.expressions[way]
        if op == Op.NAME:
            more = [(value, loops) for value in file.values((op, *parts))]
        elif op == Op.ELEMENT:
            more = [(parts[0], loops + 1)]
        else:
            more = [(item, loops - 1) for item in parts[0]] if op in (Op.LIST, Op.TUPLE) and loops else []
        new = [each for each in dict.fromkeys(more) if each[0] >= 0 and each not in found]
        found.update(dict.fromkeys(new))
        waiting += new
        if len(waiting) > MAX_WAYS:
            break
    return [way for way, loops in waiting[:MAX_WAYS] if not loops], len(waiting) <= MAX_WAYS


def _is_own(file: FileFacts, at: int) -> bool:
    """Return whether an expression is the project's own: a class, a function, the first parameter of a method."""
    op, *parts = file.facts.expressions[at]
    scopes = file.facts.scopes
    values = file.values((op, *parts)) if op == Op.NAME else []
    for value in values:
        made, *of = file.facts.expressions[max(value, 0)]
        if made in (Op.CLASS, Op.FUNCTION):
            continue
        if made != Op.PARAMETER or of[1] or scopes[of[0]].flags & Flag.STATIC:
            return False
        if scopes[scopes[of[0]].parent].kind != ScopeKind.CLASS:
            return False
    return bool(values)
