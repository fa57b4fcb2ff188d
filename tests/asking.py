"""How a test asks as an agent does: through a client, by tool and arguments, following `next` to the end."""

import ast
import re
from typing import Any

from mcp import Client
from mcp.types import CallToolResult

from fledgling.broker.audit_log.writer import AuditLog
from fledgling.broker.operating.operated import Answering
from fledgling.broker.protocol.server import build
from fledgling.settings import Answers

MOST_WAITS = 20  # for query_timeout: the largest corpus takes three on a busy machine
CUT = re.compile(r"\[cut here; continue with (read\(.*\))\]")


def client_of(front: Answering, answers: Answers = "structured", log: AuditLog | None = None, **options: Any) -> Client:
    """A client of a server in this process."""
    return Client(build(front, log or AuditLog(), answers), **options)


def text(result: CallToolResult) -> str:
    """The text of an answer or refusal."""
    return "\n".join(part.text for part in result.content)


def said(result: CallToolResult) -> str:
    """What an answer says, but for when that was known, which is another time at each call."""
    return result.model_dump_json(exclude={"meta"})


async def structured(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """One answer; a refusal fails the test."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, f"{tool}({arguments}): {text(result)}"
    return result.structured_content


async def pages(client: Client, tool: str, **arguments: Any) -> list[dict[str, Any]]:
    """All pages of an answer."""
    return await to_the_end(client, await structured(client, tool, **arguments))


async def whole_map(client: Client, **arguments: Any) -> list[dict[str, Any]]:
    """All pages of a map of the whole index: one that is begun before that leaves out what is not known yet."""
    for _ in range(MOST_WAITS):
        if not (await client.call_tool("symbols", {"max_results": 1})).is_error:  # the last generation is there
            break
    return await pages(client, "explore", **arguments)


async def to_the_end(client: Client, first: dict[str, Any]) -> list[dict[str, Any]]:
    """The page that is there, and all that follow it."""
    found = [first]
    cursor = -1
    while following := found[-1].get("next"):
        following_cursor = int(following["arguments"]["cursor"].partition(".")[0])
        assert following_cursor > cursor, "a page that leads to itself has no end"
        cursor = following_cursor
        found.append(await structured(client, following["tool"], **following["arguments"]))
    return found


async def rows(client: Client, sql: str) -> list[tuple[Any, ...]]:
    """All rows of a SELECT."""
    answer = await structured(client, "query", sql=sql)
    assert not answer.get("truncated"), f"{sql}: {answer['note']}"
    return [tuple(row) for row in answer["rows"]]


async def lines(client: Client, **arguments: Any) -> list[str]:
    """The lines that read gives, without heading, numbers and notes; a cut is followed to its end."""
    found: list[tuple[int, str]] = []
    while arguments:
        result = await client.call_tool("read", arguments)
        assert not result.is_error, f"read({arguments}): {text(result)}"
        heading, *rest = text(result).split("\n")
        assert heading.startswith(f"[{arguments['path']} · "), heading
        arguments = {}
        for line in rest:
            number, tab, words = line.partition("\t")
            if tab and number.isdigit():
                found.append((int(number), words))
            elif cut := CUT.fullmatch(line):
                call = ast.parse(cut[1], mode="eval").body
                assert isinstance(call, ast.Call)
                arguments = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg}
    first = found[0][0] if found else 0
    assert [number for number, _ in found] == list(range(first, first + len(found)))
    return [words for _, words in found]


def in_list(paths: list[str]) -> str:
    """Paths as SQL: `('a.py', 'it''s.py')`."""
    quoted = ["'" + path.replace("'", "''") + "'" for path in paths]
    return f"({', '.join(quoted)})"
