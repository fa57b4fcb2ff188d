"""What a question that finds nothing may mean: a path, a name or a text that is spelled otherwise."""

import re
from collections.abc import Iterator
from functools import cache

import msgspec
from msgspec.structs import replace

from fledgling.broker.spelling.arguments import MAX_RESPELLED_CHARS, Taken, as_json
from fledgling.broker.spelling.commands import command
from fledgling.broker.spelling.table import PathRow, listed
from fledgling.broker.spelling.values import MAX_LEVELS, words_of
from fledgling.messages.questions import AnyQuestion, Explore, Read, Search, Symbols
from fledgling.plain import WILDCARD

_SLASHED = re.compile(r"/(.+)/[gimsu]*")  # an expression as JavaScript and sed write it
_ANY = re.compile(r"(?:\.|\\w|\[\w-]*\])[*+]|%")  # of an expression or of SQL, what a glob calls `*`
_CRATE = re.compile(r"(?!(?:std|core|alloc)::)[a-z_]\w*::(?=\w+::|[A-Z])")  # of Rust, whose files do not have its name
_PLACES = ("path", "language")  # which a text says where they are not given
_QUALIFIER = re.compile(r"\b(path|file|lang|language):(\S+)")  # of a query, as GitHub and Sourcegraph have it


@cache
def _paths() -> list[tuple[re.Pattern[str], PathRow]]:
    return [(re.compile(row.like, re.DOTALL), row) for row in listed().path]


@cache
def _symbols() -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(row.like), row.to) for row in listed().symbol]


def others(question: AnyQuestion, root: str = "/") -> Iterator[Taken]:
    """Yield what a question that finds nothing may mean, the likeliest first: a path and a name spelled otherwise.

    >>> [(other.question.path, other.question.start_line) for other in others(Read("a.py:7"))]
    [('a.py', 7), ('a/py', 7), ('', None)]
    """
    field = _name_field(question)
    name = getattr(question, field) if field else None
    names: list[dict[str, object]] = [{}]
    if field and name:
        is_text = isinstance(question, Search) and question.kind is None
        respelled = name.strip(" \t`'\"") if is_text else symbol(name)
        if is_text:
            names.append({field: respelled or name})
        else:
            last = respelled.rpartition(".")[2] if field == "name_pattern" else ""
            within = symbol(name[crate.end() :]) if field == "symbol" and (crate := _CRATE.match(name)) else ""
            names += [{field: each} for each in (respelled, last, within, *joined(respelled)) if each]
    names += _patterns_of_names(question)
    known = [question]
    for place in [{}, *_places(question, root), *_patterns(question), *_as_symbol(question)]:
        for meant in names:
            try:
                changed = {**msgspec.structs.asdict(question), **place, **meant}
                other = msgspec.convert(changed, type(question), strict=False)
            except msgspec.ValidationError:  # line 0
                continue
            if other not in known:
                known.append(other)
                yield Taken(other, differences(question, other))
    for each in known:
        for kin in _kin(each):
            yield Taken(kin, differences(question, kin))


def _kin(question: AnyQuestion) -> Iterator[AnyQuestion]:
    """Yield a question for a definition of a name with the kinds that other languages have for what it may be."""
    if isinstance(question, Search) or (isinstance(question, Symbols) and question.name_pattern):
        for kind in listed().kin.get(question.kind, ()) if question.kind else ():
            yield replace(question, kind=kind)


def _name_field(question: AnyQuestion) -> str | None:
    """Return the argument that names a definition, if there is one."""
    match question:
        case Read(symbol=str()) | Symbols(symbol=str()):
            return "symbol"
        case Symbols(name_pattern=str(pattern)) if not WILDCARD.search(pattern):
            return "name_pattern"
        case Search():
            return "query"
    return None


def symbol(name: str) -> str:
    """Return the name of a definition without what surrounds it: `symbol("func (t *T) m(x int)")` is `T.m`."""
    if len(name) > MAX_RESPELLED_CHARS:
        return name
    for like, to in _symbols():
        name = like.sub(to, name)
    return name


def joined(name: str) -> Iterator[str]:
    """Yield a name whose words are joined as other languages do: `get-url` as `get_url`, `getUrl`, `GetUrl`."""
    before, dot, last = name[:MAX_RESPELLED_CHARS].rpartition(".")
    words = words_of(last)
    if len(words) > 1:
        mark, _, end = last.partition(last.strip("_"))  # of what is private, or the language's own
        first, *rest = (f"{word[:1].upper()}{word[1:]}" for word in words)
        for each in ("_".join(words).lower(), "".join([words[0].lower(), *rest]), "".join([first, *rest])):
            yield f"{before}{dot}{mark}{each}{end}"


def _places(question: AnyQuestion, root: str) -> Iterator[dict[str, object]]:
    """Yield what the path of a question may mean, as arguments: each row goes on from the one before."""
    path = getattr(question, "path", None)
    if not path or len(path) > MAX_RESPELLED_CHARS:
        return
    meant: dict[str, object] = {"path": path.strip(" \t`'\"<>,;")}
    if meant["path"] != path:
        yield meant
    for like, row in _paths():
        while found := like.fullmatch(str(meant["path"])):
            groups = {name: found.expand(text) for name, text in row.to.items()}
            meant = {**meant, **{name: text for name, text in groups.items() if text and _may_be(question, name)}}
            if not row.often:
                break
        if meant["path"] != path:
            yield {**meant, "symbol": symbol(str(meant["symbol"]))} if "symbol" in meant else meant
    if path.startswith(f"{(project := root.rpartition('/')[2])}/"):
        yield {"path": path.removeprefix(f"{project}/")}  # as seen from above the root
    if isinstance(question, Explore) and (glob := WILDCARD.search(path)):
        place = path[: glob.start()].rpartition("/")[0]
        yield {"path": place, "pattern": path.removeprefix(f"{place}/"), "depth": MAX_LEVELS}
    if isinstance(question, Search | Symbols) and len(several := re.split(r"[,\s]+", path.strip())) > 1:
        yield {"path": "{" + ",".join(part.rstrip("/") for part in several) + "}"}


def _as_symbol(question: AnyQuestion) -> Iterator[dict[str, object]]:
    """Yield a path that is the name of a definition: `Engine.run`."""
    if isinstance(question, Read) and not (question.symbol or question.start_line or "/" in question.path):
        yield {"path": "", "symbol": symbol(question.path)}


def _patterns(question: AnyQuestion) -> Iterator[dict[str, object]]:
    """Yield what a pattern of file names may mean that has no wildcard: a name in any directory, or a part of one."""
    if isinstance(question, Explore) and question.pattern and not WILDCARD.search(question.pattern):
        yield {"pattern": f"**/{question.pattern}"}
        yield {"pattern": f"*{question.pattern}*"}


def _patterns_of_names(question: AnyQuestion) -> Iterator[dict[str, object]]:
    """Yield what a text or the pattern of a name may mean that is written as elsewhere."""
    if isinstance(question, Search) and question.kind is None and not question.is_regex:
        for meant in _texts(question.query[:MAX_RESPELLED_CHARS]):
            yield {name: value for name, value in meant.items() if name not in _PLACES or not getattr(question, name)}
    elif isinstance(question, Symbols) and (name := (question.name_pattern or "")[:MAX_RESPELLED_CHARS]):
        glob = _glob(name)
        if glob != name:
            yield {"name_pattern": glob}


def _texts(text: str) -> Iterator[dict[str, object]]:
    """Yield what a text may mean: `/a.*/`, `a OR b`, `rg -n 'a' src`, `*a*`, `a path:src`."""
    if found := _SLASHED.fullmatch(text):
        yield {"query": found[1], "regex": True}
    if len(parts := text.split(" OR ")) > 1:
        yield {"query": "|".join(re.escape(part.strip()) for part in parts), "regex": True}
    if meant := command(text):
        yield meant
    if text.strip("*") not in ("", text):
        yield {"query": text.strip("*")}
    if "\\|" in text:
        yield {"query": text.replace("\\|", "|"), "regex": True}
    if qualifiers := _QUALIFIER.findall(text):
        places = {"path" if name in ("path", "file") else "language": value for name, value in qualifiers}
        yield {"query": _QUALIFIER.sub("", text).strip(), **places}


def _glob(name: str) -> str:
    """Return the expression for a name, or a part of one, as a glob: `_glob("^get_")` is `get_*`, `/get/` `*get*`."""
    found = _SLASHED.fullmatch(name)
    expression = found[1] if found else name
    inner = expression.removeprefix("^").removesuffix("$")
    glob = _ANY.sub("*", inner)
    if not inner or (inner == name and ("%" in name or glob == name)):  # of SQL, or no expression
        return glob or name
    before, after = "*" * (not expression.startswith("^")), "*" * (not expression.endswith("$"))
    return re.sub(r"\*+", "*", f"{before}{glob}{after}")


def _may_be(question: AnyQuestion, name: str) -> bool:
    """Whether a path may say this argument, too: not what is given, nor lines beside a definition."""
    if name == "path":
        return True
    return isinstance(question, Read) and getattr(question, name) is None and question.symbol is None


def differences(asked: AnyQuestion, meant: AnyQuestion) -> tuple[str, ...]:
    """Say how one question was taken as another: `path "a.py:7" as "a.py"`, `start_line as 7`."""
    match asked, meant:
        case Symbols(path=str(path), name_pattern=None), Symbols(path=None, name_pattern=str(name)):
            return (f"path {as_json(path)} as the name {as_json(name)}",)
    both = [(name, getattr(asked, name), getattr(meant, name)) for name in asked.__struct_fields__]
    changed = [(name, old, new) for name, old, new in both if old != new]
    return tuple(
        f"{name}{f' {as_json(old)}' if old else ''} as {as_json('' if new is None else new)}"
        for name, old, new in changed
    )
