"""From what an import says to the file of the project it means; each family of languages has a file in `resolving/`.

Only names, manifests and declarations are looked at. What is not found stays open: it belongs to the standard library
if the language's list has it, and is external or missing otherwise.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from fledgling.worker.resolving import go, include, load_path, packages, php, python, rust, script
from fledgling.worker.resolving.project import Declared, Project, Resolver, ancestors, join
from fledgling.worker.rows import ImportRow

MAX_LINKED = 100_000  # paths that links to directories add; a hundred links to the root would multiply the project
MAX_NAME = 1_000  # characters of a module or a name; looking up what a path cannot be takes time for nothing

RESOLVERS: dict[str | None, Callable[[Project], Resolver]] = {
    "c": include.resolver,
    "clojure": load_path.clojure_resolver,
    "cpp": include.resolver,
    "csharp": partial(packages.resolver, language="csharp"),
    "go": go.resolver,
    "java": partial(packages.resolver, language="java"),
    "javascript": partial(script.resolver, language="javascript"),
    "kotlin": partial(packages.resolver, language="kotlin"),
    "lua": load_path.lua_resolver,
    "objc": include.resolver,
    "php": php.resolver,
    "python": python.resolver,
    "ruby": load_path.ruby_resolver,
    "rust": rust.resolver,
    "typescript": partial(script.resolver, language="typescript"),
}


def resolve(
    files: Mapping[str, str | None],
    imports: Mapping[str, Sequence[ImportRow]],
    manifests: Mapping[str, str] | None = None,
    declared: Mapping[str, Declared] | None = None,
    links: Mapping[str, str] | None = None,
) -> dict[str, list[ImportRow]]:
    """The imports of each path with `is_stdlib` and `resolved_path`.

    `files` gives the language of every path, `manifests` the text of those that `is_manifest` names, `declared` what
    `declared` makes of a file's symbols, `links` what each symlink says. A row may become several: Python's
    `from pkg import a, b` imports the file of `pkg.a` where there is one. What leads nowhere is looked up once more,
    with links to directories as directories, and found where it really is.
    """
    project = Project(files, manifests or {}, declared or {})
    languages = {files[path] for path in imports}
    resolvers = _resolvers(project, languages)
    linked = _linked(sorted(files), links or {})
    through = {**files, **{path: files[linked[path]] for path in linked}}
    again = _resolvers(project._replace(files=through), languages) if linked else {}

    def resolved(path: str, row: ImportRow) -> Iterable[ImportRow]:
        if not is_short(row):
            return [row]
        found = [*resolvers[files[path]](path, row)]
        if again and not any(new.resolved_path for new in found):
            found = [*again[files[path]](path, row)]
            return [replace(new, resolved_path=linked.get(new.resolved_path or "", new.resolved_path)) for new in found]
        return found

    return {path: [new for row in rows for new in resolved(path, row)] for path, rows in imports.items()}


def _resolvers(project: Project, languages: Iterable[str | None]) -> dict[str | None, Resolver]:
    return {language: RESOLVERS.get(language, load_path.path_resolver)(project) for language in languages}


def _linked(files: Sequence[str], links: Mapping[str, str]) -> dict[str, str]:
    """Return the paths that links to directories of the project add, and the path that each of them is."""
    linked: dict[str, str] = {}
    for link, said in links.items():
        target = join(next(ancestors(link)), said)
        if target is None or said.startswith("/"):
            continue
        below = f"{target}/" if target else ""
        for at in range(bisect_left(files, below), len(files)):
            path = files[at]
            if not path.startswith(below) or len(linked) == MAX_LINKED:
                break
            linked[f"{link}/{path.removeprefix(below)}"] = path
    return linked


def is_short(row: ImportRow) -> bool:
    """Whether no name in an import is longer than a path could be."""
    return max(map(len, (row.module, *row.imported_names))) <= MAX_NAME
