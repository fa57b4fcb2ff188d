"""C#: types in namespaces."""

from fledgling.worker.language import word_list
from fledgling.worker.resolving.packages import package_resolver
from fledgling.worker.resolving.project import Project, Resolver

STDLIB = word_list("csharp/stdlib.txt")


def resolver(project: Project, language: str) -> Resolver:
    """Resolve types, their members, and namespaces."""
    return package_resolver(project, language, STDLIB)
