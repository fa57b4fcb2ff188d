"""The contract of the tools as rows: tests/calls/*.toml, each call put by a client; one of an older era hears the same.

A row has a `name`, a `tool`, its `arguments`, and any of these, of which all must hold:

    answer       the whole structured answer             has          some of its fields
    files        paths of its files                      directories  paths of its directories
    names        names of its definitions                hits         its matching lines by path
    says         the whole text                          text         pieces of the text
    error        pieces of the text of a refusal         lacks        pieces that are nowhere in the text
    cut          whether `next` goes on (false)          items        lines, or files and what they hold, of all pages
    taken        what was taken as what, where the arguments are not quite those of the tool; "" where nothing is said

A table may name its `tree`, a fixture, and its `profile`, a shipped one or the text of one: `SET tools = 'read';`.
"""

import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from asking import lines, text, to_the_end
from conftest import connected, git
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import PromptReference, Tool
from running import in_time

from fledgling.messages.questions import QUESTIONS

pytestmark = pytest.mark.anyio

TABLES = {
    file.stem: tomllib.loads(file.read_text()) for file in sorted((Path(__file__).parent / "calls").glob("*.toml"))
}
PAGE_CHARS = 32_000  # no answer but a table takes more of an agent's context: about 8,000 tokens
EXPECTED = {
    "answer",
    "has",
    "files",
    "directories",
    "names",
    "hits",
    "says",
    "text",
    "error",
    "lacks",
    "items",
    "taken",
}


class Agent(NamedTuple):
    """A client in touch with a server, the tools that it was told of, and the project's place."""

    client: Client
    tools: dict[str, Tool]
    root: Path


def served(table: dict[str, Any]) -> tuple[str, str]:
    return table.get("tree", "project"), table.get("profile", "fledgling-core")


CASES = [
    pytest.param(served(table), case, id=f"{stem}-{case['name']}")
    for stem, table in TABLES.items()
    for case in table["case"]
]
ANALYST = pytest.mark.parametrize("agent", [("project", "fledgling-analyst")], indirect=True, scope="module")
CORE = pytest.mark.parametrize("agent", [("project", "fledgling-core")], indirect=True, scope="module")
UNNAMED = ["query", "Read", "write", "", "explore "]  # what no profile with the core's tools names


@pytest.fixture(scope="session")
def long(tmp_path_factory):
    """A project in which every answer is too long for a page, with names that look like patterns or like each other."""
    root = tmp_path_factory.mktemp("long")
    texts = {
        "hub.py": "",
        "many.py": "\n\n".join(f"def f{number:04}():\n    return 'needle {number}'\n" for number in range(1, 1201)),
        "imports.py": "".join(f"import outside{number:04}\n" for number in range(1, 901)),
        "options.ts": "export interface Options {\n" + "".join(f"  option{at}: number\n" for at in range(120)) + "}\n",
        "wide.txt": f"short\n{'x' * 2990} right needle {'y' * 500}\n",
        "limit.txt": "x" * 1_048_576,
        "large.txt": "x" * 1_048_577,
        "brackets/[a].txt": "here",
        "brackets/a.txt": "here",
        "brackets/{a,b}.txt": "here",
        "ab/c.txt": "here",
        "~d/c.txt": "at home",
        "a:/c.txt": "at home",
        "a/c.txt": "here",
        "store.cs": "namespace A {\n  class Store {\n    Store() { }\n    Store(int a) { }\n  }\n}\n",
        "between.py": "def f(a) -> int: 0\ndef g(): 0\ndef f(a, *, b): 0\n",
        "types.h": "typedef enum { ON } t;\ntypedef struct state { int a; } state;\n",
        "stores.cs": "namespace A { class Store { } }\nnamespace A { class Store { Store() { } } }\n",
        "ends.txt": "one\r\ntwo\x0cstill two\u2028still two\r\n\r\nfour",
        "deep/" * 30 + "bottom.txt": "bottom",
        'it\'s "quoted", naïve.txt': "quoted",
    }
    texts |= {f"uses/u{number:04}.py": "import hub\n" for number in range(1, 901)}
    for path, words in texts.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(words, newline="")
    (root / "latin.txt").write_bytes(b"caf\xe9\n")
    (root / "large.png").write_bytes(b"\x89PNG\r\n\x1a\n\0" * 131_072)
    (root / "wide16.txt").write_bytes(f"\ufeff{'😀' * 524_288}".encode("utf-16-le"))
    git(root, "init", "-q")
    return root


@pytest.fixture(scope="module")
async def agent(request, tmp_path_factory):
    tree, profile = request.param
    root = request.getfixturevalue(tree)
    if profile.startswith("SET "):
        place = tmp_path_factory.mktemp("profile") / "own.sql"
        place.write_text(profile)
        profile = str(place)
    async with connected(root, "--profile", profile) as client:
        yield Agent(client, {tool.name: tool for tool in (await client.list_tools()).tools}, root)


@pytest.mark.parametrize(("agent", "case"), CASES, indirect=["agent"], scope="module")
async def test_call(agent, case):
    tool, arguments = case["tool"], case.get("arguments", {})
    result = await in_time(agent.client.call_tool, tool, arguments)
    said, values = text(result), result.structured_content
    assert result.is_error == ("error" in case), said
    check_text(agent, case, said)
    fits = Draft202012Validator(agent.tools[tool].input_schema).is_valid(arguments)
    assert fits or result.is_error or "taken" in case, "the input schema refuses what the server answers"
    check_taken(case, said, values)
    if not result.is_error:
        assert result.meta["generation"] == 0
        assert datetime.fromisoformat(result.meta["as_of"]) < datetime.now(UTC)
    if not result.is_error and tool != "read":
        Draft202012Validator(agent.tools[tool].output_schema).validate(values)
        check_values(case, values)
    if not result.is_error and tool not in ("read", "query"):
        assert ("next" in values) == case.get("cut", False)
    if tool == "read":
        assert values is None
        assert ("[cut here; continue with read(" in said) == case.get("cut", False)
    if "items" in case:
        await check_items(agent.client, case, values)


def check_text(agent, case, said):
    assert set(case) - {"name", "note", "tool", "arguments", "cut"} <= EXPECTED
    assert set(case) & EXPECTED, "the row expects nothing"
    assert said == case.get("says", said).removeprefix("\n")
    for piece in (*case.get("text", ()), *case.get("error", ())):
        assert piece in said
    for piece in case.get("lacks", ()):
        assert piece not in said
    assert len(said) <= PAGE_CHARS or case["tool"] == "query"
    assert str(agent.root) not in said
    assert str(Path.home()) not in said


def check_taken(case, said, values):
    """What was taken as what is the first line of a text, and the first field of a structure."""
    taken = case.get("taken", "")
    assert said.startswith("[taken: ") == bool(taken)
    assert not taken or said.startswith(f"[taken: {taken}]\n")
    if values:
        assert next(iter(values)) == "taken" if taken else "taken" not in values
        assert values.get("taken", "") == taken


def check_values(case, values):
    assert values == case.get("answer", values)
    assert {key: values[key] for key in case.get("has", {})} == case.get("has", {})
    found = {
        "files": lambda: [file["path"] for file in values["files"]],
        "directories": lambda: [directory["path"] for directory in values["directories"]],
        "names": lambda: [symbol["name"] for file in values["files"] for symbol in file["symbols"]],
        "hits": lambda: {file["path"]: file["hits"] for file in values["files"]},
    }
    for key, find in found.items():
        if key in case:
            assert find() == case[key]


async def check_items(client, case, values):
    """Following `next` to the end gives everything, and nothing twice."""
    if case["tool"] == "read":
        found = await lines(client, **case["arguments"])
    else:
        found = [item for page in await to_the_end(client, values) for item in items(page)]
        assert len(set(found)) == len(found)
    assert len(found) == case["items"]


def items(page):
    """What one page holds, each thing with where it is."""
    for file in page.get("files", []):
        yield from ((file["path"], str(item)) for item in file.get("hits") or file.get("symbols") or [""])
    yield from (("", directory["path"]) for directory in page.get("directories", []))
    for node in ({**page, "path": page.get("path")}, *page.get("further", [])):
        for edge in (*node.get("imports", []), *node.get("imported_by", [])):
            yield node["path"], str(edge)


@ANALYST
async def test_the_schemas_are_of_json_schema_2020_12(agent):
    assert list(agent.tools) == [*QUESTIONS], "fledgling-analyst has every tool: make docs"
    for tool in agent.tools.values():
        Draft202012Validator.check_schema(tool.input_schema)
        assert tool.input_schema["additionalProperties"] is False
        assert (tool.output_schema is None) == (tool.name == "read")
        if tool.output_schema:
            Draft202012Validator.check_schema(tool.output_schema)


@CORE
@pytest.mark.parametrize("tool", UNNAMED)
async def test_a_tool_that_the_profile_does_not_name_is_refused(agent, tool):
    with pytest.raises(
        MCPError,
        match=r"is not a tool of the profile fledgling-core\. (Perhaps you mean read\. )?Use one of: explore, read",
    ):
        await agent.client.call_tool(tool, {"sql": "SELECT 1"})


def test_every_row_has_a_name_of_its_own():
    names = [(stem, case["name"]) for stem, table in TABLES.items() for case in table["case"]]
    assert len(set(names)) == len(names) >= 120


@ANALYST
@pytest.mark.long  # test_http.py and test_resources.py ask in both eras
async def test_an_older_era_hears_the_same(agent):
    """Lists, resources, prompts, answers and refusals: what is said does not depend on the era."""
    tables = [table for table in TABLES.values() if "tree" not in table]
    calls = [(case["tool"], case.get("arguments", {})) for table in tables for case in table["case"]]
    calls += [(tool, {}) for tool in UNNAMED]
    async with connected(agent.root, "--profile", "fledgling-analyst", era="handshake") as older:
        assert {tool.name: tool for tool in (await older.list_tools()).tools} == agent.tools
        for tool, arguments in calls:
            heard = [await said(in_time(client.call_tool, tool, arguments)) for client in (older, agent.client)]
            assert heard[0] == heard[1], (tool, arguments)
        for ask in OFFERED:
            heard = [await said(ask(client)) for client in (older, agent.client)]
            assert heard[0] == heard[1]


OFFERED = [
    lambda client: client.list_resources(),
    lambda client: client.list_resource_templates(),
    lambda client: client.list_prompts(),
    lambda client: client.read_resource("fledgling://file/src/core/engine.py"),
    lambda client: client.read_resource("fledgling://file/none.py"),
    lambda client: client.get_prompt("review_module", {"path": "src/core/engine.py"}),
    lambda client: client.get_prompt("review_module", {}),
    lambda client: client.complete(PromptReference(name="explain_symbol"), {"name": "symbol", "value": "process"}),
]


async def said(asking):
    """A result without what it says of server and caching, or the code and the words of a refusal."""
    try:
        return (await asking).model_dump(exclude={"meta", "ttl_ms", "cache_scope"})
    except MCPError as refused:
        return refused.error.code, refused.error.message
