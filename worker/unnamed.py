"""What may run or get a definition that nothing names: its language by itself, or what stands above it."""

import re
from collections.abc import Iterable

from fledgling.messages.languages import Unnamed
from fledgling.worker.of_tests import is_test

FUNCTIONS = ("function", "method")
REGISTERED = (*FUNCTIONS, "class")  # kinds that decorators, annotations and attributes hand to others
ABOVE = re.compile(r"(?:@|#?\[)(?P<name>[\w.:\\]{1,80}+)(?:\([^()]{0,200}+\))?+[\s,\]]*+")
AMONG = "__attribute__"  # of C, which stands among the words of a definition
OF_RUNNER = re.compile(r"[Tt]est|Benchmark|Example|Fuzz")  # how names begin that runners of tests look for
MAX_HEAD = 400  # characters of a line in which that may stand
MAX_ABOVE = 8  # lines that are looked at: few definitions have more above them


def is_run(known: Unnamed, kind: str, name: str) -> bool:
    """Return whether a language may run a function without naming it: `__add__` by `a + b`."""
    return kind in FUNCTIONS and re.fullmatch(known.methods, name) is not None


def taker(known: Unnamed, kind: str, lines: Iterable[str]) -> str | None:
    """Return the first name that stands above a definition and may hand it to something.

    >>> taker(Unnamed(inert="@Override"), "method", ["@Override @Inject(a = 1)", "void run() {"])
    'Inject'
    """
    inert = re.compile(known.inert)
    for line in lines if kind in REGISTERED else ():
        if AMONG in line[:MAX_HEAD]:
            return AMONG
        at = 0
        while found := ABOVE.match(line, at):
            if not (known.inert and inert.match(line, at)):
                return found["name"]
            at = found.end()
        if not at:
            break
    return None


def is_tested(path: str, kind: str, name: str) -> bool:
    """Return whether a runner of tests may run a definition by its name.

    >>> is_tested("a_test.go", "function", "TestOpen"), is_tested("a_test.go", "function", "opened")
    (True, False)
    """
    return kind in REGISTERED and is_test(path) and OF_RUNNER.match(name) is not None


def is_given(known: Unnamed, first: str) -> bool:
    """Return whether parameters of a function's name get what it returns, by what stands above it."""
    return bool(known.by_parameter and re.match(known.by_parameter, first))
