"""Where imports lead after a change, in files that have changed and in those that have not.

A change that leaves the paths, the manifests and what files declare as they were moves the imports of its own file
alone. Any other may move those of every file, and all are resolved anew.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import TypeVar

from fledgling.worker.extractor.messages import TextFacts, declared_of, imports_of, packed
from fledgling.worker.follower.known import Known
from fledgling.worker.language import Languages
from fledgling.worker.resolving.project import MAX_MANIFEST, Declared, Project
from fledgling.worker.resolving.resolve import Resolution, UnresolvedError
from fledgling.worker.rows import FileRow, ImportRow
from fledgling.worker.store.kept import UNRESOLVED, Kept
from fledgling.worker.store.parts import Part

Made = tuple[Part, TextFacts | None]
Value = TypeVar("Value")


class Imports:
    """The imports of a project as it is now.

    >>> imports = Imports(languages, kept, known)
    >>> imports.moved({"a.py": (part, facts)}, [], links={})
    ['a.py']
    >>> imports.of("a.py")
    [ImportRow(line_number=1, module='b', ..., resolved_path='b.py', ...)]
    """

    def __init__(self, languages: Languages, kept: Kept, known: Known) -> None:
        self._languages, self._kept, self._known = languages, kept, known
        self._is_loaded = False
        self._files: dict[str, str | None] = {}
        self._manifests: dict[str, str] = {}
        self._declared: dict[str, Declared] = {}
        self._links: dict[str, str] = {}
        self._raw: dict[str, bytes] = {}  # imports of files that have changed, as they stand there
        self._resolved: dict[str, bytes] = {}  # where imports lead that lead elsewhere than in the index
        self._resolution: Resolution | None = None

    def of(self, path: str) -> list[ImportRow]:
        """Return where the imports of a file lead."""
        return imports_of(self._current(path))

    def moved(self, made: Mapping[str, Made], removed: Collection[str], links: Mapping[str, str]) -> list[str]:
        """Take in what has changed, and return the files whose imports lead elsewhere than before.

        Raises UnresolvedError where that is not known of a file, or was not: only an index built anew says so of it.
        """
        self._load()
        is_other = links != self._links or bool(removed)
        self._links = dict(links)
        for path in removed:
            self._forget(path)
        for path, (part, facts) in made.items():
            is_other |= self._take(path, part, facts)
        if is_other or self._resolution is None:
            files = dict(self._files)
            self._resolution = Resolution(
                self._languages, files, self._manifests, self._declared, self._links, self._imported
            )
        asked = {*self._kept.having("imports"), *self._raw} if is_other else made.keys()
        return [path for path in (*asked, *removed) if self._is_moved(path, self._resolution)]

    def _load(self) -> None:
        if self._is_loaded:
            return
        self._is_loaded = True
        self._files = self._known.languages()
        self._declared = {path: found for path in self._kept.having("declared") if (found := self._declares(path))}
        for path in filter(self._languages.is_manifest, self._files):
            text = self._known.text(path)
            if text is not None and self._kept.stamps[path].size <= MAX_MANIFEST:
                self._manifests[path] = text.decode()

    def _declares(self, path: str) -> Declared | None:
        return declared_of(self._kept.text("declared", path))

    def _forget(self, path: str) -> None:
        self._files.pop(path, None)
        self._manifests.pop(path, None)
        self._declared.pop(path, None)
        self._raw[path] = b""

    def _take(self, path: str, part: Part, facts: TextFacts | None) -> bool:
        """Take in a file; return whether imports of others may lead elsewhere for it."""
        manifest = self._manifest(part.row, part)
        declared = facts.declared if facts else None
        was = path in self._files, self._files.get(path), self._manifests.get(path), self._declared.get(path)
        self._files[path] = part.row.language
        _put(self._manifests, path, manifest)
        _put(self._declared, path, declared)
        said = self._said(path)
        self._raw[path] = packed(facts.imports) if facts else b""
        language = part.row.language
        names_root = language is not None and Project(self._languages.rows, self._files).is_package(language)
        if names_root and said != self._raw[path]:  # what the root is called, all imports tell together
            return True
        return was != (True, part.row.language, manifest, declared)

    def _manifest(self, row: FileRow, part: Part) -> str | None:
        has_text = row.skip_reason is None and row.size_bytes <= MAX_MANIFEST
        is_read = has_text and self._languages.is_manifest(row.path)
        return b"\n".join(text for _, text in part.blocks).decode() if is_read else None

    def _is_moved(self, path: str, resolution: Resolution) -> bool:
        raw = self._said(path)
        if path not in self._raw and self._kept.text("resolved", path) == UNRESOLVED:
            raise UnresolvedError
        resolved = packed(resolution.of(path, imports_of(raw))) if raw and path in self._files else b""
        if resolved == self._current(path):
            return False
        self._resolved[path] = resolved
        return True

    def _said(self, path: str) -> bytes:
        """Return the imports of a file as they are written."""
        return self._raw[path] if path in self._raw else self._kept.text("imports", path)

    def _imported(self) -> Iterator[tuple[str, list[ImportRow]]]:
        for path in {*self._kept.having("imports"), *self._raw}:
            if said := self._said(path):
                yield path, imports_of(said)

    def _current(self, path: str) -> bytes:
        return self._resolved[path] if path in self._resolved else self._kept.text("resolved", path)


def _put(table: dict[str, Value], path: str, value: Value | None) -> None:
    if value is None:
        table.pop(path, None)
    else:
        table[path] = value
