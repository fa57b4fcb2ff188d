"""Tables that no image holds: `tags` and `summaries`, made for the statement that names them.

They say what `explore(detail="summary")` says, of what the index holds as it is now. So a profile narrows them with all
else, a change reaches them at once, and a build takes no longer.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import msgspec

from fledgling.plain import counted
from fledgling.worker.store.database import SQL
from fledgling.worker.tools import summaries, tags
from fledgling.worker.tools.request import Request

MAX_DEFINITIONS = 100_000  # whose summaries are made for one statement: some 20 s of CPU, and 30 MB

_Row = dict[str, Any]


def make(request: Request, table: str) -> None:
    """Make one of the tables for the cursor of a call: it goes with that."""
    cursor = request.cursor
    assert cursor, "the index is whole"
    if table == "summaries" and request.summaries and request.snapshot:
        rows = request.summaries.of(request.snapshot, partial(_as_json, request, table))
    else:
        rows = _as_json(request, table)
    request.check()
    cursor.execute(SQL[f"schema_{table}"])
    shape = {column: kind for column, kind, *_ in cursor.execute(f"DESCRIBE {table}").fetchall()}
    said = {"rows": rows, "shape": msgspec.json.encode([shape]).decode()}
    cursor.execute(SQL["load_own"].replace("image.own", table), said)


def _as_json(request: Request, table: str) -> str:
    return msgspec.json.encode([*_ROWS[table](request)]).decode()


def lacks(request: Request, table: str) -> str | None:
    """Say what is left out of a table, None for nothing."""
    count = summaries.definitions(request) if table == "summaries" else 0
    if count <= MAX_DEFINITIONS:
        return None
    most = f"{MAX_DEFINITIONS:,}"
    return f"summaries has files and directories alone: {counted(count, 'definition')} are more than {most}."


def _tags(request: Request) -> Iterator[_Row]:
    for number, found in tags.of_files(request).items():
        path = request.blocks.file(number).path
        for tag in found:
            for each in tag.evidence:
                yield {
                    "path": path,
                    "symbol": each.what or None if each.matcher == tags.BY_HAND else None,
                    "tag": tag.name,
                    "confidence": tag.confidence,
                    "rule": each.matcher,
                    "rule_confidence": round(each.confidence, 2),
                    "line": each.line or None,
                    "evidence": each.what or None,
                }


def _summaries(request: Request) -> Iterator[_Row]:
    has_definitions = summaries.definitions(request) <= MAX_DEFINITIONS
    for each in summaries.of_all(request, has_definitions=has_definitions):
        if each.says or each.defines:
            yield {
                "path": each.path,
                "symbol": each.name,
                "kind": each.kind or ("directory" if each.path.endswith("/") else "file"),
                "line_start": each.lines[0] if each.lines else None,
                "text": each.says,
                "source": each.source,
                "defines": each.defines,
            }


_ROWS = {"tags": _tags, "summaries": _summaries}
TABLES = frozenset(_ROWS)
