"""Which files are of the tests, and which of other programs beside the main one, as far as names tell."""

import re

# Directories of tests, as the runners of many languages find them: `src/jvmTest/`, `Acme.Core.Tests/`. `Test/` holds
# modules of Perl.
TEST_DIRECTORY = (
    r"(?:(?:[a-z]+[_-])?tests|test|lib_test|t|testing|specs?|__tests__|e2e"
    r"|Tests|[^/]*(?:[a-z0-9]|\w[._-])Tests?)"
)
_TEST = re.compile(
    rf"(?:^|/){TEST_DIRECTORY}/|(?:^|/)(?:test_[^/]*|conftest)\.py$|(?:^|/)tests\.(?:py|rs)$"
    r"|(?:_tests?|_spec|[.-](?:test|spec)|Tests?|Spec|IT)\.(?:[a-z]{1,4}|ps1)$"
)
_APART = re.compile(r"(?:^|/)(?:examples?|samples?|demos?|bench(?:marks?)?|fuzz(?:ing|ers?)?|contrib)/")


def is_apart(path: str) -> bool:
    """Return whether what a file defines is of a program of its own: `is_apart("examples/a.c")`."""
    return is_test(path) or _APART.search(path) is not None


def is_test(path: str) -> bool:
    """Return whether a file is of the tests: `is_test("tests/test_app.py")`."""
    return _TEST.search(path) is not None
