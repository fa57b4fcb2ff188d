"""The command line, run as a user runs it: one table of arguments, exit codes and what is printed."""

import json
import os
import re
import select
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import psutil
import pytest
from conftest import git
from forking import CLEAN, fledgling, started
from running import LATE, PATIENCE, QUERY_WORKER, Server, back_processes

from fledgling.broker.cli import ask, commands, completing, look, serve
from fledgling.broker.cli import bash as bash_complete
from fledgling.messages.questions import QUESTIONS
from fledgling.messages.status import Status
from fledgling.plain import in_sentence
from fledgling.security.audit.report import Report

TESTS = Path(__file__).parent
CASES = {case["name"]: case for case in tomllib.loads((TESTS / "cli.toml").read_text())["case"]}
PROFILES = {
    "hasty.sql": "SET extends = 'fledgling-analyst';\nSET query_timeout = 1;\n",
    "copies.sql": "SET tools = 'explore';\n\nCOPY files TO 'x';\n",
    "reads.sql": "SET tools = 'explore';\nCREATE VIEW files AS SELECT * FROM read_text('/etc/hostname');\n",
    "adds.sql": "SET tools = 'explore';\nCREATE VIEW files AS SELECT *, 1 AS extra FROM files;\n",
}


OPERATING = ("status", "check-updates", "reindex", "ingest", "ingest-delta", "purge")
OF_INDEX = ("pid", "project", "profile", "agent", *Status.__struct_fields__)
INDEX = (
    "files lines symbols imports image_bytes seconds languages skipped left_out slowest notices partial sections tree"
)
# A command, what else is typed, the names in the object that --json prints, the list in it that the settings tell of,
# and the names in each object of that.
OBJECTS = [
    ("profiles list", "", ["profiles"], "profiles", ["name", "purpose", "tools"]),
    ("profiles show", "fledgling-core", ["profile"], "profile", ["field", "value"]),
    ("profiles diff", "fledgling-core fledgling-analyst", ["differences"], "differences", ["field", "a", "b"]),
    ("config show", "--root {tmp}/tree", ["settings"], "settings", ["name", "value", "source"]),
    ("agents list", "--agents {tmp}/agents.yaml", ["agents"], "agents", ["name", "profile", "projects"]),
    (
        "languages",
        "",
        ["languages"],
        "languages",
        ["name", "definitions", "imports", "comments", "uses", "parser", "extensions"],
    ),
    ("install --check", "", ["clients"], "clients", ["client", "file", "state", "detail", "run"]),
    *((command, "--name one", ["indexes"], "indexes", [*OF_INDEX]) for command in OPERATING),
    ("list", "", ["served"], "served", ["root", *OF_INDEX]),
    (
        "doctor",
        "--root {tmp}/tree",
        ["serves", "system", "findings", "wants", "stops", "landlock_abi", "lacks", "checks", "thin"],
        "checks",
        ["what", "state", "detail"],
    ),
    (
        "index",
        "--root {tmp}/tree",
        [*INDEX.split(), "contents"],
        "languages",
        ["language", "files", "lines", "bytes", "symbols", "seconds"],
    ),
    ("report", "--root {tmp}/tree --html {tmp}/page.html", ["file", "index", "overview"], None, []),
    ("audit verify", "{tmp}/agents.yaml", ["lines", "torn", "hash", "found", "broken"], None, []),
]
ROW = re.compile(r"^\| (`[a-z].*?) \| (`.*?) \| (.*)\|$", re.MULTILINE)


def test_settings_say_of_each_command_what_object_it_prints() -> None:
    """`audit` and `savings` take longer and are not run: of `audit`, this looks at what a report is declared with."""
    docs = TESTS.parent / "docs"
    of_index = (docs / "operating.md").read_text().partition("| field | what it says |")[2].partition("\n\n")[0]
    of_index = re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`.*?) \|", of_index, re.MULTILINE)))
    told = {
        command: (re.findall(r"`(\w+)`", its), each)
        for names, its, each in ROW.findall((docs / "settings.md").read_text().partition("| its object |")[2])
        for command in re.findall(r"`([a-z -]+)`", names)
    }
    printed = {command: names for command, _, names, _, _ in OBJECTS}
    printed |= {"audit": [*Report.__struct_fields__], "savings": ["questions"]}
    assert {command: names for command, (names, _) in told.items()} == printed
    for command, _, names, listed, fields in OBJECTS:
        said = re.findall(r"`(\w+)`", told[command][1])
        if listed and len(names) > 1:
            assert said.pop(0) == listed, command
        if listed == "served":  # "the same"
            said += re.findall(r"`(\w+)`", told["status"][1])
        if listed in ("served", "indexes"):
            said += of_index
        assert listed is None or sorted(said) == sorted(fields), command


@pytest.mark.parametrize("wide", [False, pytest.param(True, marks=pytest.mark.long)], ids=["some", "all"])
def test_json_of_each_command_is_what_the_settings_say(tmp_path: Path, served: dict[str, str], wide: bool) -> None:
    """What operators of an index are told is one object: the long row asks each of their commands for it."""
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.py").write_text("def a():\n    pass\n")
    environment = {"HOME": str(tmp_path), **served}
    fledgling("agents", "add", "a", "--agents", str(tmp_path / "agents.yaml"), **environment)
    fledgling("install", "--client", "gemini", "--write", **environment)
    for command, typed, names, listed, fields in OBJECTS:
        if command in OPERATING[1:] and not wide:
            continue
        done = fledgling(*command.split(), *typed.format(tmp=tmp_path).split(), "--json", **environment)
        found = json.loads(done.stdout)
        assert sorted(found) == sorted(names), command
        if listed:
            assert [sorted(each) for each in found[listed]][:1] == [sorted(fields)], command


@pytest.fixture(scope="module")
def profiles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("profiles")
    for name, text in PROFILES.items():
        (directory / name).write_text(text)
    return directory


# What a terminal obeys, hides or turns around: one of each kind, as a project may hold it.
OBEYED = (
    "\x00\x07\x08\x1b\x7f\x85\x9b\x9d\xad\u061c\u200b\u200d\u200e\u200f\u2028\u2029\u202a\u202e\u2060\u2066\u2069\ufeff"
)
OBEYED += "\U000e0041"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of what terminals obey."""
    root = tmp_path_factory.mktemp("hostile")
    (root / "a.py").write_text(f"x = '{OBEYED.replace(chr(0), '')}'  # hostile\ndef f(a='{OBEYED[1:]}'): ...\n")
    (root / f"b{OBEYED[1:]}.py").write_text("hostile\n")
    (root / "owned.py").write_text("x = '\x1b]0;owned\x07'\n")
    (root / "long.py").write_text("x = 1\n" * 100)
    return root


@pytest.fixture(scope="module")
def served(project: Path, hostile: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """An environment in which servers of two profiles answer for the projects: a command builds no index of its own.

    That they say the same, tests/test_control.py tries.
    """
    place, one = tmp_path_factory.mktemp("runtime"), tmp_path_factory.mktemp("one")
    place.chmod(0o700)
    (one / "a.py").write_text("def a():\n    pass\n")
    environment = {"XDG_RUNTIME_DIR": str(place)}
    roots = [f"project={project}", "--root", f"hostile={hostile}", "--root", f"one={one}"]
    with ExitStack() as servers:
        for root, *options in (roots, [str(project), "--profile", "fledgling-analyst"]):
            server = Server(root, "--control", *options, env={**CLEAN, **environment})
            servers.enter_context(server).begin()
        yield environment


def check(
    run: Callable[..., "subprocess.CompletedProcess[str]"],
    name: str,
    project: Path,
    profiles: Path,
    served: dict[str, str],
) -> None:
    case: dict[str, Any] = CASES[name]
    arguments = [argument.replace("{root}", str(project)).replace("{tmp}", str(profiles)) for argument in case["run"]]
    until_then = time.monotonic() + PATIENCE
    while re.search(LATE, (done := run(*arguments, **served, **case.get("env", {}))).stderr):
        assert time.monotonic() < until_then, done.stderr
    assert done.returncode == case["code"], done.stdout + done.stderr
    for expected in case.get("out", ()):
        assert expected in done.stdout
    for expected in case.get("err", ()):
        assert expected in done.stderr
    assert "Traceback" not in done.stderr
    assert "\x1b" not in done.stdout + done.stderr


LONG = {name: pytest.mark.long for name, row in CASES.items() if "borne_out_by" in row}


@pytest.mark.parametrize("name", [pytest.param(name, marks=LONG.get(name, ())) for name in CASES])
def test_command(name: str, project: Path, profiles: Path, served: dict[str, str]) -> None:
    check(fledgling, name, project, profiles, served)


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_command_by_a_python_of_its_own(name: str, project: Path, profiles: Path, served: dict[str, str]) -> None:
    check(started, name, project, profiles, served)


def test_cases_are_borne_out_by_others() -> None:
    """What a long row of the table says, a plain one says of the same code."""
    assert [name for name in LONG if CASES[name]["borne_out_by"] not in CASES.keys() - LONG.keys()] == []


SCREEN = 50  # lines of a terminal; at 24, help of anything is longer


@pytest.mark.parametrize("command", [*map(ask.command_of, QUESTIONS), serve.serve, look.index], ids=lambda c: c.name)
def test_help_fits_a_screen(command: click.Command) -> None:
    said = command.get_help(click.Context(command, info_name=command.name, terminal_width=78))
    assert len(said.splitlines()) <= SCREEN


@pytest.mark.parametrize("example", [example for tool in ask.EXAMPLES.values() for example in tool])
def test_example_of_help_is_a_command(example: str) -> None:
    program, tool, *words = shlex.split(example)
    assert program == "fledgling"
    words = words[: words.index(">")] if ">" in words else words
    ask.command_of(tool).make_context(tool, words)


COMMANDS = {
    'search(query="a (b) $x", regex=true)': "fledgling search --regex --root '/a b' 'a (b) $x'",
    'read(path="-x.py", start_line=201)': "fledgling read --start-line 201 --root '/a b' -- -x.py",
    'symbols(path="-x", kind="class")': "fledgling symbols --kind class --root '/a b' -- -x",
    'read(path="a.py", symbol="-f")': "fledgling read --symbol=-f --root '/a b' a.py",
    'mode="text"': "--mode text",
    "depth=4": "--depth 4",
    "explore()": "fledgling explore --root '/a b'",
    "search()": "fledgling search",
    "read(path, symbol)": "read(path, symbol)",
    'search(query="a", nonsense=1)': 'search(query="a", nonsense=1)',
    'search("a")': 'search("a")',
    f"search(query={'-' * 5000}1)": f"search(query={'-' * 5000}1)",
    'search(query="x depth=4", mode="text")': "fledgling search --mode text --root '/a b' 'x depth=4'",
    'search(query="x mode=\\"text\\"")': "fledgling search --root '/a b' 'x mode=\"text\"'",
    "It's quoted: 'g depth=4', depth=4": "It's quoted: 'g depth=4', --depth 4",
    "'it\\'s \" depth=4'": "'it\\'s \" depth=4'",
    '"it\'s depth=4"': '"it\'s depth=4"',
    "'search(query=\"a\")'": "'search(query=\"a\")'",
    "explore(path, depth=4)": "explore(path, depth=4)",
    "a depth=4.py": "a depth=4.py",
}


@pytest.mark.parametrize("call", COMMANDS)
def test_call_in_a_sentence_becomes_a_command(call: str) -> None:
    assert (
        commands.in_shell(f"It is cut; {call} goes on.", ["--root", "/a b"]) == f"It is cut; {COMMANDS[call]} goes on."
    )


@pytest.mark.parametrize("path", ["a depth=2.py", "depth=2", "search()", 'mode="text"', "it's depth=4", "a b"])
def test_path_in_a_sentence_is_nothing_that_is_typed(path: str) -> None:
    sentence = f"no definition 'f' in {in_sentence(path)}. The nearest: {in_sentence(path)}."
    assert commands.in_shell(sentence) == sentence
    assert in_sentence("src/a-b_c.py") == "src/a-b_c.py"


PAINTED = {
    ("search", "TIMEOUT", "-C", "0", "-t", "python"): "\x1b[32m16\x1b[0m:def process_batch(",
    ("search", "-e", "process_[a-z]+", "-C", "0"): "\x1b[1;31mprocess_batch\x1b[0m",
    ("search", "-F", "no such text"): "\x1b[33m[Nothing found",
    ("symbols", "src/core/engine.py"): "\x1b[35msrc/core/engine.py\x1b[0m",
    ("read", "src/core/engine.py"): "\x1b[32m1\x1b[0m\t",
}


@pytest.mark.parametrize("command", PAINTED, ids=" ".join)
def test_colour_is_there_where_it_is_asked_for(command: tuple[str, ...], project: Path, served: dict[str, str]) -> None:
    plain = fledgling(*command, "--root", str(project), **served).stdout
    colour = fledgling(*command, "--root", str(project), "--color", "always", **served).stdout
    assert PAINTED[command] in colour
    assert re.sub("\x1b\\[[0-9;]*m", "", colour) == plain


@pytest.mark.parametrize("group", ["", "fleet", "agents", "audit", "profiles", "config"])
def test_list_of_commands_is_cut_nowhere(group: str) -> None:
    said = fledgling(*group.split(), "--help", COLUMNS="80").stdout
    listed = said[said.index("\nAsk:" if not group else "\nCommands:") :]
    assert "..." not in listed
    assert all(len(line) <= 80 for line in listed.splitlines())


def test_help_lists_every_tool() -> None:
    said = fledgling("--help").stdout
    assert [tool for tool in QUESTIONS if f"\n  {tool} " not in said] == []


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("search", "[default: fledgling-core]"),
        ("savings", "[default: fledgling-analyst]"),
        ("status", "only indexes under this profile\n"),
    ],
)
def test_help_says_what_a_profile_means_to_a_command(command: str, said: str) -> None:
    shown = fledgling(command, "--help", COLUMNS="160").stdout
    assert said in shown
    assert shown.count("[default: fledgling-") == said.count("default")


ATTEMPTS = 20  # at a symbol, which is not completed where a busy machine makes no index in SYMBOL_SECONDS

SYMBOL = "read src/core/engine.py -s proc"  # which takes an index; in bash, a row below is completed so, too
COMPLETED = {
    "read src/core/en": ["src/core/engine.py"],
    "explore src/co": ["src/core/"],
    "read ../": [],
    "read /et": [],
    SYMBOL: ["process_batch"],
    "search x -t pyt": ["python"],
    "search x -k cla": ["class"],
    "search x --profile fledgling-c": ["fledgling-core"],
    "expl": ["explore"],
}


@pytest.mark.parametrize(
    "typed", [pytest.param(typed, marks=[pytest.mark.long] if typed == SYMBOL else []) for typed in COMPLETED]
)
def test_shell_completes(typed: str, project: Path) -> None:
    """As the script of bash asks; what is completed is the last word."""
    *words, last = shlex.split(f"fledgling {typed}")
    settings = ["--root", str(project)] if len(words) > 1 else []
    asked = {"COMP_LINE": shlex.join([*words[:2], *settings, *words[2:], last]), "COMP_WORDBREAKS": " \t\n\"'><=;|&(:"}
    for _ in range(ATTEMPTS):
        done = fledgling(**asked, _FLEDGLING_COMPLETE="bash_complete")
        if done.stdout or not COMPLETED[typed]:
            break
    assert done.stdout.split() == [f"plain,{item}" for item in COMPLETED[typed]]
    assert done.stderr == ""


def test_members_are_completed_where_more_names_than_are_told_come_before_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process, which waits for each index and answer for as long as a busy machine takes."""
    (tmp_path / "a.py").write_text("".join(f"def f{number}(): ...\n" for number in range(completing.MAX_ITEMS)))
    (tmp_path / "b.py").write_text("class View:\n  def look_up(self): ...\n  def other(self): ...\n")
    profile, told, run = tmp_path / "patient.sql", list[tuple[int, bytes]](), subprocess.run
    profile.write_text(f"SET extends = 'fledgling-core'; SET query_timeout = {PATIENCE:.0f};")
    line = f"fledgling read --root {tmp_path} --profile {profile} -s View."

    def heard(*given: Any, **options: Any) -> "subprocess.CompletedProcess[bytes]":
        done = run(*given, **options)
        told.append((done.returncode, done.stderr))
        return done

    monkeypatch.setattr(os, "environ", CLEAN | {"COMP_LINE": line, "COMP_WORDBREAKS": ""})
    monkeypatch.setattr(subprocess, "run", heard)  # a completion says nothing of what failed
    monkeypatch.setattr(completing, "SYMBOL_SECONDS", PATIENCE)
    monkeypatch.setattr(sys, "argv", ["fledgling"])  # "-c" has the command line look at what shadows it
    cli = import_module("fledgling.broker.cli.main").cli
    said = bash_complete.Bash(cli, {}, "fledgling", completing.VARIABLE).complete()
    assert said.split() == ["plain,View.look_up", "plain,View.other"], told


@pytest.fixture(scope="module")
def bash(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A terminal in which bash completes, in a project with names that a shell would take for something else."""
    root = tmp_path_factory.mktemp("typed")
    (root / "a.py").write_text("class View:\n  class Inner:\n    def deep(self): ...\n  def look_up(self): ...\n")
    (root / "doc.md").write_text("# Getting started\n")
    (root / "sub").mkdir()
    for name in ("x$(touch RUN).py", "we:ird.py", "sp ace.py", "it's.py"):
        (root / name).touch()
    ours, theirs = os.openpty()
    command = ["bash", "--norc", "--noprofile", "-i"]
    environment = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "PS1": "$ ", "TERM": "dumb", "LC_ALL": "C.UTF-8"}
    with subprocess.Popen(
        command, cwd=root, env=environment, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    ) as shell:
        os.close(theirs)
        os.write(ours, f'fledgling() {{ {sys.executable} -I -m fledgling "$@"; }}\n'.encode())
        os.write(ours, b"bind 'set bell-style none'; eval \"$(fledgling completion bash)\"; PS1='re''ady$ '\n")
        seen_on(ours, "ready$ ")  # before its prompt is there, bash takes no key: the terminal would echo it
        yield ours
        shell.kill()
    os.close(ours)


def seen_on(terminal: int, end: str) -> str:
    """What a terminal shows, until it shows the end or for as long as one waits for it."""
    shown, until = "", time.monotonic() + PATIENCE
    while end not in shown and select.select([terminal], [], [], max(0, until - time.monotonic()))[0]:
        shown += os.read(terminal, 65536).decode()
    return shown


IN_BASH = {
    "read x": r"read x\$\(touch\ RUN\).py ",
    "read it": r"read it\'s.py ",
    'read "sp': 'read "sp ace.py" ',
    "read we:i": "read we:ird.py ",
    "explore su": "explore sub/",
    "read doc.md -s Gett": r"read doc.md -s Getting\ started ",
    "read a.py -s View.look": "read a.py -s View.look_up ",
    "read a.py --symbol=View.Inner.d": "read a.py --symbol=View.Inner.deep ",
}
LONG_IN_BASH = dict.fromkeys(
    ("read it", "read a.py -s View.look", "read doc.md -s Gett"), pytest.mark.long
)  # as the rows beside them


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize("typed", [pytest.param(typed, marks=LONG_IN_BASH.get(typed, ())) for typed in IN_BASH])
def test_bash_completes_a_word_and_quotes_it(typed: str, bash: int) -> None:
    """With the key, in a terminal; `#` ends what it put in, and shows that no blank follows a directory."""
    for _ in range(ATTEMPTS):
        os.write(bash, f"\x15fledgling {typed}\t#".encode())
        shown = seen_on(bash, "#").rpartition("fledgling ")[2]
        if shown == f"{IN_BASH[typed]}#":
            break
    assert shown == f"{IN_BASH[typed]}#"


@pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff")
def test_manual_page_is_what_roff_takes() -> None:
    page = fledgling("man").stdout
    read = subprocess.run(
        ["groff", "-man", "-ww", "-Kutf8", "-Tutf8"], input=page, capture_output=True, text=True, check=True
    )
    assert read.stderr == ""
    said = re.sub(".\b|\x1b\\[[0-9;]*m", "", read.stdout)  # bold is struck twice, or told to a terminal
    assert "fledgling search [OPTIONS] [QUERY]" in said
    assert re.search(r"definitions\s+of\s+this\s+kind\s+only:\s+class,", said)
    assert "'def \\w+_test'" in said
    assert not re.findall("TEXT|INTEGER|FILENAME|%Y", said)  # click's names of types


def test_project_file_narrows_and_is_told(project: Path, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f(): ...\n")
    (tmp_path / "b.py").write_text("def g(): ...\n")
    (tmp_path / "fledgling.yaml").write_text(
        'exclude_patterns: ["b.py"]\nprofile: fledgling-analyst\nmax_files: 9000000\n'
    )
    shown = fledgling("config", "show", "--root", str(tmp_path))
    assert "narrowed by fledgling.yaml" in shown.stdout
    assert "profile cannot be set by a project" in shown.stderr
    explored = fledgling("explore", "--root", str(tmp_path))
    assert "a.py" in explored.stdout
    assert "[Not indexed here: b.py (excluded).]" in explored.stdout


def test_first_line_of_the_log_says_why_the_root_is_that_one(small_root: Path) -> None:
    done = fledgling("serve", CLAUDE_PROJECT_DIR=str(small_root))
    assert done.stderr.startswith(
        f"fledgling: root {small_root} (environment CLAUDE_PROJECT_DIR), profile fledgling-core\n"
    )
    assert done.stdout == ""


def test_home_directory_is_indexed_when_it_is_really_meant(small_root: Path) -> None:
    home = {"HOME": str(small_root)}
    assert fledgling("index", "--root", str(small_root), **home).returncode == 2
    assert fledgling("index", "--root", str(small_root), "--yes-really", **home).returncode == 0


@pytest.mark.parametrize("command", [["read", "a.py"], ["search", "hostile"], ["symbols", "a.py"], ["explore"]])
def test_what_is_printed_is_obeyed_by_no_terminal(hostile: Path, served: dict[str, str], command: list[str]) -> None:
    text = fledgling(*command, "--root", str(hostile), **served)
    told = fledgling(*command, "--root", str(hostile), "--json", **served)
    for done in (text, told):
        assert done.returncode == 0
        assert not set(OBEYED) & set(done.stdout + done.stderr)
    assert "\\u202e" in text.stdout
    if command[0] == "read":
        assert OBEYED[1:] in json.loads(told.stdout)["lines"][0]


@pytest.mark.parametrize(
    ("command", "has_worker"),
    [
        pytest.param(["search", "hostile"], False, id="sought"),
        pytest.param(["symbols", "a.py"], True, id="indexed"),
        pytest.param(["index", "--json"], False, id="built", marks=pytest.mark.long),  # printed as the others are
    ],
)
def test_what_no_server_answers_is_obeyed_by_no_terminal_either(
    hostile: Path, command: list[str], has_worker: bool
) -> None:
    """The answer of an indexer that builds nothing, that of an index built for it, which a query worker gives, and
    what is said of an index that nobody asks.
    """
    words = [sys.executable, "-I", "-B", "-m", "fledgling", *command, "--root", str(hostile)]
    had_worker = False
    with subprocess.Popen(words, env=CLEAN, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:
        seen = psutil.Process(running.pid)
        while running.poll() is None:
            had_worker = had_worker or bool(back_processes(seen, QUERY_WORKER))
            time.sleep(0.005)
        said = running.communicate()[0]
    assert running.returncode == 0
    assert "\\u202e" in said
    assert not set(OBEYED) & set(said)
    assert had_worker == has_worker


@pytest.mark.parametrize("command", ["serve", "index", "doctor"])
def test_no_root_that_is_refused_is_obeyed_by_a_terminal(tmp_path: Path, command: str) -> None:
    done = fledgling(command, "--root", str(tmp_path / OBEYED[1:]))
    assert done.returncode != 0
    assert "\\u202e" in done.stdout + done.stderr
    assert not set(OBEYED) & set(done.stdout + done.stderr)


@pytest.mark.parametrize(
    ("command", "says", "is_named"),  # what is said of a root that is taken, and whether by its name
    [
        (["serve"], "(flag --root)", True),
        pytest.param(["serve", "--log-format", "json"], "(flag --root)", True, marks=pytest.mark.long),
        pytest.param(["index"], "1 files", False, marks=pytest.mark.long),
        pytest.param(["doctor"], "", False, marks=pytest.mark.long),
    ],
    ids=["text", "json", "index", "doctor"],
)
def test_no_root_that_is_taken_is_obeyed_by_a_terminal(
    tmp_path: Path, command: list[str], says: str, is_named: bool
) -> None:
    root = tmp_path / OBEYED[1:]
    root.mkdir()
    (root / "a.py").write_text("x = 1\n")
    done = fledgling(*command, "--root", str(root))
    assert says in done.stdout + done.stderr
    assert ("\\u202e" in done.stdout + done.stderr) == is_named
    assert not set(OBEYED) & set(done.stdout + done.stderr)
    if "json" in command:
        assert str(root) in json.loads(done.stderr.splitlines()[0])["message"]


def on_a_terminal(root: Path, *arguments: str, **environment: str) -> str:
    """What a command shows on a terminal of 24 lines."""
    words = shlex.join([sys.executable, "-I", "-B", "-m", "fledgling", *arguments, "--root", str(root)])
    clean = {**CLEAN, "TERM": "xterm", "PAGER": "cat", **environment}
    run = ["script", "-qec", f"stty rows 24; {words}", os.devnull]
    return subprocess.run(run, env=clean, capture_output=True, text=True, timeout=PATIENCE, check=True).stdout


def test_hostile_text_does_not_reach_a_terminal_raw(hostile: Path, served: dict[str, str]) -> None:
    for environment in ({}, {"NO_COLOR": "1"}, {"PAGER": "less"}):
        shown = on_a_terminal(hostile, "search", "owned", "-C", "0", **environment, **served)
        assert "\\x1b]0;" in shown
        assert "\x1b]0;" not in shown
        assert ("\x1b[1;31mowned\x1b[0m" in shown) == (environment.get("NO_COLOR") is None)


def test_pager_is_started_before_this_process_is_confined(
    hostile: Path, served: dict[str, str], tmp_path: Path
) -> None:
    """Which it is where no server answers, and it builds an index of its own."""
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\necho paged; wc -l; exit 3\n")
    pager.chmod(0o700)
    shown = on_a_terminal(hostile, "read", "long.py", PAGER=str(pager))
    assert re.search(r"paged\n.*(?<!\d)101\n", shown, re.DOTALL), shown  # a slow build draws how far it is in between
    assert "paged" not in on_a_terminal(hostile, "read", "long.py", "--no-pager", PAGER=str(pager), **served)
    assert "paged" not in on_a_terminal(hostile, "read", "long.py", "--json", PAGER=str(pager), **served)
    assert "x = 1" in on_a_terminal(hostile, "read", "long.py", PAGER="no 'program", **served)


def test_table_is_as_wide_as_the_terminal_in_a_pager_too(project: Path, served: dict[str, str]) -> None:
    asked = ("query", "--profile", "fledgling-analyst", "--format", "table", "SELECT repeat('x', 200) AS a")
    for pager in ("cat", "head"):
        assert on_a_terminal(project, *asked, PAGER=pager, **served).splitlines()[-1] == f"{'x' * 79}…"


def test_name_of_what_is_left_out_is_a_path(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    for name, text in ((".gitignore", "build/\n"), ("build/x.py", "a = 1\n"), ("m.py", "def build(): ...\n")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    done = fledgling("symbols", "build", "--root", str(tmp_path))
    assert (done.returncode, "build/ is in the project, but not indexed: ignored" in done.stdout) == (1, True)
