"""Kotlin: what Java can import, and its own library."""

from fledgling.worker.language import word_list
from fledgling.worker.languages.java.imports import STDLIB as JAVA
from fledgling.worker.resolving.packages import package_resolver
from fledgling.worker.resolving.project import Project, Resolver

STDLIB = JAVA | word_list("kotlin/stdlib.txt")


def resolver(project: Project, language: str) -> Resolver:
    """Resolve classes, functions, their members, and packages."""
    return package_resolver(project, language, STDLIB, has_paths=True)
