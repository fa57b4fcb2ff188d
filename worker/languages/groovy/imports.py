"""Groovy: what Java can import."""

from fledgling.worker.languages.java.imports import STDLIB as JAVA
from fledgling.worker.resolving.packages import package_resolver
from fledgling.worker.resolving.project import Project, Resolver

STDLIB = JAVA | {"groovy"}


def resolver(project: Project, language: str) -> Resolver:
    """Resolve classes, their members, and packages."""
    return package_resolver(project, language, STDLIB, has_paths=True)
