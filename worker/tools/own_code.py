"""The files of a project, and which of them are code of its own: no tests, nothing of others, nothing generated."""

from collections.abc import Sequence
from typing import NamedTuple

from fledgling.worker.deferred import deferred
from fledgling.worker.of_tests import is_test, without_packages
from fledgling.worker.ranking.rank import is_aside
from fledgling.worker.store.text import File
from fledgling.worker.tools.links import ImportLinks, Link, links
from fledgling.worker.tools.request import Request

# What a project holds of others, such as a directory named with a version; benchmarks. Go has them in vendor/.
_OF_OTHERS = deferred(
    r"(?i)(?:^|/)(?:node_modules|bower_components|vendor(?:ed)?|third[-_]?party|(?:external|deps)(?!/(?:.*/)?[^/]+\.go$)"
    r"|benches|[^/]*[-@]v?\d+\.\d[^/]*)/|\.min\.\w+$"
)


class OwnCode(NamedTuple):
    """What is below a directory: all files, those of code that are its own, and which of these import which."""

    prefix: str
    files: list[File]
    own: list[File]
    aside: list[File]  # tests, examples and the like, and what a program wrote
    generated_lines: int
    links: ImportLinks
    linked: list[Link]  # whatever imports or links to what, among all files there are


def own_code(request: Request, prefix: str, numbers: Sequence[int]) -> OwnCode:
    """Return what is below a directory, of which these are the files."""
    code = {*request.opened.generation.code}
    files = [*map(request.blocks.file, numbers)]
    of_code = [file for file in files if file.language in code]
    generated = {*request.rows("generated_files", str)}
    written = [file for file in of_code if file.path not in generated] or of_code
    own = [file for file in written if is_own(file.path.removeprefix(prefix))]
    known = {file.path for file in own}
    aside = [file for file in of_code if file.path not in known]
    generated_lines = sum(line_count(file) for file in of_code if file.path in generated)
    every = links(request)
    return OwnCode(prefix, files, own, aside, generated_lines, every.among(known), every.files)


def is_own(path: str) -> bool:
    """Return whether a file is the project's own and no test: `is_own("third_party/zlib/inflate.c")` is False."""
    return not (is_aside(path) or is_test(path) or _OF_OTHERS.search(without_packages(path)))


def line_count(file: File) -> int:
    """Return how many lines a file has; 0 of one that was not read."""
    return file.line_count or 0
