"""Java: classes in packages, by what files declare, else by their paths."""

from fledgling.worker.language import word_list
from fledgling.worker.resolving.packages import package_resolver
from fledgling.worker.resolving.project import Project, Resolver

STDLIB = word_list("java/stdlib.txt")


def resolver(project: Project, language: str) -> Resolver:
    """Resolve classes, their members, and packages."""
    return package_resolver(project, language, STDLIB, has_paths=True)
