"""Targets, variables and `define`s of a Makefile: https://www.gnu.org/software/make/manual/html_node/index.html.

A rule ends with its recipe. Names that are put together, patterns (`%.o`) and special targets (`.PHONY`) are left out.
"""

import re

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.outline import Definition, FileOutline

# Lines, with those that go on behind a backslash.
LINE = deferred(rb"^(?>(?:[^\\\n]++|\\\r?+\n|\\)*)\n?", re.MULTILINE)
WORDS = rb"(?>(?:(?:override|export|private)[ \t]++)*)"
DEFINE = deferred(rb"[ \t]*+" + WORDS + rb"define[ \t]++(?P<name>[\w.-]++)")
ENDEF = deferred(rb"[ \t]*+endef\b")
VARIABLE = deferred(rb"[ \t]*+" + WORDS + rb"(?P<name>[\w.-]++)[ \t]*+(?:::?:?|[?!])?=[ \t]*+(?P<value>)")
RULE = deferred(
    rb"[ ]*+(?P<targets>[^\s:=#$%&]++(?>(?:[ \t]++[^\s:=#$%&]++)*))[ \t]*+&?:(?::(?!=))?(?!=)(?P<rest>[^#;]*+)"
)
SETS = deferred(rb"\s*+" + WORDS + rb"[\w.-]++[ \t]*+(?:::?:?|[?!+])?=")  # what follows the target is a variable's
SPECIAL = deferred(rb"\.[A-Z_]++")
NEUTRAL = deferred(rb"\s*+(?:#[^\n]*+|(?:if|else|endif)[^\n]*+)?\s*+\Z")  # what may stand in a recipe, too


def outline(source: bytes) -> FileOutline:
    """The definitions of a Makefile: `outline(b"all: a.o\\n\\tcc a.o\\n")` has `all`, of two lines."""
    found: list[Definition] = []
    rule: list[Definition] = []  # targets, to whose recipe the next lines may belong
    defined: Definition | None = None  # is open: nothing in it counts
    for line in LINE.finditer(source):
        start, text, end = line.start(), line[0], line.start() + len(line[0].rstrip())
        if defined:
            if ENDEF.match(text):
                defined.end, defined = end, None
        elif text[:1] == b"\t" and rule:
            for target in rule:
                target.end = max(end, target.end)
        elif define := DEFINE.match(text):
            defined = definition(define["name"], "macro", start, len(source), start + define.end())
            found.append(defined)
            rule = []
        elif variable := VARIABLE.match(text):
            found.append(definition(variable["name"], "variable", start, end, end))
            found[-1].value = start + variable.start("value")
            rule = []
        elif named := RULE.match(text):
            targets = () if SETS.match(named["rest"]) else named["targets"].split()
            names = (name for name in targets if not SPECIAL.fullmatch(name))
            rule = [definition(name, "function", start, end, end) for name in names]
            found += rule
        elif not NEUTRAL.match(text):
            rule = []
    return FileOutline(found, complete=defined is None)


def definition(name: bytes, kind: str, start: int, end: int, body: int) -> Definition:
    """What stands in no other, whatever is around it."""
    return Definition(
        name=name.decode(errors="replace"),
        kind=kind,
        start=start,
        end=end,
        head=start,
        inside=end,
        body=None if kind == "variable" else body,
        is_global=True,
    )
