"""Names of the project that are no files of the index: ignored, excluded, of another repository, and so on.

Where a profile hides files, an index knows of none: nothing is said of what may be beside what is hidden.
"""

from fledgling.worker.reasons import EXCLUDED, IGNORED, NESTED, SUBMODULE
from fledgling.worker.tools.request import Request

SHOWN_NAMES = 5  # of one reason, in a sentence

NEXT = {  # what can be done about it
    IGNORED: "It is indexed once no ignore file names it",
    EXCLUDED: "It is indexed when Fledgling is started with other exclude_patterns",
    NESTED: "It is indexed when Fledgling is started with --submodules",
    SUBMODULE: "It is indexed when Fledgling is started with --submodules",
}


def found(request: Request, path: str) -> tuple[str, str] | None:
    """Return the name that a path is, or is below, and why that is not indexed; None where nobody knows of it."""
    names, parts = request.blocks.unlisted, path.split("/")
    above = ["/".join(parts[:count]) + "/" for count in range(1, len(parts) + 1)]
    return next(((name, names[name]) for name in (*above, path) if name in names), None)


def at(request: Request, path: str) -> tuple[str, str] | None:
    """Return what `found` does, or the first name below a directory of which nothing is indexed."""
    names = request.blocks.unlisted
    return found(request, path) or next(
        ((name, names[name]) for name in names if path and name.startswith(f"{path}/")), None
    )


def of_directory(request: Request, prefix: str) -> str | None:
    """Say what else is in a directory: `Not indexed here: build/, dist/ (ignored); lib/ (submodule).`"""
    groups: dict[str, list[str]] = {}
    for name, reason in request.blocks.unlisted.items():
        rest = name.removeprefix(prefix)
        if name.startswith(prefix) and rest and "/" not in rest[:-1]:
            groups.setdefault(reason, []).append(rest)
    said = [f"{_some(names)} ({reason})" for reason, names in groups.items()]
    return f"Not indexed here: {'; '.join(said)}." if said else None


def of_filter(request: Request, path: str | None) -> str | None:
    """Say how many names below a path, or the part of a glob before its wildcards, are not indexed, by reason."""
    prefix = (path or "").removeprefix("./")
    for wildcard in "*?[{":
        prefix = prefix.partition(wildcard)[0]
    is_plain = path and prefix == path
    prefix = prefix.rstrip("/") + "/" if is_plain else prefix[: prefix.rfind("/") + 1]
    counts: dict[str, int] = {}
    for name, reason in request.blocks.unlisted.items():
        if name.startswith(prefix):
            counts[reason] = counts.get(reason, 0) + 1
    return f"Not indexed: {', '.join(f'{n} {reason}' for reason, n in counts.items())}." if counts else None


def _some(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
    return f"{', '.join(names[:SHOWN_NAMES])}{more}"
