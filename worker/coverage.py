"""Why an answer is empty: what was looked through, and what was not."""

from typing import NamedTuple

from fledgling.worker import globs, paths
from fledgling.worker.index import Asking


class _Covered(NamedTuple):
    skip_reason: str | None
    files: int


def note(asking: Asking, path: str | None, language: str | None) -> str:
    """Say what the filters left: `Nothing in 812 files; 14 without text (binary).`"""
    rows = asking.rows("search_coverage", _Covered, path=globs.path_pattern(path or ""), language=language)
    searched = sum(row.files for row in rows if row.skip_reason is None)
    skipped = ", ".join(f"{row.files} {row.skip_reason}" for row in rows if row.skip_reason)
    if not rows:
        return _nothing_left(asking, path, language)
    parts = [
        f"Nothing found in {searched} files.",
        f"Not looked into: {skipped}." if skipped else "",
        asking.partial or "",
    ]
    return " ".join(part for part in parts if part)


def _nothing_left(asking: Asking, path: str | None, language: str | None) -> str:
    filters = " and ".join(
        f"{name} {value!r}" for name, value in (("path", path), ("language", language)) if value is not None
    )
    if not filters:
        return "The index holds no file: the project is empty, or everything in it is ignored or excluded."
    near = asking.rows("nearest_paths", paths.Suggestion, path=path, name=path.rsplit("/", 1)[-1]) if path else []
    hint = f" The nearest paths: {', '.join(row.path for row in near)}." if near else ""
    return f"No file of the index has {filters}.{hint} explore() lists what is there."
