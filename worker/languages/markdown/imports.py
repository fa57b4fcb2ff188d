"""Where links of documents lead: from the document; where they begin with `/`, from a directory above it, or from the
root of a site, which is not known: to the only file whose path ends so. That is of the project's own documents and
files: what it holds of others, and its tests and examples, are sites of their own.
"""

import posixpath
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from urllib.parse import unquote

from fledgling.worker.deferred import deferred
from fledgling.worker.resolving.project import MAX_PLACES, Project, Resolver, ancestors, answer, join
from fledgling.worker.rows import ImportRow

ENDS = ("", ".md", ".rst", ".adoc", ".mdx", ".txt", ".ipynb")  # that sites leave out
MADE_OF = {".html": (".md", ".rst", ".adoc"), ".htm": (".md",)}  # what pages are made of
PAGES = "/pages"  # of a module of Antora: links begin there, whichever directory in it they stand in
FAMILY = deferred(
    r"(page|partial|example|image|attachment)\$(.++)"
)  # of such a module: `partial$a.adoc` is in partials/
SITES = ("docs", "static", "public")  # directories that a site may begin at
ALIASES = ("~/", "@/")  # by which sites name the directory of their sources
ASIDE = deferred(
    r"(?:^|/)(?:node_modules|bower_components|vendor(?:ed)?|third[-_]party|external"
    r"|(?:[a-z]+[-_])?tests?|__tests__|testdata|specs?|fixtures?|examples?|samples?)/"
)
ELIXIR = "mix.exs"  # of a project whose documentation has all pages in one directory
PAGE = deferred(r"([^/]+)\.(?:html|md|livemd)")  # of that
OF_MODULE = deferred(r"[A-Z]\w*+(?:\.[A-Z]\w*+)*+\.(?:html|epub)")  # a page of that which no document is
WRITTEN = (".md", ".livemd", ".cheatmd")  # what the others are made of
INDEXES = ("README.md", "index.md", "README.rst", "index.rst", "README.adoc", "index.adoc", "_index.md", "index.html")


def forms(path: str) -> list[str]:
    """Return the files that a link to a path may mean, the likeliest first: `a/b`, `a/b.md`, `a/b/README.md`."""
    stem, end = posixpath.splitext(path)
    made = [stem + more for more in MADE_OF.get(end, ())]
    return [*(path + more for more in ENDS), *made, *(posixpath.join(path, index) for index in INDEXES)]


def end_of(path: str) -> str:
    """Return the last two parts of a path."""
    return "/".join(path.rsplit("/", 2)[-2:])


class LinkPlaces:
    """The files of a project, as links lead to them.

    >>> LinkPlaces(project).of_site("img/logo.png")
    'website/static/img/logo.png'
    """

    def __init__(self, project: Project) -> None:
        self._files = project.files

    @cached_property
    def directories(self) -> frozenset[str]:
        """All directories that have a file."""
        return frozenset(up for path in self._files for up in ancestors(path))

    @cached_property
    def _by_end(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for path in self._files:
            if not ASIDE.search(path):
                found[end_of(path)].append(path)
        return found

    @cached_property
    def _pages(self) -> dict[tuple[str, str], list[str]]:
        """The documents of each project of Elixir, by what their pages are called: in small letters."""
        found: dict[tuple[str, str], list[str]] = defaultdict(list)
        for path in self._files:
            if path.endswith(WRITTEN) and not ASIDE.search(path) and (project := self.elixir(path)) is not None:
                found[project, posixpath.splitext(posixpath.basename(path))[0].lower()].append(path)
        return found

    def elixir(self, path: str) -> str | None:
        """Return the directory of the project of Elixir that a document is of."""
        return next((up for up in ancestors(path) if posixpath.join(up, ELIXIR) in self._files), None)

    def page(self, project: str, name: str) -> str | None:
        """Return the only document of such a project that a page is made of."""
        match = PAGE.fullmatch(name)
        found = self._pages.get((project, match[1].lower()), ()) if match else ()
        return found[0] if len(found) == 1 else None

    def place(self, directory: str, name: str) -> str | None:
        """Return the file that a link leads to from a directory."""
        at = join(directory, name)
        return None if at is None else next((form for form in forms(at) if form in self._files), None)

    def of_site(self, name: str) -> str | None:
        """Return the only file whose path ends in a link of several parts, or in what a page at it is made of."""
        for form in forms(name.strip("/")) if "/" in name.strip("/") else ():
            alike = self._by_end.get(end_of(form), ())
            if found := [path for path in alike[:MAX_PLACES] if path.endswith(f"/{form}")]:
                return found[0] if len(found) == 1 and len(alike) <= MAX_PLACES else None
        return None

    def starts(self, path: str) -> list[str]:
        """Return the directories that a link of a document which begins with `/` may start from."""
        above = [*ancestors(path)]
        sites = (posixpath.join(up, site) for up in above for site in SITES)
        return [*above, *(site for site in sites if site in self.directories)]

    def sources(self, path: str) -> list[str]:
        """Return the directories that a link of a document which begins with an alias may start from."""
        above = [*ancestors(path)]
        return [*(at for up in above if (at := posixpath.join(up, "src")) in self.directories), *above]


def resolver(project: Project, _language: str) -> Resolver:
    """Resolve links. One to a directory leads to its first page, and is no link to a file where there is none."""
    places = LinkPlaces(project)

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        name = unquote(row.module.partition("#")[0].partition("?")[0])
        if not name:
            return
        if name.startswith(ALIASES):
            found = next(filter(None, (places.place(start, name[2:]) for start in places.sources(path))), None)
            yield answer(row, found)
            return
        is_of_site = name.startswith("/")
        starts = places.starts(path) if is_of_site else [posixpath.dirname(path)]
        pages = [*(up for up in ancestors(path) if up.endswith(PAGES)), posixpath.dirname(path) + PAGES]
        if family := FAMILY.fullmatch(name):
            pages, name = [posixpath.join(up, f"{family[1]}s") for up in ancestors(path)], family[2]
            starts = []
        starts += [start for start in pages if start in places.directories]
        name = name.lstrip("/") or "."
        found = next(filter(None, (places.place(start, name) for start in starts)), None)
        if found is None and is_of_site and not ASIDE.search(path):
            found = places.of_site(name)
        if found is None and "/" not in name and (elixir := places.elixir(path)) is not None:
            if OF_MODULE.fullmatch(name):
                return
            found = places.page(elixir, name)
        at = {join(start, name) for start in starts}
        if found is None and (at <= {None} or at & places.directories):  # it leads out of the root, or to a directory
            return
        if found != path:
            yield answer(row, found)

    return resolved
