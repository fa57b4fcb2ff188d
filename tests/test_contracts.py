"""What holds across files: style, types, imports, the wheel. Documents are in test_reference.py."""

import hashlib
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

from fledgling import digests
from fledgling.broker.protocol import schema
from fledgling.security import profile

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
ROOMS = ("broker", "worker", "security", "profiles")

CHECKS = {
    "style": ["ruff", "check", "."],
    "format": ["ruff", "format", "--check", "."],
    "types": ["mypy"],
    "types of benchmarks": ["mypy", "benchmarks"],
    "spelling": ["codespell"],
    "imports": ["lint-imports", "--no-cache"],
}


@pytest.mark.parametrize(  # CI checks all of them beside the tests, by `make check`
    "check", ["imports", *(pytest.param(check, marks=pytest.mark.long) for check in CHECKS if check != "imports")]
)
def test_checker_is_content(check: str) -> None:
    name, *arguments = CHECKS[check]
    done = subprocess.run([BIN / name, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_imports_go_in_no_circle_not_even_for_types() -> None:
    graph = grimp.build_graph("fledgling", cache_dir=None)
    imports = {module: set(graph.find_modules_directly_imported_by(module)) for module in graph.modules}
    TopologicalSorter(imports).prepare()  # raises CycleError, which names the modules


def test_a_class_name_means_one_thing() -> None:
    found: dict[str, list[str]] = {}
    for room in ("fledgling", *ROOMS, "benchmarks"):
        for file in (ROOT / room).rglob("*.py"):
            if not any(parent.is_symlink() for parent in file.parents):
                for name in re.findall(r"^ *class (\w+)[(:]", file.read_text(), re.MULTILINE):
                    found.setdefault(name, []).append(str(file.relative_to(ROOT)))
    twice = {name: files for name, files in found.items() if len(files) > 1}
    assert not twice, "call one of them otherwise"


MUST_NOT_IMPORT = {
    "fledgling.messages.control": ["duckdb", "tree_sitter", "mcp", "click", "fledgling.broker", "fledgling.worker"],
    "fledgling.pipe": ["duckdb", "tree_sitter", "mcp", "click", "fledgling.broker", "fledgling.worker"],
    "fledgling.security.profile": ["duckdb", "tree_sitter", "mcp", "click", "fledgling.broker", "fledgling.worker"],
    "fledgling.security.limits": ["duckdb", "tree_sitter", "mcp", "fledgling.broker", "fledgling.worker"],
    "fledgling.broker.cli.main": ["duckdb", "tree_sitter", "mcp", "fledgling.worker"],
    "fledgling.broker.cli.quick": ["click", "logging", "msgspec", "socket"],  # most of what a served question cost
    "fledgling.broker.cli.ask": [
        "asyncio",
        "csv",
        "ctypes",
        "difflib",
        "json",
        "subprocess",
        "fledgling.broker.front",
    ],  # a server may answer
    "fledgling.broker.confining": ["asyncio", "csv", "subprocess", "yaml"],  # what a command waits for
    "fledgling.broker.indexing.seeking": ["asyncio", "csv", "yaml", "fledgling.broker.launch"],
    "fledgling.broker.indexing.seeker_answer": ["json", "tomllib", "fledgling.broker.query_worker"],
    "fledgling.broker.spawn": ["asyncio", "msgspec", "yaml"],
    "fledgling.broker.protocol.server": ["duckdb", "tree_sitter", "fledgling.worker"],
    "fledgling.worker.indexer": ["mcp", "click", "fledgling.broker", "_duckdb", "tree_sitter", "numpy"],  # it forks
    "fledgling.worker.indexer.__main__": ["asyncio", "yaml"],  # where there is no fledgling.yaml
    "fledgling.worker.indexer.seek": [
        "mcp",
        "click",
        "fledgling.broker",
        "_duckdb",
        "tree_sitter",
        "numpy",
        "yaml",
    ],
    "fledgling.worker.lister.process": ["asyncio", "yaml"],  # where there is no fledgling.yaml
    "fledgling.worker.indexer.run": ["mcp", "click", "tree_sitter", "fledgling.broker"],
    "fledgling.worker.query": ["mcp", "click", "tree_sitter", "numpy", "fledgling.broker"],
}


LOADING = """
import os, sys
for module in sys.argv[1:]:
    if not os.fork():  # each in a process that has loaded nothing else
        __import__(module)
        print(module, *sys.modules)
        sys.stdout.flush()
        os._exit(0)
    assert os.wait()[1] == 0, module
"""


def test_room_loads_nothing_it_must_not() -> None:
    command = [sys.executable, "-I", "-c", LOADING, *MUST_NOT_IMPORT]
    done = subprocess.run(command, cwd="/", capture_output=True, text=True, check=True)
    loaded = {module: {*others} for module, *others in map(str.split, done.stdout.splitlines())}
    wrong = {module: loaded[module].intersection(names) for module, names in MUST_NOT_IMPORT.items()}
    assert not any(wrong.values()), wrong


BEGUN = "from fledgling.worker.process.begin import begin; begin()"


@pytest.mark.parametrize(
    ("program", "without"),
    [
        ("from fledgling.broker.cli import ask; ask._load_event_loop()", "ssl"),
        ("from fledgling.broker.cli import ask", "socket"),  # where no server runs
        *((f"{BEGUN}; import fledgling.worker.extractor.replacing", name) for name in ("inspect", "platform")),
        ("from fledgling.broker.cli import ask; from fledgling.broker.indexing import seeking", "_hashlib"),
        ("import fledgling.worker.extractor.replacing, fledgling.worker.indexer.seek", "_hashlib"),
        ("import fledgling.worker.indexer.run", "fledgling.worker.graph.resolve"),  # where no graph is made
        (
            "from fledgling.worker.extracting.extract import Extractor\n"
            "from fledgling.worker.languages.table import load_languages\n"
            "Extractor(load_languages())",
            "importlib.resources",
        ),
        (
            "from fledgling.worker.extractor.process import facts_extractor\n"
            "from fledgling.worker.languages.table import load_languages\n"
            "facts_extractor(load_languages(for_graph=False))",  # as a follower does
            "fledgling.worker.graph.reading.facts",
        ),
    ],
)
def test_what_libraries_load_for_others_is_left_to_those(program: str, without: str) -> None:
    program = (
        f"import sys\n{program}\nprint('{without}' in sys.modules)\nimport {without} as left; print(left.__file__)"
    )
    done = subprocess.run([sys.executable, "-I", "-c", program], cwd="/", capture_output=True, text=True, check=True)
    was_loaded, file = done.stdout.splitlines()
    assert was_loaded == "False"
    assert Path(file).is_file()


@pytest.mark.parametrize(
    ("name", "modules"),
    [("blake2b", ["_blake2"]), ("sha256", ["_sha2", "_sha256"]), ("sha256", ["no_such_module"])],
)
def test_digests_are_those_of_hashlib(name: str, modules: list[str]) -> None:
    assert digests.first(name, *modules)(b"text").digest() == getattr(hashlib, name)(b"text").digest()


def test_a_command_loads_no_more_of_libraries_than_it_needs() -> None:
    names = ("typing_extensions", "inspect", "platform", "_hashlib")  # an editable install loads urllib.parse
    program = (
        "import atexit, sys\n"
        "from fledgling.__main__ import main\n"
        f"atexit.register(lambda: print([name for name in {names} if name in sys.modules]))\n"
        "sys.argv[1:] = ['--version']\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-I", "-c", program], cwd="/", capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_what_is_loaded_in_part_is_whole_for_whoever_wants_more() -> None:
    """Also of who has got the part of it, and in any way of importing it."""
    program = (
        "import sys\n"
        "from fledgling.standing_in import StandIn, lean, standing_in\n"
        "with lean():\n"
        "    import inspect as part, pathlib, uuid\n"
        "    assert isinstance(part, StandIn) and part.cleandoc('  a ') == 'a '\n"
        "    assert not hasattr(part, '__path__') and sys.modules['inspect'] is part\n"
        "    from inspect import isfunction\n"
        "import inspect, urllib.parse, platform\n"
        "assert isfunction is inspect.isfunction is part.isfunction\n"
        "text = ' a\\n\\n    b\\n      c\\n'\n"
        "assert part.cleandoc(text) == inspect.cleandoc(text) == 'a\\n\\nb\\n  c'\n"
        "assert not any(isinstance(module, StandIn) for module in sys.modules.values())\n"
        "print(pathlib.Path('/a b').as_uri(), uuid._LINUX == (sys.platform == 'linux'))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", program], cwd="/", capture_output=True, text=True, check=True)
    assert done.stdout == "file:///a%20b True\n"


NO_CLIENT = ("httpx2", "cryptography", "mcp.client", "mcp.server.mcpserver")  # what the SDK's packages would load


def test_server_loads_no_client_and_no_validator_before_its_use() -> None:
    program = (
        "import sys\n"
        "from fledgling.broker.protocol import sdk\n"
        "with sdk.lean():\n"
        "    from fledgling.broker.protocol import server\n"
        "    from fledgling.broker.protocol.http import monitor, serving\n"
        "    from mcp.types import CallToolResult\n"
        "print(*sys.modules, 'complete' if CallToolResult.__pydantic_complete__ else '')"
    )
    done = subprocess.run([sys.executable, "-I", "-c", program], cwd="/", capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()).intersection({*NO_CLIENT, "complete"})


def test_wheel_holds_the_tree(tmp_path: Path) -> None:
    program = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"  # as pip does
    elsewhere = tmp_path / "build.cfg"  # what an earlier build left in the tree would be packed, too
    elsewhere.write_text(f"[build]\nbuild_base = {tmp_path / 'build'}\n")
    environment = {**os.environ, "DIST_EXTRA_CONFIG": str(elsewhere)}
    command = [sys.executable, "-c", program, str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT, env=environment)
    (wheel,) = tmp_path.glob("*.whl")
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [Path(name) for name in tracked.split("\0") if name and not (ROOT / name).is_symlink()]
    expected = {str(name) for name in files if name.parts[0] == "fledgling"}
    expected |= {f"fledgling/{name}" for name in files if name.parts[0] in ROOMS}
    expected |= {f"fledgling/attacks/{name.name}" for name in files if name.parts[:2] == ("tests", "attacks")}
    assert packed == expected, "git add what is new; a folder with modules has an __init__.py"


@pytest.mark.parametrize("name", profile.shipped())
def test_instructions_and_definitions_stay_small(name: str) -> None:
    loaded = profile.load(name)
    for is_one in (True, False):
        assert len(schema.instructions(loaded, is_one=is_one).encode()) <= 2048
    assert all(len(schema.description(tool).encode()) <= 600 for tool in loaded.tools)


def test_dependencies_are_bounded_where_a_new_release_could_change_answers() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pinned = {"duckdb", "tree-sitter", "tree-sitter-python", "tree-sitter-javascript", "tree-sitter-typescript", "mcp"}
    names = {re.split(r"[<>=]", line)[0] for line in project["dependencies"] if "<" in line or "==" in line}
    assert pinned <= names
