"""From what an import says to the file of the project it means; each family of languages has a file in `resolving/`.

Only names, manifests and declarations are looked at. What is not found stays open: it belongs to the standard library
if the language's list has it, and is external or missing otherwise.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from fledgling.worker.resolving import go, include, load_path, packages, php, python, rust, script
from fledgling.worker.resolving.project import Declared, Project, Resolver
from fledgling.worker.rows import ImportRow

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
) -> dict[str, list[ImportRow]]:
    """The imports of each path with `is_stdlib` and `resolved_path`.

    `files` gives the language of every path, `manifests` the text of those that `is_manifest` names, `declared` what
    `declared` makes of a file's symbols. A row may become several: Python's `from pkg import a, b` imports the file of
    `pkg.a` where there is one.
    """
    project = Project(files, manifests or {}, declared or {})
    resolvers = {
        language: RESOLVERS.get(language, load_path.path_resolver)(project)
        for language in {files[path] for path in imports}
    }
    return {
        path: [new for row in rows for new in (resolvers[files[path]](path, row) if is_short(row) else (row,))]
        for path, rows in imports.items()
    }


def is_short(row: ImportRow) -> bool:
    """Whether no name in an import is longer than a path could be."""
    return all(len(name) <= MAX_NAME for name in (row.module, *row.imported_names))
