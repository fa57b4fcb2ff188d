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
from fledgling.worker.tools import summaries, tags, unknown
from fledgling.worker.tools.kept_tags import MadeRows
from fledgling.worker.tools.request import Request

MAX_DEFINITIONS = 100_000  # whose summaries are made for one statement: some 20 s of CPU, and 30 MB
MAX_BYTES = 2**25  # of the rows of a table, as JSON, some 150,000 of them: they are there four times while it is made

TABLES = frozenset({"tags", "summaries"})

_Row = dict[str, Any]


def make(request: Request, table: str) -> str | None:
    """Make one of the tables for the cursor of a call: it goes with that. Say what is left out of it, None for nothing.

    `make(request, "tags")` may be "tags has its first 150,000 rows only: more would be larger than 33,554,432 bytes."
    """
    cursor = request.cursor
    assert cursor, "the index is whole"
    if table == "summaries" and request.summaries and request.snapshot:
        rows = request.summaries.of(request.snapshot, partial(rows_of, request, table))
    else:
        rows = rows_of(request, table)
    request.check()
    cursor.execute(SQL[f"schema_{table}"])
    shape = {column: kind for column, kind, *_ in cursor.execute(f"DESCRIBE {table}").fetchall()}
    said = {"rows": rows.json, "shape": msgspec.json.encode([shape]).decode()}
    cursor.execute(SQL["load_own"].replace("image.own", table), said)
    return rows.left_out


def rows_of(request: Request, table: str) -> MadeRows:
    """Return the rows of a table, from the first on, as far as they may be."""
    kept: list[bytes] = []
    left_out: list[str] = []
    if table == "summaries" and (count := summaries.definitions(request)) > MAX_DEFINITIONS:
        most = f"{MAX_DEFINITIONS:,}"
        left_out.append(
            f"summaries has only files and directories: {counted(count, 'definition')} are more than {most}."
        )
    room = MAX_BYTES
    for row in _tags(request) if table == "tags" else _summaries(request, has_definitions=not left_out):
        request.check()
        encoded = msgspec.json.encode(row)
        room -= len(encoded) + 1  # and a comma
        if room < 0:
            rows = counted(len(kept), "row")
            left_out.append(f"{table} has its first {rows} only: more would be larger than {MAX_BYTES:,} bytes.")
            break
        kept.append(encoded)
    return MadeRows(f"[{b','.join(kept).decode()}]", unknown.joined(*left_out))


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


def _summaries(request: Request, *, has_definitions: bool) -> Iterator[_Row]:
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
