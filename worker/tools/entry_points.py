"""Where a project begins: commands that manifests declare, functions and files that are started by their name, and what
others import.
"""

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import NamedTuple

from fledgling.plain import by_depth
from fledgling.worker.matching import prefilter
from fledgling.worker.tools import manifests, summaries
from fledgling.worker.tools.own_code import OwnCode, is_own, line_count
from fledgling.worker.tools.request import Request

DECLARING = 32  # manifests that are asked for commands, the nearest to the root: there may be hundreds
STARTED = 6  # files of a directory that are started by their name: of more, the directory is named
SCRIPTS = ("bash", "powershell", "batch")  # languages in which a function is not begun at by its name
MAIN_IN_CLASS = ("java", "csharp", "kotlin", "scala", "groovy")  # languages in which a method is begun at
MAIN = {"csharp": "Main"}  # what is begun at, where it is not called `main`
MAIN_ALONE = ("go", "rust", "java", "kotlin")  # languages in which nothing is begun at but that

_DECLARING = ("pyproject.toml", "setup.cfg", "setup.py", "package.json", "mix.exs")
_NO_PROGRAM = re.compile(r"(?:.*/)?build\.rs|.*\.(?:pyi|d\.[cm]?ts)")  # what builds a crate; declarations alone
_STARTING = re.compile(
    r"(?:.*/)?(?:__main__\.py|manage\.py|wsgi\.py|asgi\.py|main\.(?:py|rs|go|c|cc|cpp|ts|js|dart|swift|kt|exs?|zig|hs|ml)|config\.ru"
    r"|Main\.(?:java|kt|hs|scala)|Program\.(?:cs|fs)|main\.tsx)|(?:.*/)?src/[^/]+_app\.erl|(?:bin|exe|cmd)/[^/]+|script/[^/.]+"
    r"|(?:.*/)?(?:public|web|www|htdocs)/index\.php|index\.php|artisan|main\.tf"
)
_COMMAND = re.compile(r"[^/]+|(?:.*/)?[a-z][a-z0-9-]*")  # at the root, or called as one types it
_TEMPLATE = re.compile(  # what others get a copy of, to begin with
    r"(?i)(?:^|/)(?:[^/]+[-_]templates?|templates|skeletons?|scaffold(?:s|ing)?|boilerplates?|[^/]*\{\{[^/]*)/"
    r"|[.-](?:te?mpl|tpl|template|j2|jinja2?|erb)$"
)
_CHORES = re.compile(r"(?:^|/)(?:scripts|tools?|hack|ci|dev|docs?|internal|storybook|\.[^/]+)/")  # of who works on it
_LIBRARIES = (
    "__init__.py",
    "lib.rs",
    "index.ts",
    "index.js",
    "index.tsx",
    "index.mjs",
    "mod.ts",
)  # what is imported by its directory
_PACKAGED = tuple(  # the manifest of a package, and what in it is imported by its name; NAME is that of its directory
    (re.compile(manifest), imported)
    for manifest, imported in (
        (r"pyproject\.toml|setup\.(?:py|cfg)", r"(?:(?:src|lib)/)?[^/]+/__init__\.py"),
        (r"(?:package|deno)\.json", r"(?:(?:src|lib)/)?(?:(?:index|NAME)\.(?:tsx?|m?js)|mod\.ts)"),
        (r"Cargo\.toml", r"(?:src/)?lib\.rs"),
        (r"go\.mod", r"(?!(?:.*/)?(?:internal/|tools\.go)).+\.go"),
        (r"build\.gradle(?:\.kts)?|pom\.xml", r"src/\w*[mM]ain/(?:java|kotlin|scala|groovy)/.+"),
        (r".+\.[cfv][sb]proj", r".+\.(?:cs|fs|vb)"),
        (r"composer\.json", r"(?:src|lib)/.+\.php"),
    )
)
# What others start: a server of applications, a telephone, the runtime of .NET.
_CONTAINED = "Dockerfile"  # beside the manifest of a package below the root: what runs it
_BINS = ("exe/", "bin/")  # where a gem has its programs
_STARTED = re.compile(r"(?:.*/)?(?:src/main/(?:webapp/.+|AndroidManifest\.xml)|Global\.asax|App\.a?xaml)")
_GUARD = "if __name__ =="  # in a module of Python, before what it does where it is run
_GUARDED = re.compile(rb"(?m)^if __name__ == ['\"]__main__['\"]")
_OF_PAGES = ("index.tsx", "index.jsx", "main.jsx")
_ENDINGS = ("", ".js", ".json", "/index.js", "/index.json")  # that Node tries behind an entry, in this order


class EntryPoints(NamedTuple):
    """Where a project begins, and the directories of packages in it at which nothing begins: others import them."""

    entries: list[str]
    libraries: list[str]


def entry_points(request: Request, project: OwnCode) -> EntryPoints:
    """Say where it begins: commands that manifests declare, then functions and files that are started by their name.

    Of these the nearest to the root comes first. Where there is none, the libraries stand for it.
    """
    project = project._replace(own=[file for file in project.own if not _is_copied(project, file.path)])
    functions = sorted((*_named_main(request, project), *_marked_main(request, project)), key=by_depth)
    started = {function.rpartition(":")[0] for function in functions}
    declared = [*_declared(request, project)]
    started |= {posixpath.normpath(each.entry.rpartition(" = ")[2]) for each in declared}
    by_name = (*_by_name(project), *_pages(project), *_scripts(project))
    named = [path for path in dict.fromkeys(by_name) if path not in started]
    begun = sorted((*functions, *_together(named)), key=lambda path: (_is_chore(path), path.count("/")))
    found = [*dict.fromkeys([*(each.entry for each in declared), *begun])]
    if all(map(_is_chore, found)):
        found = [*_started_by_npm(request, project), *found]
    guarded = sorted(_together([path for path in _guarded(request, project) if path not in started]), key=by_depth)
    if not found:
        entries = [f"{path} (a library)" for path in _libraries(project)]
        return EntryPoints(entries, [] if entries else [*_packages(project, ())])
    return EntryPoints(
        [*dict.fromkeys([*found, *guarded])],
        [*_packages(project, [*started, *named, *(each.manifest for each in declared)])],
    )


def _is_copied(project: OwnCode, path: str) -> bool:
    """Return whether a file is a template of what others begin: `conf/project_template/manage.py-tpl`."""
    return _TEMPLATE.search(path.removeprefix(project.prefix)) is not None


def _is_chore(path: str) -> bool:
    """Return whether a file is for those who work on the project, and does not come with it: `scripts/release.py`."""
    return _CHORES.search(path) is not None


def _started_by_npm(request: Request, project: OwnCode) -> Iterator[str]:
    """Yield what starts a package of Node, whose programs are those of what it depends on, as those of Next.js are."""
    package = request.blocks.find(f"{project.prefix}package.json")
    if package and (command := manifests.start(manifests.text_of(request, package))):
        yield f"npm start = {command}"


def _packages(project: OwnCode, begun: Iterable[str]) -> Iterator[str]:
    """Yield the directories with a manifest and a file that is imported by their name, at which nothing begins."""
    paths = sorted((file.path.removeprefix(project.prefix) for file in project.files), key=by_depth)
    places: dict[str, list[re.Pattern[str]]] = {}
    for path in filter(is_own, paths):
        folder, _, name = path.rpartition("/")
        own_name = re.escape(folder.rpartition("/")[2]) or "(?!)"
        imported = [imported.replace("NAME", own_name) for manifest, imported in _PACKAGED if manifest.fullmatch(name)]
        if imported:
            places.setdefault(folder, []).extend(map(re.compile, imported))
    started = (*begun, *filter(_STARTED.fullmatch, paths))
    around = ((path, _around(path, places.keys())) for path in started)
    programs = {place for path, place in around if place is not None and not _is_chore(path[len(place) :])}
    programs |= {folder for path in paths if path.endswith(f"/{_CONTAINED}") and (folder := posixpath.dirname(path))}
    own = (file.path.removeprefix(project.prefix) for file in project.own)
    libraries = {
        place
        for path in own
        if (place := _around(path, places.keys())) is not None
        if any(each.fullmatch(path.removeprefix(f"{place}/" if place else "")) for each in places[place])
    }
    yield from (f"{place or '.'}/" for place in sorted(libraries - programs, key=by_depth))


def _around(path: str, places: Set[str]) -> str | None:
    """Return the innermost of some directories that a file is in."""
    while path:
        path = posixpath.dirname(path)
        if path in places:
            return path
    return None


class _DeclaredEntry(NamedTuple):
    manifest: str
    entry: str


def _declared(request: Request, project: OwnCode) -> Iterator[_DeclaredEntry]:
    """Yield what manifests declare, the nearest to the root first; those of packages in it declare commands alone."""
    names = {file.path.removeprefix(project.prefix): file for file in project.files}
    declaring = (name for name in names if name.rpartition("/")[2] in _DECLARING or name.endswith(".gemspec"))
    for name in sorted(filter(is_own, declaring), key=by_depth)[:DECLARING]:
        folder, slash, _ = name.rpartition("/")
        text = manifests.text_of(request, names[name])
        if name.endswith(".toml"):
            entries = manifests.scripts(text)
        elif name.endswith(".cfg"):
            entries = manifests.scripts_of_setup_cfg(text)
        elif name.endswith(".py"):
            entries = manifests.scripts_of_setup_py(text)
        elif name.endswith(".exs"):
            entries = manifests.modules(text)
        elif name.endswith(".gemspec"):
            places = [
                (each, f"{folder}{slash}{place}{each}") for each in manifests.executables(text) for place in _BINS
            ]
            entries = (f"{each} = {path}" for each, path in places if path in names)
        else:
            is_run = not folder or f"{folder}/{_CONTAINED}" in names
            commands = (entry for entry in manifests.entries(text) if is_run or " = " in entry)
            entries = _there(request, project, f"{folder}{slash}", commands)
        yield from (_DeclaredEntry(name, entry) for entry in entries)


def _there(request: Request, project: OwnCode, folder: str, entries: Iterable[str]) -> Iterator[str]:
    """Yield what a package begins at; of a file that is not in the index, as what is built is not, say so."""
    for declared in entries:
        command, sign, target = declared.rpartition(" = ")
        entry = f"{command}{sign}{posixpath.normpath(folder + target)}" if folder else declared
        path = posixpath.normpath(f"{project.prefix}{folder}{target}")
        is_there = any(request.blocks.find(posixpath.normpath(f"{path}{ending}")) for ending in _ENDINGS)
        yield entry if is_there else f"{entry} (not in the index)"


def _named_main(request: Request, project: OwnCode) -> Iterator[str]:
    """Yield files that define a function `main`, or in some languages a method."""
    assert request.outlines, "asked of the second generation"
    own = {file.number: file.language for file in project.own if not _NO_PROGRAM.fullmatch(file.path)}
    for name in ("main", *MAIN.values()):
        for number in request.outlines.named(name):
            file, row = request.outlines.file_of(number), request.outlines.row(number)
            kinds = ("function", "method") if own.get(file) in MAIN_IN_CLASS else ("function",)
            is_main = file in own and row.kind in kinds and name == MAIN.get(own[file] or "", "main")
            if is_main and own[file] not in SCRIPTS:
                yield f"{request.blocks.path(file).removeprefix(project.prefix)}:{row.line_start}"


def _guarded(request: Request, project: OwnCode) -> Iterator[str]:
    """Yield the modules of Python that say what they do where they are run: `if __name__ == "__main__":`."""
    if not request.signatures:
        return
    own = {file.number: file.path for file in project.own if file.language == "python"}
    needed = prefilter.of_literal(_GUARD, case_sensitive=True)
    blocks = request.signatures.holding(needed) if own and needed else ()
    for block in blocks:
        request.check()
        path = own.get(request.blocks.files_of[block])
        if path and _GUARDED.search(request.blocks.text(block)):
            yield path.removeprefix(project.prefix)


def _marked_main(request: Request, project: OwnCode) -> Iterator[str]:
    """Yield the types of Swift that are marked as what is begun at."""
    assert request.outlines, "asked of the second generation"
    for file in project.own if "swift" in request.opened.generation.code else ():
        request.check()
        blocks = range(file.block, file.block + file.blocks) if file.language == "swift" else ()
        if any(b"@main" in request.blocks.text(block) for block in blocks):
            for row in request.outlines.definitions(file):
                first = summaries.lines_of(request, file, row.line_start, row.line_start)
                if row.kind in summaries.CLASSES and "".join(first).startswith("@main"):
                    yield f"{file.path.removeprefix(project.prefix)}:{row.line_start}"


def _pages(project: OwnCode) -> Iterator[str]:
    """Yield the scripts that a page beside them begins with."""
    pages = {posixpath.dirname(file.path) for file in project.files if posixpath.basename(file.path) == "index.html"}
    for file in project.own:
        if posixpath.basename(file.path) in _OF_PAGES and posixpath.dirname(file.path) in pages:
            yield file.path.removeprefix(project.prefix)


def _by_name(project: OwnCode) -> Iterator[str]:
    """Yield files that are started by their name: none that another imports, as `admin/views/main.py` may be."""
    imported = {target for _, target in project.links.files if not target.endswith("/__main__.py")}
    alone = (file for file in project.own if file.language not in MAIN_ALONE and file.path not in imported)
    paths = [file.path.removeprefix(project.prefix) for file in alone]
    return (path for path in sorted(paths, key=by_depth) if _STARTING.fullmatch(path))


def _scripts(project: OwnCode) -> Iterator[str]:
    """Yield the commands of a project of scripts: those that no other reads in, at its root or without an ending."""
    sizes = Counter[bool]()
    for file in project.own:
        sizes[file.language in SCRIPTS] += line_count(file)
    read_in = {target for _, target in project.links.files}
    for file in sorted(project.own, key=lambda each: by_depth(each.path)):
        path = file.path.removeprefix(project.prefix)
        is_script = sizes[True] > sizes[False] and file.language in SCRIPTS and file.path not in read_in
        if is_script and _COMMAND.fullmatch(path):
            yield path


def _together(paths: Sequence[str]) -> Iterator[str]:
    """Yield paths, and of a directory with very many the directory once: `bin/ (41 files)`."""
    places = [posixpath.dirname(path) for path in paths]
    counts = Counter(places)
    many = {place: f"{place}/ ({count} files)" for place, count in counts.items() if place and count > STARTED}
    yield from dict.fromkeys(many.get(place, path) for place, path in zip(places, paths, strict=True))


def _libraries(project: OwnCode) -> Iterator[str]:
    """Yield what others import, where nothing is begun at: packages, crates, modules that stand outermost."""
    paths = sorted((file.path.removeprefix(project.prefix) for file in project.own), key=by_depth)
    outermost: list[str] = []
    for path in paths:
        place, _, name = path.rpartition("/")
        if name in _LIBRARIES and not any(f"{place}/".startswith(other) for other in outermost):
            outermost.append(f"{place}/" if place else "./")
            yield path
    if any(path.endswith(".go") and "/" not in path for path in paths):
        yield "the package in the root"
