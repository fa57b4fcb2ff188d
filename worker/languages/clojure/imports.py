"""Clojure: namespaces by the files that declare them, and classes of Java."""

import posixpath
from collections.abc import Iterator
from functools import cache

from fledgling.worker.language import word_list
from fledgling.worker.languages.java.imports import STDLIB as JAVA
from fledgling.worker.resolving.packages import Names, prefixes
from fledgling.worker.resolving.project import Project, Resolver, Suffixes, answer, only
from fledgling.worker.rows import ImportRow

STDLIB = word_list("clojure/stdlib.txt")
ENDS = {".cljs": (".cljs", ".cljc", ".clj"), "": (".clj", ".cljc", ".cljs")}


def resolver(project: Project, _language: str) -> Resolver:
    """Resolve a namespace to the file that declares it, or that its name stands for: `a.b-c` is `a/b_c.clj`."""
    namespaces = Names(project, ("clojure",))
    undeclared = Suffixes(path for path in project.written_in("clojure") if path not in project.declared)

    @cache
    def locate(directory: str, module: str, extension: str) -> str | None:
        place = module.replace(".", "/").replace("-", "_")
        declaring = namespaces.package(module, directory)
        for end in ENDS.get(extension, ENDS[""]):
            if found := next((path for path in declaring if path.endswith(end)), None):
                return found
            if "/" in place and (found := only(undeclared.nearest(place + end, directory))):
                return found
        return None

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        directory, name = posixpath.split(path)
        found = locate(directory, row.module, posixpath.splitext(name)[1])
        is_java = any(part in JAVA for part in prefixes(row.module))
        yield answer(row, found, is_stdlib=is_java or row.module in STDLIB)

    return resolved
