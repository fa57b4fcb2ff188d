"""The fixtures of all tests: a repository, a real server behind a real client, and an engine."""

import compileall
import fcntl
import gc
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import forking
import pytest

if TYPE_CHECKING:
    from mcp import Client

TESTS = Path(__file__).parent
# Objects made between two collections, and collections until an older generation has one, too: with Python's own 700,
# 10 and 10 they take a seventh of what the tests of graphs cost.
COLLECTING = 20_000, 20, 20
ERAS = {"handshake": "legacy", "modern": "auto"}

# fmt: off
# Files of tests that start no process: `make quick` runs them.
QUICK = [
    "conditionals", "conditions", "config", "directives", "elided_bodies", "examples", "fitting", "git_index", "globs",
    "ignore", "macros", "matching", "memory_maps", "profile", "ranking", "reference", "search_pages", "signatures",
    "tables",
]

# Files that take long, the longest first: one that began late would keep one process at work alone at the end.
LONG_FIRST = [
    "audit", "control", "graph", "live", "memory", "limits", "cli", "http", "relations", "staying", "wire", "projects",
    "confinement", "generations", "fleet_serving", "calls", "deadlines", "processes", "stdio", "traces", "ablation",
    "honesty", "poison", "guards", "corpora", "watchdog", "environments", "operator", "image", "monitor",
    "fleet_bundles", "row_makers", "summaries", "embedding", "fleet", "hidden_files", "contracts", "statement",
    "meaning", "narrowing", "extract", "made_tables", "fleet_build", "report", "languages", "overlay", "resolve",
    "seeking", "hostile_trees", "benchmarks", "listing", "tags", "status", "issuer", "updates", "fleet_storage",
    "audit_log", "cookbook", "shell", "following", "globs", "tools", "fleet_tables", "shadowing", "image_files",
    "links", "resources", "fleet_http", "macros", "supply_chain", "savings", "gaps", "search",
]
# fmt: on


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "write what is found in tests/languages/ into its tables; then read the difference"
    parser.addoption("--accept", action="store_true", help=text)


def pytest_configure(config: pytest.Config) -> None:
    """Compile Fledgling once: processes that tests start write no bytecode, and each would compile what it imports."""
    if not hasattr(config, "workerinput"):
        for room in ("fledgling", "broker", "worker", "security"):
            compileall.compile_dir(TESTS.parent / room, quiet=2)
    gc.disable()  # what is collected stays
    if hasattr(config, "workerinput"):
        return
    forking.fork_instead()
    if sys.platform == "linux" and config.getoption("tx", None):
        import_tests(config)
        forking.fork_workers()


def import_tests(config: pytest.Config) -> None:
    """Import the test files that are asked for, once for all processes that run them."""
    asked = [Path(argument.partition("::")[0]).resolve() for argument in config.args]
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    for path in sorted(TESTS.glob("test_*.py")):
        if not is_left_out(path, config) and any(path.is_relative_to(place) for place in asked):
            with suppress(Exception, pytest.skip.Exception):  # it is said when the file is collected
                import_module(path.stem)
    if asked == [TESTS] and config.option.markexpr == "not long":  # a few files need few languages
        import_module("graph_reading").prepare()
    sys.dont_write_bytecode = before


def pytest_collection_finish(session: pytest.Session) -> None:
    """Start what processes are forked from before a test looks at what this process has."""
    gc.freeze()
    gc.set_threshold(*COLLECTING)
    gc.enable()
    if not session.config.option.collectonly and any("quick" not in item.keywords for item in session.items):
        forking.begin()


def pytest_unconfigure() -> None:
    forking.end()


LONG = re.compile(r"^pytestmark = (?:\[[^]]*)?pytest\.mark\.long\b", re.MULTILINE)


def is_left_out(path: Path, config: pytest.Config) -> bool:
    """Return whether none of a file's tests is asked for: importing all test files takes seconds."""
    if config.option.markexpr.startswith("quick"):
        return path != TESTS and (path.is_dir() or path.stem.removeprefix("test_") not in QUICK)
    return (
        config.option.markexpr == "not long"
        and path.suffix == ".py"
        and LONG.search(path.read_text("utf-8")) is not None
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return True if is_left_out(collection_path, config) else None


def pytest_pycollect_makeitem(collector: pytest.Collector, name: str, obj: object) -> list[pytest.Item] | None:
    """Make no tests of the rows of a long table that is not asked for: there are thousands, in each process."""
    is_long = any(mark.name == "long" for mark in getattr(obj, "pytestmark", ()) if isinstance(mark, pytest.Mark))
    return [] if is_long and collector.config.option.markexpr == "not long" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put files that take long first, and mark what is quick."""
    places = {f"test_{name}": place for place, name in enumerate(LONG_FIRST)}
    items.sort(key=lambda item: places.get(item.path.stem, len(places)))
    for item in items:
        if item.path.stem.removeprefix("test_") in QUICK:
            item.add_marker(pytest.mark.quick)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


_holding: set[str] = set()  # fixtures that hold a process which was forked


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Generator[None, object, object]:
    before = len(forking.forked)
    result = yield
    if any(Path(f"/proc/{pid}").exists() for pid in forking.forked[before:]):
        _holding.add(fixturedef.argname)
    return result


def pytest_fixture_post_finalizer(fixturedef: pytest.FixtureDef[Any]) -> None:
    _holding.discard(fixturedef.argname)


@pytest.fixture
def executed(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let the processes that a test starts be executed: it looks at what they load or hold, and when."""
    held = _holding & {*request.fixturenames}
    assert not held, f"the processes of {held} were forked before: let these fixtures take `forking.executing`"
    with forking.executing():
        yield


@pytest.fixture(scope="module")
def executed_behind() -> Iterator[None]:
    """Let the back processes of what a module's tests start be executed: it looks at how they are started."""
    with forking.executing_behind():
        yield


@pytest.fixture(scope="module")
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection of the file's own: on DuckDB's shared one a test trips over what any other has left unread."""
    with duckdb.connect() as connection:
        yield connection


def git(root: Path, *arguments: str) -> bytes:
    """Run git without any configuration but the repository's own."""
    environment = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "GIT_CONFIG_GLOBAL": os.devnull}
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    command = ["git", *identity, *arguments]
    return subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True).stdout


def write_project(root: Path) -> Path:
    """Write the project of project.toml, a binary file and a link, and put it under git."""
    for path, text in tomllib.loads((TESTS / "project.toml").read_text())["files"].items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (root / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0canary")
    (root / "link.py").symlink_to("src/core/engine.py")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "all")
    return root


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_project(tmp_path_factory.mktemp("project"))


@pytest.fixture(scope="session")
def small_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of one file, for servers whose answers are not what is tested: an index costs half as much."""
    root = tmp_path_factory.mktemp("small")
    (root / "a.py").write_text("def needle():\n    return 1\n")
    return root


STAGED, DEFINED = 2100, 12  # files of `staged`, and what each defines


@pytest.fixture(scope="session")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose index comes in all its generations: files enough for a listing, and 1.3 MB of source."""
    return stage(tmp_path_factory.mktemp("staged"), STAGED)


def stage(root: Path, files: int) -> Path:
    """Write files of such a project."""
    for number in range(files):
        directory = root / f"d{number % 40}"
        directory.mkdir(exist_ok=True)
        body = "".join(f"def f{number}_{n}(x):\n    return [x, {n}]  # needle {number}\n\n\n" for n in range(DEFINED))
        (directory / f"m{number}.py").write_text(f"import os\n\n\n{body}")
    return root


@pytest.fixture(scope="session")
def repositories_and_shards(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Three repositories, and their shards and bundle: one build for all processes of a run.

    No test changes a file of them; a directory comes and goes in `lib`.
    """
    from test_fleet import NAMES, write_repositories  # noqa: PLC0415

    base = tmp_path_factory.getbasetemp()
    place = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "fleet"
    place.mkdir(exist_ok=True)
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "done").exists():
            (place / "repositories").mkdir()
            write_repositories(place / "repositories")
            (place / "shards").mkdir(mode=0o700)
            (place / "list").write_text("".join(f"{place / 'repositories' / name}\n" for name in NAMES))
            done = forking.fledgling("fleet", "build", str(place / "list"), "--out", str(place / "shards"))
            assert done.returncode == 0, done.stdout + done.stderr
            assert "\n1 bundle, 1 of them made\ndigest " in done.stdout
            (place / "done").touch()
    return place / "repositories", place / "shards"


def serve_command(root: Path, *options: str) -> list[str]:
    """The command a client is configured with."""
    command = [sys.executable, "-I", "-B", "-m", "fledgling", "serve", "--root", str(root)]
    return [*command, *options]


@asynccontextmanager
async def connected(root: Path, *options: str, era: str = "modern", **client: Any) -> AsyncIterator["Client"]:
    from mcp import Client, StdioServerParameters  # noqa: PLC0415  (a second that `make quick` does without)
    from mcp.client.stdio import stdio_client  # noqa: PLC0415

    command, *arguments = serve_command(root, *options)
    server = StdioServerParameters(command=command, args=arguments, cwd="/")
    with tempfile.TemporaryFile("w+") as said:
        try:
            async with Client(stdio_client(server, errlog=said), mode=ERAS[era], **client) as connection:
                yield connection
        except BaseException:
            said.seek(0)
            sys.stderr.write(said.read())  # pytest shows it beside what failed
            raise
