"""Which files are of the tests, and which of other programs beside the main one, as far as names tell."""

from fledgling.worker.deferred import deferred

# Directories of tests, as the runners of many languages find them: `src/jvmTest/`, `Acme.Core.Tests/`. `Test/` holds
# modules of Perl.
TEST_DIRECTORY = (
    r"(?:(?:[a-z]+[_-])?tests|test|lib_test|t|testing|specs?|__tests__|e2e"
    r"|Tests|[^/]*(?:[a-z0-9]|\w[._-])Tests?)"
)
_TEST = deferred(
    rf"(?:^|/){TEST_DIRECTORY}/|(?:^|/)(?:test_[^/]*|conftest)\.py$|(?:^|/)tests\.(?:py|rs)$"
    r"|(?:_tests?|_spec|[.-](?:test|spec)|Tests?|Spec|IT)\.(?:[a-z]{1,4}|ps1)$"
)
_APART = deferred(r"(?:^|/)(?:examples?|samples?|demos?|bench(?:marks?)?|fuzz(?:ing|ers?)?|contrib)/")
# The directories of packages below where Maven and Gradle have what is no test: `src/main/java/org/acme/samples/`.
_PACKAGES = deferred(r"((?:^|/)src/main/(?:java|kotlin|scala|groovy)/)(?:[^/]+/)+")


def is_apart(path: str) -> bool:
    """Return whether what a file defines is of a program of its own: `is_apart("examples/a.c")`."""
    return is_test(path) or _APART.search(without_packages(path)) is not None


def is_test(path: str) -> bool:
    """Return whether a file is of the tests: `is_test("tests/test_app.py")`."""
    return _TEST.search(without_packages(path)) is not None


def without_packages(path: str) -> str:
    """Return a path without the packages in it, whose names say nothing of what a file is for.

    >>> without_packages("app/src/main/java/org/acme/samples/Owner.java")
    'app/src/main/java/Owner.java'
    """
    return _PACKAGES.sub(r"\1", path) if "src/main/" in path else path
