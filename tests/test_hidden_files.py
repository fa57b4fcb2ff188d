"""Nothing that an agent sees depends on files that its profile hides: trees that differ in those alone answer alike."""

import os
import re
from contextlib import asynccontextmanager, suppress

import pytest
from asking import client_of, text
from mcp.shared.exceptions import MCPError
from mcp.types import PromptReference, ResourceTemplateReference
from trees import make, walked

from fledgling.broker.front import Front
from fledgling.broker.indexing.failures import IndexingError
from fledgling.broker.indexing.indexing import Indexing
from fledgling.messages.control import Generation, Progress
from fledgling.messages.generations import EDGES
from fledgling.scope import Scope
from fledgling.security import profile as profiles
from fledgling.settings import Settings
from fledgling.worker.files.walk import BEYOND, MAX_NAMES
from fledgling.worker.lister.process import SMALL_FILES, most_names

HIDDEN = "hid"  # what is in the path of every hidden file, and of no other
VIEWS = {
    "visible_files": f"CREATE VIEW visible_files AS SELECT * FROM files WHERE path NOT LIKE '%{HIDDEN}%';",
    "files": f"CREATE VIEW files AS SELECT * FROM files WHERE path NOT LIKE '%{HIDDEN}%';",
    "all, joined with files": f"""
        CREATE VIEW files AS SELECT * FROM files WHERE path NOT LIKE '%{HIDDEN}%';
        CREATE VIEW content AS SELECT c.* FROM content c JOIN files f ON c.path = f.path WHERE f.line_count > 2;
        CREATE VIEW symbols AS SELECT s.* FROM symbols s JOIN files f ON s.path = f.path WHERE f.line_count > 2;
        CREATE VIEW imports AS SELECT * FROM imports WHERE path IN (SELECT path FROM files WHERE line_count < 99);""",
    "both, and what it leaves": f"""
        CREATE VIEW visible_files AS SELECT * FROM files WHERE path NOT LIKE '%{HIDDEN}/%';
        CREATE VIEW files AS SELECT * FROM files WHERE path NOT LIKE '%{HIDDEN}%';
        CREATE VIEW content AS SELECT * FROM content WHERE line_number < 40;
        CREATE VIEW symbols AS SELECT * FROM symbols WHERE name <> 'left_out';""",
}
LIMITS = {
    "ordinary": {},
    "few files": {"max_files": 9},
    "one file": {"max_files": 1},
    "small files": {"max_file_size": 300, "max_files": 12},
}

# ---- the trees ------------------------------------------------------------------------------------------------------

PACKAGES = [f"pack_{number}" for number in range(4)]
VISIBLE = {
    "README.md": "# Project\n\nAbout needles.\n\n## Use\n\n" + "needle in a line\n" * 60,
    "main.py": "import os\nfrom pack_0 import one, gone\nfrom hid_module import thing\n\n\ndef main():\n    return 1\n",
    "web/package.json": '{"name": "web"}\n',
    "web/index.ts": 'import {a} from "./a";\nimport {b} from "./hid_b";\nexport const needle = a;\n',
    "web/a.ts": "export const a = 1;\n",
    "binary.bin": "\0needle",
    "m/deep/er/still/last.c": "int needle(void) { return 0; }\n",
    **{f"{pack}/__init__.py": f"from . import one\n\nneedle = '{pack}'\n" for pack in PACKAGES},
    **{f"{pack}/one.py": "def needle():\n    return 1\n\n\ndef left_out():\n    return 2\n" * 5 for pack in PACKAGES},
}


LINKS = {"link.py": "main.py", "dangling.py": "hid_module.py"}  # what a link leads to may be hidden
ALL = len(VISIBLE) + len(LINKS)


def many(directory, number=60):
    return {f"{directory}/{n:04}.py": f"import os\n\n\ndef needle_{n}():\n    return 'needle'\n" for n in range(number)}


HIDDEN_FILES = {
    "before all others": many("!hid"),
    "behind all others": many("zz_hid"),
    "beside all others": {f"{pack}/{name}_hid.py": "needle = 1\n" for pack in PACKAGES for name in "!z"},
    "at the root": {f"{name}hid{n}": "needle" for n in range(30) for name in "!mz"},
    "deep": {f"hid/{'d/' * depth}needle.py": "needle\n" for depth in range(60)},
    "larger than may be": {f"hid{n}.py": "needle = 1\n" * 200_000 for n in range(2)},
    "as large as may be": {f"!hid{n:02}.txt": f"{'needle 123':1099}\n" * 950 for n in range(20)},
    "of what imports mean": {"hid_module.py": "thing = 1\n", "web/hid_b.ts": "export const b = 1;\n"},
    "manifests": {"!hid/package.json": '{"name": "web"}', "hid/tsconfig.json": "{}", "hid/go.mod": "module web\n"},
    "secret and generated": {"hid/.env": "needle=1\n", "hid/a_pb2.py": "# Generated\n", "hid.min.js": "needle;" * 999},
    "that no parser understands": {f"hid/{n}.py": "def needle(((((:\n" * 400 for n in range(12)},
    "so many that others have a listing": many("!hid", SMALL_FILES + 100),
}


def plant(root, hidden=()):
    make(root, **VISIBLE, **dict(hidden))
    for link, target in LINKS.items():
        (root / link).symlink_to(target)
    if hidden:
        (root / "!hid_link.py").symlink_to("main.py")
    for path in root.rglob("*"):
        os.utime(path, (1, 1), follow_symlinks=False)
    return root


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    return plant(tmp_path_factory.mktemp("alone"))


# ---- what is asked --------------------------------------------------------------------------------------------------

PATHS = [*VISIBLE, *LINKS, "hid_module.py", "!hid", "hid", "web", "pack_0", "nothing.py"]
CALLS = [
    *(("explore", {"path": path, "depth": 3}) for path in ("", "web", "hid", "!hid", "m", "pack_1")),
    *(("explore", {"pattern": pattern}) for pattern in ("**/*.py", "*hid*", "**/package.json")),
    *(("read", {"path": path}) for path in PATHS),
    *(("read", {"path": path, "symbol": "needle"}) for path in PATHS),
    *(("search", {"query": query, "max_results": 7}) for query in ("needle", "nowhere", "import", "thing", "hid")),
    *(("search", {"query": "needle", "path": path}) for path in ("hid*/**", "**/*.py", "none/**")),
    ("search", {"query": "ne+dle", "regex": True, "context": 0}),
    ("search", {"query": "needle", "kind": "function"}),
    *(("search", {"query": "what is a needle", "mode": mode, "explain": True}) for mode in ("meaning", "docs")),
    *(("explore", {"detail": detail, "depth": 3}) for detail in ("summary", "architecture")),
    *(("symbols", {"symbol": "needle", "path": "pack_0", "relation": of}) for of in ("usages", "callers", "impact")),
    ("symbols", {"symbol": "main", "relation": "usages", "possible": True}),
    ("read", {"symbol": "main", "budget_tokens": 800}),
    ("read", {"symbol": "thng"}),
    *(("symbols", {"path": path}) for path in ("**", "hid/**", "**/*.ts")),
    ("symbols", {"name_pattern": "needle_*"}),
    ("symbols", {"kind": "class"}),
    *(("dependencies", {"path": path, "depth": 3}) for path in PATHS),
    *(
        ("query", {"sql": f"SELECT * FROM {table} ORDER BY ALL"})
        for table in (
            "files",
            "content",
            "symbols",
            "imports",
            "tags",
            "summaries",
            "calls",
            "refs",
            "inherits",
            "hubs",
        )
    ),
    *(("query", {"sql": f"SELECT * FROM {table} LIMIT 5"}) for table in ("files", "content", "symbols", "imports")),
    ("query", {"sql": "SELECT rowid, path FROM files ORDER BY rowid"}),
    ("query", {"sql": "SELECT count(*), sum(size_bytes), max(path), min(path) FROM files"}),
]
URIS = [
    "fledgling://status",
    "fledgling://overview",
    "fledgling://profile",
    "fledgling://schema",
    "fledgling://file/main.py",
]
URIS += ["fledgling://file/hid_module.py", "fledgling://file/link.py"]
FILES = ResourceTemplateReference(type="ref/resource", uri="fledgling://file/{+path}")
SYMBOL = PromptReference(type="ref/prompt", name="explain_symbol")
TIME = re.compile(r"20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?")  # of the clock, not of the project
TYPED = [(FILES, "path", typed) for typed in ("", "h", "!", "web/", "pack")]
TYPED += [(SYMBOL, "symbol", typed) for typed in ("", "n", "th")]


async def answers(client, calls):
    """All that a client can be told of a project, as text: structures and their words, refusals, resources, lists."""
    said = {}
    for tool, arguments in calls:
        result = await client.call_tool(tool, arguments)
        said[f"{tool} {arguments}"] = result.model_dump_json(exclude={"meta"})  # when that was known
    for uri in URIS:
        try:
            said[uri] = (await client.read_resource(uri)).model_dump_json(exclude={"meta"})
        except MCPError as refused:
            said[uri] = str(refused.error)
    for reference, name, typed in TYPED:
        completed = await client.complete(reference, {"name": name, "value": typed})
        said[f"{name} {typed}"] = completed.model_dump_json()
    for listed in (client.list_tools, client.list_resources, client.list_resource_templates, client.list_prompts):
        said[listed.__name__] = (await listed()).model_dump_json()
    return {asked: TIME.sub("", text) for asked, text in said.items()}


class Listening(Indexing):
    """An indexing that notes what its indexer says on the way: whatever is told of it, it is told of these."""

    def __init__(self, *arguments):
        self.heard = []
        super().__init__(*arguments)

    def __setattr__(self, name, value):
        if name in ("progress", "_newest") and value:
            self.heard.append(value)
        super().__setattr__(name, value)


@asynccontextmanager
async def served(root, profile, **limits):
    indexing = Listening(Settings(root=str(root), **limits), profile)
    front = Front(profile, indexing)
    try:
        await indexing.accepted()
        await indexing.built()
        with suppress(IndexingError):
            await indexing.sealed(EDGES)  # until then the status says how far it is
        async with client_of(front) as client:
            yield client, indexing
    finally:
        await front.close()


def narrow(folder, views="visible_files"):
    """A profile that hides files, with every tool and as little memory as there may be."""
    file = folder / "narrow.sql"
    file.write_text(f"SET extends = 'fledgling-analyst';\nSET memory_limit = '128MB';\n{VIEWS[views]}")
    return profiles.load(str(file))


async def said_of(root, profile, limits, calls):
    async with served(root, profile, **limits) as (client, indexing):
        progress = [heard for heard in indexing.heard if isinstance(heard, Progress)]
        assert max(heard.total for heard in progress) <= ALL
        generations = [heard for heard in indexing.heard if isinstance(heard, Generation)]
        return {**await answers(client, calls), "generations": generations}


async def is_the_same(alone, other, profile, *, calls=CALLS, **limits):
    key = (profile.digest, len(calls), *limits.items())
    if key not in SAID:
        SAID[key] = await said_of(alone, profile, limits, calls)
    one, two = SAID[key], await said_of(other, profile, limits, calls)
    assert one["generations"]
    assert one.keys() == two.keys()
    different = {asked: (one[asked], two[asked]) for asked in one if one[asked] != two[asked]}
    assert not different, f"{len(different)} of {len(one)} answers differ"


SAID = {}  # of the tree without any hidden file, by profile and limits


BY_NAME = (
    "before all others",
    "behind all others",
    "beside all others",
    "at the root",
    "deep",
    "so many that others have a listing",
)
BY_CONTENT = tuple(kind for kind in HIDDEN_FILES if kind not in BY_NAME)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("views", "limits", "kinds", "calls"),  # what hides by where files are, and by what is in them: half of the calls
    [
        ("visible_files", "few files", BY_NAME, CALLS[::2]),
        ("all, joined with files", "small files", BY_CONTENT, CALLS[1::2]),
        pytest.param("visible_files", "few files", tuple(HIDDEN_FILES), CALLS, marks=pytest.mark.long),
        pytest.param("all, joined with files", "small files", tuple(HIDDEN_FILES), CALLS, marks=pytest.mark.long),
    ],
    ids=["names", "contents", "names, all", "contents, all"],
)
async def test_answers_are_the_same_with_all_that_may_be_hidden(alone, tmp_path, views, limits, kinds, calls):
    hidden = {path: text for kind in kinds for path, text in HIDDEN_FILES[kind].items()}
    other = plant(tmp_path / "other", hidden)
    await is_the_same(alone, other, narrow(tmp_path, views), calls=calls, **LIMITS[limits])


@pytest.mark.anyio
@pytest.mark.long
@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("views", VIEWS)
@pytest.mark.parametrize("hidden", HIDDEN_FILES)
async def test_answers_are_the_same_whatever_is_hidden(alone, tmp_path, views, limits, hidden):
    other = plant(tmp_path / "other", HIDDEN_FILES[hidden])
    await is_the_same(alone, other, narrow(tmp_path, views), **LIMITS[limits])


@pytest.mark.anyio
async def test_what_is_cut_is_counted_without_what_is_hidden(tmp_path):
    root = plant(tmp_path / "other", HIDDEN_FILES["before all others"])
    async with served(root, narrow(tmp_path), **LIMITS["few files"]) as (client, _):
        note = f"Only 9 of {ALL} files are indexed: those nearest to the root, then by path."
        assert note in text(await client.call_tool("explore", {}))
        [[files]] = (await client.call_tool("query", {"sql": "SELECT count(*) FROM files"})).structured_content["rows"]
        assert files == 9


def test_a_walk_that_ends_before_a_view_decides_says_no_number_to_an_agent(tmp_path):
    """Nor is `max_files` applied: what a view leaves is counted."""
    make(tmp_path, *many("a"))
    before = Scope(exclude_patterns=(), max_files=3)
    tree = walked(tmp_path, before, names=20, is_whole=True)
    assert (len(tree.entries), tree.partial) == (20, BEYOND)
    assert tree.notices == ["The walk ended after 20 names; what comes later is missing."]
    assert not any(character.isdigit() for character in BEYOND)
    assert (len(walked(tmp_path, before, is_whole=True).entries), walked(tmp_path, before).partial[:11]) == (
        60,
        "Only 3 of 6",
    )


def test_names_looked_at_fit_the_memory_of_a_profile(tmp_path):
    """What a view will hide is kept until it has decided; without such a view no more than `max_files` are."""
    assert most_names(narrow(tmp_path)) == 62_500
    assert most_names(profiles.load("fledgling-outie")) == 488_281
    assert most_names(profiles.load("fledgling-core")) == MAX_NAMES
