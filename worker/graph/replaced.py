"""What a project puts in place of things outside it: `json.dumps = a`, `setattr(json, "dumps", a)`, and the like."""

from collections.abc import Iterator, Mapping, Sequence

from fledgling.worker.graph.builtin_types import FileFacts
from fledgling.worker.graph.tables import NONE, Flag, Op, ScopeKind, Write
from fledgling.worker.languages.python import effects as known


def replaced(files: Mapping[int, FileFacts]) -> frozenset[str]:
    """Return what the project puts in place of things outside: `json.dumps = a` is `json.*`, of which more may call it.

    Of what is put into nobody knows what, it is the name alone: `def patch(module): module.dumps = a`.
    """
    found: set[str] = set()
    for file in files.values():
        expressions = file.facts.expressions
        found.update(map(file.name, file.facts.replaced))
        for write in file.facts.writes:
            found.update(_by_key(file, write) if write.name == NONE else _by_name(file, write.of, write.name))
        for each in file.facts.augmented:
            op, *parts = expressions[each.of]
            found.update(_by_name(file, parts[0], parts[1]) if op == Op.GET else ())
        for op, *parts in expressions if known.SETTING & {*file.facts.names} else ():
            found.update(_by_call(file, parts[0], parts[1]) if op == Op.CALL else ())
    return frozenset(found)


def _of_module(file: FileFacts, at: int, name: str) -> Iterator[str]:
    """Yield what is replaced where a name is set in an expression, if that is something outside."""
    for way in _ways(file, at):
        if above := file.dotted(way):
            module = above.partition(".")[0]
            yield f"{above}.{name}" if f"{module}." == known.BUILTIN else f"{module}.*"


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
    if file.dotted(write.of) == "sys.modules":
        yield f"{name.partition('.')[0]}.*"
    for way in _ways(file, write.of):
        is_names, of = _namespace(file, way)
        if is_names:
            yield name
            yield from () if of is None else _of_module(file, of, name)


def _by_call(file: FileFacts, called: int, arguments: Sequence[int]) -> Iterator[str]:
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
        elif method in known.PUTTING:
            is_names, of = _namespace(file, parts[0])
            yield from _of_module(file, of, "") if is_names and of is not None else ()


def _namespace(file: FileFacts, at: int) -> tuple[bool, int | None]:
    """Return whether an expression is the names of something, and of what: `vars(a)`, `a.__dict__`, `globals()`."""
    for way in _ways(file, at):
        op, *parts = file.facts.expressions[way]
        if op == Op.CALL and file.dotted(parts[0]) in known.NAMESPACES:
            return True, max(parts[1][0], 0) if parts[1] else None
        if op == Op.GET and file.name(parts[1]) == "__dict__":
            return True, parts[0]
    return False, None


def _ways(file: FileFacts, at: int) -> list[int]:
    """Return an expression and, of a name, its values."""
    op, *parts = file.facts.expressions[at]
    return [at, *(value for value in file.values((op, *parts)) if value >= 0)] if op == Op.NAME else [at]


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
