"""Scala: what Java can import; names are looked for in the packages of the importing file, too.

https://docs.scala-lang.org/scala3/reference/dropped-features/package-objects.html
"""

from collections.abc import Iterator

from msgspec.structs import replace

from fledgling.worker.language import word_list
from fledgling.worker.languages.java.imports import STDLIB as JAVA
from fledgling.worker.resolving.packages import Names, package_resolver
from fledgling.worker.resolving.project import MAX_NESTED, Project, Resolver
from fledgling.worker.rows import ImportRow

STDLIB = JAVA | word_list("scala/stdlib.txt")
ROOT = "_root_."  # says that a name is none of those packages


def resolver(project: Project, language: str) -> Resolver:
    """Resolve classes, objects, their members, and packages; `import c.D` in `package a` is `a.c.D` if there is one."""
    known = Names(project, project.sharing(language))
    absolute = package_resolver(project, language, STDLIB, has_paths=True)

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        packages = project.declared[path].packages[-MAX_NESTED:] if path in project.declared else ()
        first = row.module.partition(".")[0]
        within = (package for package in reversed(packages) if known.holds(f"{package}.{first}"))
        prefix = next((f"{package}." for package in within), "")
        found = absolute(path, replace(row, module=prefix + row.module.removeprefix(ROOT)))
        yield from (replace(new, module=row.module) for new in found)

    return resolved
