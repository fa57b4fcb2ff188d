"""From what an import says to the file of the project it means, by the rules in the folder that a language names.

Only names, manifests and declarations are looked at. What is not found stays open: it belongs to the standard library
if the language's list has it, and is external or missing otherwise.

Manifests and declarations are hostile, and each language has rules of its own for them: a fault of ours there is a line
of the log, and costs the imports of a file; of the files that a manifest is for; or, in declarations, of a language.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial

from msgspec.structs import replace

from fledgling.worker.language import Languages, own_module
from fledgling.worker.process import fault
from fledgling.worker.resolving.project import Declared, Project, Resolver, ancestors, answer, holding, join
from fledgling.worker.rows import ImportRow

MAX_LINKED = 100_000  # paths that links to directories add; a hundred links to the root would multiply the project
MAX_NAME = 1_000  # characters of a module or a name; looking up what a path cannot be takes time for nothing


class UnresolvedError(Exception):
    """Where the imports of a file lead is not known, for a fault of ours; the log has said so."""


class Resolution:
    """Resolves the imports of a project file by file, in any order.

    `files` gives the language of every path, `manifests` the text of those that `is_manifest` names, `declared` what
    `declared` makes of a file's symbols, `links` what each symlink says, `imported` the imports of files that wait, as
    they are written. Of these and of `declared` there may be more meanwhile: a file is among them before its imports
    are asked for, and all files before those of one that `waits`.

    >>> files = {"a.py": "python", "b.py": "python"}
    >>> Resolution(load_languages(), files).of("a.py", [ImportRow(1, "b", None, False, False, None, ())])
    [ImportRow(line_number=1, module='b', ..., resolved_path='b.py', ...)]
    """

    def __init__(
        self,
        languages: Languages,
        files: Mapping[str, str | None],
        manifests: Mapping[str, str] | None = None,
        declared: Mapping[str, Declared] | None = None,
        links: Mapping[str, str] | None = None,
        imported: Callable[[], Iterable[tuple[str, Sequence[ImportRow]]]] = tuple,
    ) -> None:
        self._files = files
        self._linked = _linked(sorted(files), links or {})
        self._rows = languages.rows
        project = Project(languages.rows, files, manifests or {}, {} if declared is None else declared, imported)
        self._project = project
        self._resolver = cache(partial(_resolver, project))
        through = {**files, **{path: files[place] for path, place in self._linked.items()}} if self._linked else files
        self._resolver_again = cache(partial(_resolver, project._replace(files=through)))

    def waits(self, path: str) -> bool:
        """Whether a file's imports mean what others declare, and wait for all of those: not only paths.

        A file of Rust says of its modules which are files, and where. What a root is called that is a package, all
        imports tell together.
        """
        language = self._files[path]
        if language is None:
            return False
        row = self._rows[language]
        return bool(row.separator or row.inner_modules) or self._project.is_package(language)

    def of(self, path: str, rows: Sequence[ImportRow]) -> list[ImportRow]:
        """The imports of a file with `is_stdlib` and `resolved_path`.

        A row may become several: Python's `from pkg import a, b` imports the file of `pkg.a` where there is one. What
        leads nowhere is looked up once more, with links to directories as directories, and found where it really is.
        Raises UnresolvedError.
        """
        try:
            return [found for row in rows for found in self._found(path, row)]
        except UnresolvedError:
            raise
        except Exception as problem:  # noqa: BLE001  (any of them would be the end of the index)
            fault.survived(problem)
            raise UnresolvedError from None

    def _found(self, path: str, row: ImportRow) -> Iterable[ImportRow]:
        if not is_short(row):
            return [row]
        language = self._files[path]
        found = [*self._resolver(language)(path, row)]
        if self._linked and not any(new.resolved_path for new in found):
            found = [*self._resolver_again(language)(path, row)]
            return [replace(new, resolved_path=self._really(new.resolved_path)) for new in found]
        return found

    def _really(self, path: str | None) -> str | None:
        return self._linked.get(path, path) if path else None


def load_resolvers(languages: Languages) -> None:
    """Import what resolves the imports of each language, while files can still be opened."""
    for folder in {row.imports for row in languages.rows.values() if row.imports}:
        own_module(folder, "imports")


def _resolver(project: Project, language: str | None) -> Resolver:
    if language is None or (folder := project.rows[language].imports) is None:
        return _open
    make: Callable[[Project, str], Resolver] = own_module(folder, "imports").resolver
    try:
        return make(project, language)
    except Exception as problem:  # noqa: BLE001  (as of a file)
        fault.survived(problem)
        said = {fault.line(problem)}
    return without_faulty(lambda some: make(some, language), project, said)


def without_faulty(make: Callable[[Project], Resolver], project: Project, said: set[str]) -> Resolver:
    """Return what resolves by the manifests in which no fault is met, each alone; by none, if there is one still.

    Of files below one that is left out nothing is resolved, nor of one that imports anything but the standard library
    or, as relative to itself, what is below none: all else could be where the manifest says. A fault that the log has
    `said` is not said again.
    """

    def made(some: Project) -> Resolver | None:
        try:
            return make(some)
        except Exception as problem:  # noqa: BLE001  (likewise)
            if (line := fault.line(problem)) not in said:
                fault.survived(problem)
                said.add(line)
            return None

    manifests = project.manifests
    alone = {
        path: Project(project.rows, {path: project.files.get(path)}, {path: manifests[path]}) for path in manifests
    }
    kept = {path: manifests[path] for path, one in alone.items() if made(one)}
    resolver = made(project._replace(manifests=kept)) if len(kept) < len(manifests) else None
    if not resolver:
        kept = {}
        resolver = made(project._replace(manifests=kept))
    if not resolver:
        return _unresolved
    faulty = manifests.keys() - kept.keys()
    directories = {next(ancestors(path)) for path in faulty}

    def resolved(path: str, row: ImportRow) -> Iterable[ImportRow]:
        found = [*resolver(path, row)]
        places = [new.resolved_path for new in found if not new.is_stdlib]
        is_led = not row.is_relative or None in places  # by manifests, or it might be by one that is left out
        if (places and is_led) or any(holding(each, directories) is not None for each in (path, *places) if each):
            raise UnresolvedError
        return found

    return resolved


def _unresolved(_path: str, _row: ImportRow) -> Iterable[ImportRow]:
    raise UnresolvedError


def _open(_path: str, row: ImportRow) -> Iterable[ImportRow]:
    return [answer(row, None)]


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
