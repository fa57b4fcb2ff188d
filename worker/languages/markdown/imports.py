"""Where links of documents lead: from the document, or from a directory above it where they begin with `/`."""

import posixpath
import re
from collections.abc import Iterator
from functools import cache
from urllib.parse import unquote

from fledgling.worker.resolving.project import Project, Resolver, ancestors, answer, join
from fledgling.worker.rows import ImportRow

ENDS = ("", ".md", ".rst", ".adoc", ".mdx", ".txt", ".ipynb")  # that sites leave out
MADE_OF = {".html": (".md", ".rst", ".adoc"), ".htm": (".md",)}  # what pages are made of
PAGES = "/pages"  # of a module of Antora: links begin there, whichever directory in it they stand in
FAMILY = re.compile(
    r"(page|partial|example|image|attachment)\$(.++)"
)  # of such a module: `partial$a.adoc` is in partials/
INDEXES = ("README.md", "index.md", "README.rst", "index.rst", "README.adoc", "index.adoc", "_index.md", "index.html")


def resolver(project: Project, _language: str) -> Resolver:
    """Resolve links. One to a directory leads to its first page, and is no link to a file where there is none."""

    @cache
    def directories() -> frozenset[str]:
        return frozenset(up for path in project.files for up in ancestors(path))

    def place(directory: str, name: str) -> str | None:
        at = join(directory, name)
        if at is None:
            return None
        if at in project.files:
            return at
        stem, end = posixpath.splitext(at)
        others = [at + more for more in ENDS] + [stem + more for more in MADE_OF.get(end, ())]
        inside = [posixpath.join(at, index) for index in INDEXES]
        return next((other for other in (*others, *inside) if other in project.files), None)

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        name = unquote(row.module.partition("#")[0].partition("?")[0])
        if not name:
            return
        starts = [*ancestors(path)] if name.startswith("/") else [posixpath.dirname(path)]
        pages = [*(up for up in ancestors(path) if up.endswith(PAGES)), posixpath.dirname(path) + PAGES]
        if family := FAMILY.fullmatch(name):
            pages, name = [posixpath.join(up, f"{family[1]}s") for up in ancestors(path)], family[2]
            starts = []
        starts += [start for start in pages if start in directories()]
        name = name.lstrip("/") or "."
        found = next(filter(None, (place(start, name) for start in starts)), None)
        places = {join(start, name) for start in starts}
        if found is None and (
            places <= {None} or places & directories()
        ):  # it leads out of the root, or to a directory
            return
        if found != path:
            yield answer(row, found)

    return resolved
