"""Why an answer is empty: what was looked through, and what was not."""

from typing import NamedTuple

from fledgling.worker.tools import paths
from fledgling.worker.tools.request import Request

SHOWN_LANGUAGES = 5  # in a note


class _Covered(NamedTuple):
    language: str | None
    skip_reason: str | None
    files: int
    unparsed: int


def of_text(request: Request, path: str | None, language: str | None) -> str:
    """Say where text was looked for: `Nothing found in 812 files. Not looked into: 14 binary.`"""
    if not request.opened.generation.has_content:
        return "The index holds no text (index_content is off); symbols() and explore() still answer."
    covered = _covered(request, path, language)
    if not covered:
        return _nothing_left(request, path, language)
    searched = sum(row.files for row in covered if row.skip_reason is None)
    return _joined(f"Nothing found in {searched} files.", _skipped(covered), request.partial)


def of_symbols(request: Request, path: str | None, language: str | None) -> str:
    """Say where definitions were looked for, and which languages have none in the index."""
    covered = _covered(request, path, language)
    if not covered:
        return _nothing_left(request, path, language)
    defined = request.opened.generation.defined
    searched = sum(row.files for row in covered if row.language in defined and row.skip_reason is None)
    unparsed = sum(row.unparsed for row in covered if row.language in defined)
    others = [row for row in covered if row.language not in defined and row.skip_reason is None]
    return _joined(
        f"Nothing found in the definitions of {searched} files." if searched else "Nothing found.",
        f"In {unparsed} of them not everything could be parsed." if unparsed else None,
        _undefined(others) if others else None,
        _skipped(covered),
        request.partial,
    )


def _undefined(others: list[_Covered]) -> str:
    names = dict.fromkeys(row.language or "unknown" for row in others)
    more = ", ..." if len(names) > SHOWN_LANGUAGES else ""
    shown = ", ".join(list(names)[:SHOWN_LANGUAGES])
    return f"Definitions are not extracted from {sum(row.files for row in others)} files ({shown}{more})."


def _covered(request: Request, path: str | None, language: str | None) -> list[_Covered]:
    return request.rows("coverage", _Covered, path=paths.pattern(path), language=language)


def _skipped(covered: list[_Covered]) -> str | None:
    counts: dict[str, int] = {}
    for row in covered:
        if row.skip_reason:
            counts[row.skip_reason] = counts.get(row.skip_reason, 0) + row.files
    reasons = ", ".join(f"{files} {reason}" for reason, files in counts.items())
    return f"Not looked into: {reasons}." if reasons else None


def _nothing_left(request: Request, path: str | None, language: str | None) -> str:
    filters = [f"{name} {value!r}" for name, value in (("path", path), ("language", language)) if value]
    if not filters:
        return "The index holds no file: the project is empty, or everything in it is ignored or excluded."
    return _joined(
        f"No file of the index has {' and '.join(filters)}.",
        paths.nearest(request, path) if path else None,
        "explore() lists what is there.",
        request.partial,
    )


def _joined(*sentences: str | None) -> str:
    return " ".join(sentence for sentence in sentences if sentence)
