"""Java: classes in packages, by what files declare, else by their paths; modules by the file that declares one."""

import posixpath
from collections import defaultdict
from collections.abc import Iterable

from fledgling.worker.language import word_list
from fledgling.worker.resolving.packages import package_resolver
from fledgling.worker.resolving.project import Project, Resolver, answer, by_parts, nearest
from fledgling.worker.rows import ImportRow

STDLIB = word_list("java/stdlib.txt")
MODULE = "module-info.java"  # JLS 7.7: a module often has the name of one of its packages, and is not that
PLATFORM = ("java.", "jdk.")


def resolver(project: Project, language: str) -> Resolver:
    """Resolve classes, their members, and packages; in the declaration of a module, what it requires."""
    declarations = sorted((path for path in project.declared if posixpath.basename(path) == MODULE), key=by_parts)
    modules = defaultdict[str, list[str]](list)
    for path in declarations:
        for name in project.declared[path].packages:
            modules[name].append(path)
    packages = {path: said for path, said in project.declared.items() if posixpath.basename(path) != MODULE}
    of_package = package_resolver(project._replace(declared=packages), language, STDLIB, has_paths=True)

    def resolved(path: str, row: ImportRow) -> Iterable[ImportRow]:
        if posixpath.basename(path) != MODULE or row.imported_names:
            return of_package(path, row)
        found = nearest(modules.get(row.module, ()), posixpath.dirname(path))
        return [answer(row, found[0] if found else None, is_stdlib=row.module.startswith(PLATFORM))]

    return resolved
