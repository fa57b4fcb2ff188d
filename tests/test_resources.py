"""Resources and completions: what each profile has, what it says, what is refused, and the line about each."""

import asyncio
import hashlib
import json
from contextlib import suppress

import pytest
from asking import client_of, text
from conftest import ERAS, connected
from mcp import MCPError
from mcp.client.extension import advertise
from mcp.types import ClientCapabilities, PromptReference, ResourceTemplateReference
from msgspec.structs import replace
from running import fronted

from fledgling.broker.audit_log.writer import open_log
from fledgling.broker.protocol import app, resources
from fledgling.broker.reporting import explorer, report
from fledgling.messages.answers import Refusal
from fledgling.security import profile as profiles

pytestmark = pytest.mark.anyio

FILE = ResourceTemplateReference(uri=resources.FILE_TEMPLATE)
EXPLAIN = PromptReference(name="explain_symbol")

# the tools of a profile, and what it has
HAS = {
    "explore, read, search, symbols, dependencies": (["overview", "status", "profile"], True),
    "explore, read, search, symbols, dependencies, query": (["overview", "status", "profile", "schema"], True),
    "search": (["profile"], False),
    "read": (["profile"], True),
    "query": (["profile", "schema"], False),
}

REFUSED = {
    "fledgling://file/none.py": "no file or directory 'none.py'",
    "fledgling://file/../secret": "is not a path below the root",
    "fledgling://file//etc/passwd": "is not a path below the root",
    "fledgling://file/%2e%2e/secret": "is not a path below the root",
    "fledgling://file/a%00b": "a control character",
    "fledgling://file/a%0Ab": "a control character",
    "fledgling://file/%ff": "not UTF-8",
    "fledgling://file/" + "x" * 5000: "length <= 4096",
    "fledgling://file/src": "is a directory",
    "fledgling://file/": "is a directory",
    "fledgling://file/.env": "is not in the index: secret",
    "fledgling://schema": "is not a resource of the profile fledgling-core",
    "fledgling://none": "Use one of: fledgling://overview, fledgling://status, fledgling://profile, fledgling://file/{+path}",
    "fledgling://status?since=one": "the generation is not a number. Write fledgling://status?since=12",
    "file:///etc/passwd": "is not a resource of the profile",
    "ui://fledgling/report/../../etc/passwd": "is not a resource of the profile",
    "ui://another/report": "is not a resource of the profile",
    "": "is not a resource of the profile",
}

# of what, the argument, what is typed, what else is known, and what may follow
COMPLETED = {
    "a first directory": (FILE, "path", "sr", {}, ["src/"]),
    "a path": (FILE, "path", "src/core/", {}, ["src/core/__init__.py", "src/core/config.py", "src/core/engine.py"]),
    "a part of a name": (FILE, "path", "src/core/en", {}, ["src/core/engine.py"]),
    "nothing there": (FILE, "path", "src/none/", {}, []),
    "outside": (FILE, "path", "../", {}, []),
    "a symbol for a file's address": (FILE, "symbol", "process", {}, ["process_batch"]),
    "another argument": (FILE, "language", "py", {}, []),
    "another template": (ResourceTemplateReference(uri="file:///{path}"), "path", "sr", {}, []),
    "a symbol": (EXPLAIN, "symbol", "process", {}, ["process_batch"]),
    "a symbol of a file": (EXPLAIN, "symbol", "ru", {"path": "src/core/engine.py"}, ["run"]),
    "a pattern": (EXPLAIN, "symbol", "*", {}, []),
    "a path of a prompt": (EXPLAIN, "path", "src/api", {}, ["src/api/"]),
    "a prompt that is not": (PromptReference(name="none"), "path", "src", {}, []),
}


@pytest.fixture(scope="module")
async def front(project):
    async with fronted(project, is_followed=True) as (front, _):
        yield front


@pytest.fixture(scope="module")
async def client(front):
    """A client of a server in this process."""
    async with client_of(front, mode=ERAS["modern"]) as client:
        yield client


def content(result):
    [only] = result.contents
    return only.text


async def test_a_file_by_its_address_is_what_read_says(client):
    found = await client.read_resource("fledgling://file/src/core/engine.py")
    assert content(found) == text(await client.call_tool("read", {"path": "src/core/engine.py"}))
    assert found.contents[0].uri == "fledgling://file/src/core/engine.py"


async def test_what_is_listed(client):
    assert [found.name for found in (await client.list_resources()).resources] == ["overview", "status", "profile"]
    templates = (await client.list_resource_templates()).resource_templates
    assert [found.uri_template for found in templates] == [resources.FILE_TEMPLATE, "fledgling://status{?since}"]


async def test_the_overview_is_the_map(client):
    assert "src/" in content(await client.read_resource("fledgling://overview"))


async def test_the_status_says_how_the_index_stands(client, project):
    said = content(await client.read_resource("fledgling://status"))
    assert "state: completed\nprogress: 100 %\n" in said
    assert said.endswith("\ngeneration: 0\n" + said.partition("generation: 0\n")[2])
    assert "changes since generation 0: 0 added, 0 modified, 0 deleted" in said
    assert str(project) not in said
    assert content(await client.read_resource("fledgling://status?since=0")).startswith("state: completed\n")


async def test_the_profile_says_what_is_allowed_and_not_what_is_hidden(client):
    said = content(await client.read_resource("fledgling://profile"))
    assert "tools: explore, read, search, symbols, dependencies\n" in said
    assert "a call may take: 30 s" in said
    outie = profiles.load("fledgling-outie")
    assert "SELECT" not in resources.described(outie)
    assert outie.file not in resources.described(outie)


# ---- the page that a client may show --------------------------------------------------------------------------------

OTHERS = {  # what a client says of pages, which is not that it shows those that there are
    "nothing": [],
    "another kind": [advertise(app.EXTENSION, {"mimeTypes": ["text/html"]})],
    "no list": [advertise(app.EXTENSION, {"mimeTypes": app.MIME})],
}


@pytest.mark.parametrize("era", ["handshake", pytest.param("modern", marks=pytest.mark.long)])
async def test_who_shows_pages_is_given_one_beside_the_map(project, front, tmp_path, era):
    log = tmp_path / "audit.jsonl"
    shows = [advertise(app.EXTENSION, {"mimeTypes": [app.MIME]})]
    records = open_log(str(log), {"": str(project)}, front.profile, with_arguments=False)
    async with client_of(front, log=records, mode=ERAS[era], extensions=shows) as client:
        with_page = {tool.name: tool.meta for tool in (await client.list_tools()).tools if tool.meta}
        assert with_page == {"explore": {"ui": {"resourceUri": app.URI}}}
        [page] = [found for found in (await client.list_resources()).resources if str(found.uri) == app.URI]
        assert page.mime_type == app.MIME
        [shown] = (await client.read_resource(app.URI)).contents
        reading = (client.read_resource(app.URI) for _ in range(4))
        at_once = await asyncio.gather(*reading, return_exceptions=True)
    refused = [str(each) for each in at_once if isinstance(each, Exception)]
    assert 1 <= len(refused) < len(at_once)
    assert all("a page is being made already" in each for each in refused)
    assert shown.mime_type == app.MIME
    assert shown.text.startswith(report.MARK)
    assert explorer.policy(explorer.SCRIPT, app.SCRIPT) in shown.text
    assert str(project) not in shown.text
    told = [json.loads(line) for line in log.read_text().splitlines()]
    said = [(line["verdict"], line["bytes"]) for line in told if line.get("tool") == "resources/read"]
    assert said[0] == ("allowed", len(shown.text.encode()))
    assert [verdict for verdict, _ in said].count("refused") == len(refused)


async def test_who_shows_none_is_told_of_none(client):
    assert [tool.name for tool in (await client.list_tools()).tools if tool.meta] == []


@pytest.mark.parametrize("others", OTHERS)
def test_who_shows_other_pages_is_told_of_none(others):
    said = ClientCapabilities(extensions={each.identifier: each.settings() for each in OTHERS[others]})
    assert not app.App(None).is_for(said)


@pytest.mark.parametrize("uri", REFUSED)
async def test_what_is_refused(client, uri):
    with pytest.raises(MCPError) as refused:
        await client.read_resource(uri)
    assert REFUSED[uri] in str(refused.value)
    assert refused.value.error.code == -32602
    assert refused.value.error.data == {"uri": uri}


@pytest.mark.parametrize("name", COMPLETED)
async def test_completion(client, name):
    ref, argument, typed, known, expected = COMPLETED[name]
    found = await client.complete(ref, {"name": argument, "value": typed}, known)
    assert found.completion.values[: len(expected) or 1] == expected


@pytest.mark.parametrize("tools", HAS)
async def test_a_profile_has_what_its_tools_give(tools):
    names, has_files = HAS[tools]
    profile = replace(profiles.load("fledgling-core"), tools=tuple(tools.split(", ")))
    assert [resource.name for resource in resources.allowed(profile)] == names
    assert resources.has_files(profile) == has_files
    for resource in resources.RESOURCES:
        assert isinstance(resources.found(profile, resource.uri), Refusal) == (resource.name not in names)
    assert isinstance(resources.found(profile, "fledgling://file/a.py"), Refusal) != has_files


async def test_a_client_is_offered_no_more_than_its_profile_has(tmp_path, project):
    (tmp_path / "mine.sql").write_text("SET tools = 'search, query';")
    async with fronted(project, tmp_path / "mine.sql", is_followed=True) as (front, _), client_of(front) as client:
        assert [each.name for each in (await client.list_resources()).resources] == ["profile", "schema"]
        assert not (await client.list_resource_templates()).resource_templates
        for uri in ("fledgling://overview", "fledgling://file/src/core/engine.py"):
            with pytest.raises(MCPError, match="is not a resource of the profile mine"):
                await client.read_resource(uri)
        for ref, argument in ((FILE, "path"), (FILE, "symbol"), (EXPLAIN, "symbol")):
            assert not (await client.complete(ref, {"name": argument, "value": "s"})).completion.values
        said = content(await client.read_resource("fledgling://schema"))
        for line in said.partition("\n\n")[0].replace(",\n", ",").split("\n"):
            table, _, columns = line.rstrip(")").partition("(")
            described = await client.call_tool("query", {"sql": f"DESCRIBE {table}"})
            assert [row[0] for row in described.structured_content["rows"]] == [c.strip() for c in columns.split(",")]


async def test_each_decision_is_one_line(tmp_path, project):
    log = tmp_path / "audit.jsonl"
    async with connected(project, "--audit-log", str(log)) as client:
        await client.read_resource("fledgling://file/src/core/engine.py")
        await client.read_resource("fledgling://profile")
        for uri in ("fledgling://schema", "fledgling://file/none.py", "fledgling://file/%ff"):
            with suppress(MCPError):
                await client.read_resource(uri)
        await client.get_prompt("review_module", {"path": "src/core/engine.py"})
        for name, arguments in (("none", {}), ("review_module", {})):
            with suppress(MCPError):
                await client.get_prompt(name, arguments)
        await client.complete(FILE, {"name": "path", "value": "src/"})
    records = [json.loads(line) for line in log.read_bytes().splitlines()]
    said = [(r["tool"], r["verdict"], r["layer"]) for r in records if r["event"] == "call"]
    assert said == [
        ("read", "allowed", "worker"),
        ("resources/read", "allowed", "broker"),
        ("resources/read", "denied", "profile"),
        ("read", "refused", "index"),
        ("resources/read", "refused", "arguments"),
        ("prompts/get review_module", "allowed", "broker"),
        ("prompts/get none", "denied", "profile"),
        ("prompts/get review_module", "refused", "arguments"),
        ("explore", "allowed", "worker"),
    ]
    assert not [r for r in records if r["event"] == "message"]


def test_static_text_is_what_was_reviewed():
    """What an agent is told of its server changes in sight of a reviewer: look at it, then put the new hash here."""
    static = json.dumps([resources.SCHEMA, *resources.TEMPLATES, *resources.RESOURCES])
    assert hashlib.sha256(static.encode()).hexdigest()[:32] == "db5337d76aa08e776012cecf7bee788d"
