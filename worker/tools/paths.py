"""Paths as an agent writes them: checked, and explained where nothing is there."""

import posixpath
from typing import NamedTuple

from fledgling.plain import in_sentence
from fledgling.refusals import NO_FILE
from fledgling.worker.deferred import deferred
from fledgling.worker.matching import globs, lines
from fledgling.worker.store.text import File
from fledgling.worker.tools import unlisted
from fledgling.worker.tools.request import Refused, Request

BEHIND_SLASH = "0"  # what follows `/` in the order of characters

_ELSEWHERE = deferred(r"~[^/*?\[{]*/|~\Z|[A-Za-z]:(?:[/\\]|\Z)")  # how a home and a drive begin: `~/x`, `C:\x`


class Suggestion(NamedTuple):
    """A path of the index that resembles what was asked for."""

    path: str


def inside(path: str) -> str:
    """Return the path without `./` and trailing `/`; refuse one that means anything outside the root.

    >>> inside("./src/")
    'src'
    >>> inside("{./src,docs/}")
    '{src,docs}'
    """
    if several := globs.choices(path):
        return f"{{{','.join(inside(each) or '.' for each in several)}}}"
    parts = path.split("/")
    if path.startswith("/") or f"{posixpath.normpath(path)}/".startswith("../"):
        raise _outside(path, "is not a path below the root of the project")
    if ".." in parts:
        raise _outside(path, "holds `..`")
    return "/".join(part for part in parts if part not in ("", "."))


def _outside(path: str, why: str) -> Refused:
    remedy = "Give a path relative to the root, with `/` between its parts and no `..`; explore() lists what is there."
    return Refused("denied", f"{path!r} {why}", remedy)


def check(request: Request, path: str) -> None:
    """Refuse a path in a home, `~/x`, or on a drive, `C:/x`, unless the root has something of that name."""
    for each in globs.choices(path) or [path]:
        name = each.partition("/")[0]
        if _ELSEWHERE.match(each) and not (is_there(request, name) or unlisted.at(request, name)):
            raise _outside(each, "is not a path below the root of the project")


def pattern(asked: str | None) -> str:
    """Return a path filter as a pattern, `pattern("src/*.py")`; refuse one that means anything outside the root."""
    return globs.path_pattern(inside(asked or ""))


def is_there(request: Request, path: str) -> bool:
    """Return whether the index has a file at `path`, or one below it."""
    return bool(request.blocks.find(path) or next(request.blocks.below(f"{path}/"), None))


def find_file(request: Request, path: str) -> File:
    """Return the file at `path`; refuse a directory or an unknown path with the nearest ones that exist."""
    path = inside(path)
    if file := request.blocks.find(path):
        return file
    if not path or next(request.blocks.below(path + "/"), None):
        raise Refused(
            "invalid", f"{in_sentence(path or '.')} is a directory", f'Call explore(path="{path}") and choose a file.'
        )
    raise not_found(request, path)


def not_found(request: Request, path: str) -> Refused:
    """Return the refusal for a path that is not in the index: why, or the nearest paths that are; not of a listing."""
    if left_out := unlisted.at(request, path):
        name, reason = left_out
        remedy = f"{unlisted.NEXT[reason]}; " if reason in unlisted.NEXT else ""
        return Refused(
            "not_found",
            f"{path!r} is in the project, but {'it' if name == path else in_sentence(name)} is not indexed: {reason}",
            f"{remedy}explore() lists what is indexed.",
        )
    partial = f" {request.partial}" if request.partial else ""
    unseen = " (ignored and excluded files are not indexed)" if request.profile.narrows_files else ""
    near = "" if request.is_listing else f"{nearest(request, path) or 'The index holds no file at all.'} "
    return Refused(
        "not_found",
        f"{NO_FILE} {path!r} in the index{unseen}.{partial}",
        f"{near}explore() lists what is there.",
    )


def nearest(request: Request, path: str) -> str | None:
    """Name the files and directories that resemble a path: `The nearest: src/, src/app.py.`"""
    near = request.rows("nearest_paths", Suggestion, path=path, name=path.rsplit("/", 1)[-1])
    return f"The nearest: {', '.join(in_sentence(row.path) for row in near)}." if near else None


def matching(request: Request, pattern: str) -> list[str]:
    """Return the paths that match a pattern of globs.py, all at once: a twentieth of the time."""
    blocks = request.blocks
    text = b"\n".join([blocks.raw_path(number) for number in blocks.files])
    return [blocks.path(blocks.files[place]) for place in lines.places(lines.of_pattern(pattern), text)]
