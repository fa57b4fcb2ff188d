"""Have pyproject.toml ask for the packages of all grammars that languages name: `make pins` runs it.

    .venv/bin/python .ci/grammars.py

One that it lacks is asked for as it is installed, up to the next release that may change its tree: of 0.25.1 from 0.25
to 0.26, of 1.1.0 from 1.1 to 2. A range that is there stays.
"""

import re
from importlib import metadata
from pathlib import Path

from fledgling.worker.languages.table import load_languages

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"
ASKED = re.compile(r'^  "(tree-sitter-[a-z0-9-]+)[^"]*",.*\n', re.MULTILINE)


def packages() -> set[str]:
    """Return the packages that languages need: `tree_sitter_c_sharp.language` is in tree-sitter-c-sharp."""
    rows = load_languages(for_graph=False).rows.values()
    return {grammar.partition(".")[0].replace("_", "-") for row in rows for grammar in row.grammars}


def range_of(version: str) -> str:
    """Return what asks for a version and those like it: `range_of("0.25.1")` is ">=0.25,<0.26"."""
    major, minor = map(int, version.split(".")[:2])
    return f">={major}.{minor},<{major + 1 if major else f'0.{minor + 1}'}"


def asking(text: str) -> str:
    """Return pyproject.toml with a line for each package, in alphabetical order."""
    first, *_, last = asked = [*ASKED.finditer(text)]
    lines = {line[1]: line[0] for line in asked}
    wanted = (lines.get(name) or f'  "{name}{range_of(metadata.version(name))}",\n' for name in sorted(packages()))
    return text[: first.start()] + "".join(wanted) + text[last.end() :]


if __name__ == "__main__":
    PYPROJECT.write_text(asking(PYPROJECT.read_text()))
