"""What the dependencies tool does not know: imports that were missed or are made at run time, and uses without one."""

from collections.abc import Iterable, Iterator, Sequence, Set

from fledgling.messages.answers import Import, Importer
from fledgling.messages.questions import Dependencies
from fledgling.worker.matching import globs, prefilter
from fledgling.worker.matching import lines as matching
from fledgling.worker.store.text import File
from fledgling.worker.tools import packages, unknown
from fledgling.worker.tools.left_out_imports import left_out
from fledgling.worker.tools.own_modules import OwnModules
from fledgling.worker.tools.request import Request

_NO_NAMES = frozenset({"module", "import", "export", "macro", "section", "key", "selector"})  # that others do not name
NAMESPACE = "namespace"  # that is loaded by its name: the innermost modules of a file without the other kinds
UNKNOWN = "a file of an unknown language"
MOST_NAMES = 100  # of a file that are looked for: few files define more, and those are used by one of the first
MOST_BLOCKS = 1000  # of 4 kB that are looked at for what is loaded by its name: some 30 ms, and files enough for a hint


def note(request: Request, file: File, question: Dependencies, edges: Sequence[Import | Importer]) -> str | None:
    """Say what is not known of the imports and importers of a file, beside the edges that were found."""
    sentences: list[str | None] = [request.partial]
    sentences.append(_only_used(request, file) if edges else _nothing(request, file, question))
    if question.direction != "imported_by":
        imports = [edge for edge in edges if isinstance(edge, Import)]
        sentences += [
            left_out(request, file, imports),
            _nested(request, file, imports),
            _of_links(request, file, imports),
        ]
        sentences += _of_imports(request, file, {edge.line for edge in imports if edge.unresolved != "external"})
    if question.direction != "imports":
        known = {edge.path for edge in edges if isinstance(edge, Importer)}
        sentences += _of_importers(request, file, known)
    return unknown.joined(*sentences)


def _nothing(request: Request, file: File, question: Dependencies) -> str:
    """Say that nothing was found, or that nothing could be."""
    if file.skip_reason and question.direction != "imported_by":
        return f"The content of {file.path} is not in the index ({file.skip_reason}), so its imports are not known."
    if not unknown.family(request, file):
        language = file.language or UNKNOWN
        is_code = file.language in request.opened.generation.undefined
        filename = file.path.rpartition("/")[2]
        name = next(iter(_names(request, file)), filename.partition(".")[0] if is_code else filename)
        return f'Imports are not extracted from {language}: search(query="{name}") finds what uses it by name.'
    found = {
        "imports": f"No import was found in {file.path} ({file.language}).",
        "imported_by": f"No import was found that leads to {file.path}.",
        "both": f"No import was found in {file.path} ({file.language}), and none that leads to it.",
    }
    return found[question.direction]


def _only_used(request: Request, file: File) -> str | None:
    """Say that a file which others import may import some, too: one of Cython."""
    is_code = file.language is None or file.language in request.opened.generation.undefined
    is_known = not is_code or unknown.family(request, file)
    return None if is_known else f"Imports are not extracted from {file.language or UNKNOWN}."


def _of_links(request: Request, file: File, links: Sequence[Import]) -> str | None:
    """Say which links of a document lead nowhere, and which may: where the root of a site is, no document says."""
    if file.language not in request.opened.generation.documents:
        return None
    dead = sorted({link.line for link in links if link.unresolved == "not found"})
    of_site = sorted({link.line for link in links if link.unresolved == "external"})
    return unknown.joined(
        f"Links to what is not in the index: line {unknown.listed([*map(str, dead)])}." if dead else None,
        f"Not looked at: links from a site's root or by an alias, line {unknown.listed([*map(str, of_site)])}."
        if of_site
        else None,
    )


def _of_imports(request: Request, file: File, followed: Set[int]) -> Iterator[str | None]:
    """Yield what is not known of the imports of a file, of which those on some lines were `followed`."""
    yield unknown.of_parsing(request, [file], "imports may be missing")
    modules = request.opened.generation.modules.get(file.language or "")
    lines = [line for line in _lines(request, file, modules.run_time if modules else "") if line not in followed]
    if lines:
        yield f"Imports at run time are not followed: line {unknown.listed([*map(str, lines)])}."
    apart = [str(line) for line in _lines(request, file, _declaring(request, file, r"\w+")) if line not in followed]
    if apart and unknown.is_whole(request, file):
        yield f"Modules declared within a macro (or a comment) are not followed: line {unknown.listed(apart)}."


def _nested(request: Request, file: File, imports: Iterable[Import]) -> str | None:
    """Say what is not found and below a package of the project, which is the project's or not."""
    modules, own = request.opened.generation.modules.get(file.language or ""), OwnModules(request)
    said: dict[str, None] = {}
    for each in imports:
        if each.unresolved == "not found" and (package := own.beside(file.path, modules, each.module)):
            said[f"line {each.line} (below {package})"] = None
    return f"Generated, built, left out, or of another project: {unknown.listed([*said])}." if said else None


def _declaring(request: Request, file: File, name: str) -> str:
    """Return what matches where a module of a name is declared, in the language of a file; empty where none is."""
    modules = request.opened.generation.modules.get(file.language or "")
    return modules.declares.replace("NAME", name) if modules else ""


def _lines(request: Request, file: File, pattern: str) -> Iterator[int]:
    """Yield the lines of a file in which a pattern matches; none for the empty one."""
    finding = matching.of_pattern(pattern)
    for block in range(file.block, file.block + file.blocks) if pattern else ():
        first = request.blocks.first_lines[block]
        yield from (first + place for place in matching.places(finding, request.blocks.text(block)))


def _of_importers(request: Request, file: File, known: Set[str]) -> Iterator[str | None]:
    """Yield which files may use a file beside those that are `known` to: unread, unparsed, or of its package."""
    family = unknown.family(request, file)
    if not family:
        return
    everywhere = unknown.scope(request, None)
    unparsed = [
        each
        for each in unknown.not_whole(request, everywhere)
        if each.path not in known | {file.path} and unknown.family(request, each) == family
    ]
    name = _imported_as(file)
    yield unknown.of_parsing(request, unknown.using(request, unparsed, [name]), f"they name `{name}` and may import it")
    yield unknown.of_unread(request, everywhere, "looked into", lambda each: unknown.family(request, each) == family)
    yield _of_macros(request, file, name)
    yield _of_package(request, file, known)


def _of_macros(request: Request, file: File, name: str) -> str | None:
    """Say where a module of a file's name is declared and not followed: that may be the file."""
    pattern = _declaring(request, file, globs.literal(name))
    needed = prefilter.of_templates(prefilter.read(pattern, case_sensitive=True)) if pattern else None
    if not (needed and request.signatures and request.opened.generation.has_content):
        return None
    holding = {each.path: each for each in map(request.blocks.file_of, request.signatures.holding(needed))}
    some = [each for each in holding.values() if each.language == file.language and unknown.is_whole(request, each)]
    paths = [each.path for each in some]
    followed = {*request.rows("imports_of", lambda path, line, *_: (path, line), paths=paths)} if some else set()
    places = [
        f"{each.path}:{line}"
        for each in some
        for line in _lines(request, each, pattern)
        if (each.path, line) not in followed
    ]
    return f"A macro (or a comment) may declare it: {unknown.listed(places)}." if places else None


def _imported_as(file: File) -> str:
    """Return what an import of a file holds: its name, or that of its directory where it stands for that."""
    *_, directory, name = f"/{file.path}".split("/")
    stem = name.partition(".")[0]
    return directory if directory and stem in ("__init__", "index", "mod", "lib", "main") else stem


def _of_package(request: Request, file: File, known: Set[str]) -> str | None:
    """Say which files of the same package use what a file defines: they need no import for that."""
    modules = request.opened.generation.modules.get(file.language or "")
    if modules and modules.autoloads:
        return _autoloaded(request, file, known, {*modules.autoloads})
    names = _names(request, file) if modules and modules.packages else []
    if not (modules and names):
        return None
    mates = {each.path: each for each in packages.mates(request, file, modules) if each.path not in known | {file.path}}
    if not mates:
        return None
    used = unknown.using(request, mates.values(), names[:MOST_NAMES])
    return f"Files of its package need no import: {_naming(request, file, names, used, len(mates))}"


def _autoloaded(request: Request, file: File, known: Set[str], kinds: Set[str]) -> str | None:
    """Say which files name what a file defines in a language that loads it by that name."""
    names = _names(request, file, kinds)[:MOST_NAMES]
    if not (names and request.opened.generation.has_content):
        return None
    holding = sorted({block for name in names for block in _may_hold(request, file, name)})
    finding, apart = unknown.of_words(names), known | {file.path}
    alike = request.blocks.in_language(file.language or "")
    others = {number for number in alike if request.blocks.path(number) not in apart}
    used: dict[str, File] = {}
    looked = 0
    for block in holding:
        each = request.blocks.file_of(block)
        if each.number not in others or each.path in used:
            continue
        if looked == MOST_BLOCKS:
            break
        request.check()
        looked += 1
        if matching.places(finding, request.blocks.text(block)):
            used[each.path] = each
    if not used and looked < MOST_BLOCKS:
        return None
    said = _naming(request, file, names, [used[path] for path in sorted(used)], len(others))
    return f"What is loaded by its name may need no import: {'at least ' if looked == MOST_BLOCKS else ''}{said}"


def _may_hold(request: Request, file: File, name: str) -> Iterable[int]:
    """Return the blocks that may hold a name; where signatures do not tell, all in the language of a file."""
    needed = prefilter.of_literal(name, case_sensitive=True)
    if needed and request.signatures:
        return request.signatures.holding(needed)
    files = map(request.blocks.file, request.blocks.in_language(file.language or ""))
    return (block for each in files for block in range(each.block, each.block + each.blocks))


def _naming(request: Request, file: File, names: Sequence[str], used: Sequence[File], count: int) -> str:
    """Say which of some files name what a file defines, and where its uses are asked for."""
    shown = f" ({unknown.listed([each.path for each in used])})" if used else ""
    what = f"`{names[0]}`" if len(names) == 1 else "what it defines"
    uses = f' symbols(symbol="{names[0]}", relation="usages") says where.' if _is_graphed(request, file) else ""
    return f"{len(used):,} of {count:,} name {what}{shown}.{uses}"


def _is_graphed(request: Request, file: File) -> bool:
    """Return whether uses are resolved in the language of a file."""
    return file.language in request.opened.generation.related


def _names(request: Request, file: File, kinds: Set[str] | None = None) -> list[str]:
    """Return the names of what a file defines for others, of some kinds or all: what is in no other definition."""
    rows = request.outlines.definitions(file) if request.outlines else []
    scopes = {row.qualified_name for row in rows if row.kind == "module"}
    wanted = (row for row in rows if (row.kind in kinds if kinds else row.kind not in _NO_NAMES))
    outer = (row for row in wanted if row.parent_name in (None, *scopes))
    found = (row.qualified_name if row.kind == "module" else row.name for row in outer)
    named = [name for name in found if len(name) > 1]
    if not named and kinds and NAMESPACE in kinds:
        around = {row.parent_name for row in rows if row.kind == "module"}
        inner = (row for row in rows if row.kind == "module" and row.qualified_name not in around)
        named = [row.name.rpartition("::")[2] for row in inner]
    return [*dict.fromkeys(named)]
