"""Where a project begins: commands that manifests declare, functions and files that are started by their name, and what
others import.
"""

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import NamedTuple

from fledgling.plain import by_depth
from fledgling.worker.deferred import deferred
from fledgling.worker.matching import prefilter
from fledgling.worker.store.text import File
from fledgling.worker.tools import manifests, summaries
from fledgling.worker.tools.own_code import OwnCode, is_own, line_count
from fledgling.worker.tools.request import Request

DECLARING = 32  # manifests that are asked for commands, the nearest to the root: there may be hundreds
STARTED = 6  # files of a directory that are started by their name: of more, the directory is named

_DECLARING = ("pyproject.toml", "setup.cfg", "setup.py", "package.json", "mix.exs")
_STARTING = deferred(r"(?:bin|exe|cmd)/[^/]+|script/[^/.]+")  # in any language
_COMMAND = deferred(r"[^/]+|(?:.*/)?[a-z][a-z0-9-]*")  # at the root, or called as one types it
_TEMPLATE = deferred(  # what others get a copy of, to begin with
    r"(?i)(?:^|/)(?:[^/]+[-_]templates?|templates|skeletons?|scaffold(?:s|ing)?|boilerplates?|[^/]*\{\{[^/]*)/"
    r"|[.-](?:te?mpl|tpl|template|j2|jinja2?|erb)$"
)
_CHORES = deferred(r"(?:^|/)(?:scripts|tools?|hack|ci|dev|docs?|internal|storybook|\.[^/]+)/")  # of who works on it
_CONTAINED = "Dockerfile"  # beside the manifest of a package below the root: what runs it
_BINS = ("exe/", "bin/")  # where a gem has its programs
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
    by_name = (*_by_name(request, project), *_pages(request, project), *_scripts(request, project))
    named = [path for path in dict.fromkeys(by_name) if path not in started]
    begun = sorted((*functions, *_together(named)), key=lambda path: (_is_chore(path), path.count("/")))
    found = [*dict.fromkeys([*(each.entry for each in declared), *begun])]
    if all(map(_is_chore, found)):
        found = [*_started_by_npm(request, project), *found]
    guarded = sorted(_together([path for path in _guarded(request, project) if path not in started]), key=by_depth)
    if not found:
        entries = [f"{path} (a library)" for path in _libraries(request, project)]
        return EntryPoints(entries, [] if entries else [*_packages(request, project, ())])
    return EntryPoints(
        [*dict.fromkeys([*found, *guarded])],
        [*_packages(request, project, [*started, *named, *(each.manifest for each in declared)])],
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


def _packages(request: Request, project: OwnCode, begun: Iterable[str]) -> Iterator[str]:
    """Yield the directories with a manifest and a file that is imported by their name, at which nothing begins."""
    paths = sorted((file.path.removeprefix(project.prefix) for file in project.files), key=by_depth)
    known = request.opened.generation.conventions.values()
    packaged = [(re.compile(manifest), inside) for each in known for manifest, inside in each.packaged.items()]
    hosted = re.compile("|".join(each.hosted for each in known if each.hosted) or "(?!)")
    places: dict[str, list[re.Pattern[str]]] = {}
    for path in filter(is_own, paths):
        folder, _, name = path.rpartition("/")
        own_name = re.escape(folder.rpartition("/")[2]) or "(?!)"
        imported = [inside.replace("NAME", own_name) for manifest, inside in packaged if manifest.fullmatch(name)]
        if imported:
            places.setdefault(folder, []).extend(map(re.compile, imported))
    started = (*begun, *filter(hosted.fullmatch, paths))
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
    """Yield functions that are begun at for their name, or in some languages methods."""
    assert request.outlines, "asked of the second generation"
    own = {file.number: request.conventions(file.language) for file in project.own if not _is_unstarted(request, file)}
    for name in sorted({known.main for known in own.values()} - {""}):
        for number in request.outlines.named(name):
            file, row = request.outlines.file_of(number), request.outlines.row(number)
            known = own.get(file)
            kinds = ("function", "method") if known and known.main_in_class else ("function",)
            if known and known.main == name and row.kind in kinds:
                yield f"{request.blocks.path(file).removeprefix(project.prefix)}:{row.line_start}"


def _is_unstarted(request: Request, file: File) -> bool:
    """Return whether a file is no program, whatever it defines: `build.rs` builds one."""
    return re.fullmatch(request.conventions(file.language).unstarted or "(?!)", file.path) is not None


def _guarded(request: Request, project: OwnCode) -> Iterator[str]:
    """Yield the modules that say what they do where they are run: `if __name__ == "__main__":`."""
    if not request.signatures:
        return
    for language, known in request.opened.generation.conventions.items():
        needed = prefilter.of_templates(prefilter.read(known.guard, case_sensitive=True)) if known.guard else None
        own = {file.number: file.path for file in project.own if file.language == language}
        finding = re.compile(rf"(?m)^(?:{known.guard})$".encode())
        for block in request.signatures.holding(needed) if own and needed else ():
            request.check()
            path = own.get(request.blocks.files_of[block])
            if path and finding.search(request.blocks.text(block)):
                yield path.removeprefix(project.prefix)


def _marked_main(request: Request, project: OwnCode) -> Iterator[str]:
    """Yield the types that are marked as what is begun at."""
    assert request.outlines, "asked of the second generation"
    for file in project.own:
        mark = request.conventions(file.language).main_marked
        if not mark:
            continue
        request.check()
        blocks = range(file.block, file.block + file.blocks)
        if any(mark.encode() in request.blocks.text(block) for block in blocks):
            for row in request.outlines.definitions(file):
                first = summaries.lines_of(request, file, row.line_start, row.line_start)
                if row.kind in summaries.CLASSES and "".join(first).startswith(mark):
                    yield f"{file.path.removeprefix(project.prefix)}:{row.line_start}"


def _pages(request: Request, project: OwnCode) -> Iterator[str]:
    """Yield the scripts that a page beside them begins with."""
    pages = {posixpath.dirname(file.path) for file in project.files if posixpath.basename(file.path) == "index.html"}
    for file in project.own:
        place, name = posixpath.split(file.path)
        if place in pages and name in request.conventions(file.language).pages:
            yield file.path.removeprefix(project.prefix)


def _by_name(request: Request, project: OwnCode) -> Iterator[str]:
    """Yield files that are started by their name: none that another imports, as `admin/views/main.py` may be."""
    imported = {target for _, target in project.links.files if not target.endswith("/__main__.py")}
    for file in sorted(project.own, key=lambda each: by_depth(each.path)):
        path, known = file.path.removeprefix(project.prefix), request.conventions(file.language)
        is_alone = not known.main_alone and file.path not in imported
        if is_alone and (_STARTING.fullmatch(path) or re.fullmatch(known.started or "(?!)", path)):
            yield path


def _scripts(request: Request, project: OwnCode) -> Iterator[str]:
    """Yield the commands of a project of scripts: those that no other reads in, at its root or without an ending."""
    scripts = [file for file in project.own if request.conventions(file.language).scripts]
    if sum(map(line_count, scripts)) * 2 <= sum(map(line_count, project.own)):
        return
    read_in = {target for _, target in project.links.files}
    for file in sorted(scripts, key=lambda each: by_depth(each.path)):
        path = file.path.removeprefix(project.prefix)
        if file.path not in read_in and _COMMAND.fullmatch(path):
            yield path


def _together(paths: Sequence[str]) -> Iterator[str]:
    """Yield paths, and of a directory with very many the directory once: `bin/ (41 files)`."""
    places = [posixpath.dirname(path) for path in paths]
    counts = Counter(places)
    many = {place: f"{place}/ ({count} files)" for place, count in counts.items() if place and count > STARTED}
    yield from dict.fromkeys(many.get(place, path) for place, path in zip(places, paths, strict=True))


def _libraries(request: Request, project: OwnCode) -> Iterator[str]:
    """Yield what others import, where nothing is begun at: packages, crates, modules that stand outermost."""
    own = sorted(project.own, key=lambda each: by_depth(each.path))
    outermost: list[str] = []
    for file in own:
        path = file.path.removeprefix(project.prefix)
        place, name = posixpath.split(path)
        is_library = name in request.conventions(file.language).library
        if is_library and not any(f"{place}/".startswith(other) for other in outermost):
            outermost.append(f"{place}/" if place else "./")
            yield path
    at_root = (file for file in own if "/" not in file.path.removeprefix(project.prefix))
    if any(request.conventions(file.language).root_package for file in at_root):
        yield "the package in the root"
