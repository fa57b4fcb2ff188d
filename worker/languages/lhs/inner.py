"""Code of literate Haskell: https://www.haskell.org/onlinereport/haskell2010/haskellch10.html#x17-18000010.4.

It stands on lines that begin with `>`, or between \\begin{code} and \\end{code}. What is left is prose.
"""

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.inner import Inner

BEGIN, END = deferred(rb"\\begin\{code\}\s*+$"), deferred(rb"\\end\{code\}\s*+$")


def inner(source: bytes) -> Inner:
    """The code of a text, on its lines: of b"Twice:\\n\\n> f = 2\\n" that is b"\\n\\nf = 2\\n"."""
    lines, is_code = [], False
    for line in source.split(b"\n"):
        if is_code and not END.match(line):
            lines.append(line)
            continue
        is_code = not is_code and BEGIN.match(line) is not None
        lines.append(line[1:].removeprefix(b" ") if line[:1] == b">" else b"")
    return Inner("haskell", b"\n".join(lines), [*range(1, len(lines) + 1)])
