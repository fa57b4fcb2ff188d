"""Fledgling beside tools that people know, at the shell: start, the first answer, another, help, what is installed.

`.venv/bin/python benchmarks/beside.py ROOT` prints the table; tools are installed below the cache, as for bench.py.
All look for the same word in the same files. Another answer has what the first one made: a server of Fledgling or
datasette that runs, what semble keeps. ripgrep makes nothing. An empty Python is what times can be compared by.
"""

import argparse
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import NamedTuple

import peers

WORD = "timeout"
ROUNDS = 5
STARTING_SECONDS = 60.0  # until a server answers
CACHE = Path.home() / ".cache" / "fledgling-bench"
REPOSITORY = Path(__file__).parent.parent
DATASETTE = ("datasette==0.65.5", "sqlite-utils==4.2.1")
FOUND = f"/files/files.json?_search={WORD}"


class Beside(NamedTuple):
    """A tool: where it is installed, its help, and commands: of the first answer, of a server, and of another answer.

    What it takes to say its version is called its start.

    `kept` is what the first answer makes; where there is a server, another is asked of that.
    """

    name: str
    installed: Path
    help: Sequence[str]
    first: Sequence[Sequence[str]]
    again: Sequence[str]
    kept: Sequence[str] = ()
    server: Sequence[str] = ()
    port: int | None = None  # that the server listens at; it makes a socket in its home where there is none
    environment: dict[str, str] = {}  # noqa: RUF012  (nothing changes it)


def tools(root: Path, home: Path) -> list[Beside]:
    """Install the tools, and return how each is asked about a project; what they keep is in `home`."""
    own, rg, semble = venv("beside", str(REPOSITORY)), peers.prepare("rg", CACHE), peers.prepare("semble", CACHE)
    program, db = str(own / "bin" / "fledgling"), str(home / "files.db")
    other = venv("datasette", *DATASETTE) / "bin"
    into = [str(other / "sqlite-utils"), "insert-files", db, "files", str(root)]
    insert = [*into, "--text", "--encoding", "latin-1", "--silent"]  # which takes binary files, too
    index = [str(other / "sqlite-utils"), "enable-fts", db, "files", "content"]
    search = [program, "search", WORD, "--root", str(root)]
    scan = [str(rg.program), *rg.row.search, WORD]
    by_meaning = [str(semble.program), "search", WORD, str(root)]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    get = "import sys, urllib.request as u; sys.stdout.buffer.write(u.urlopen(sys.argv[1]).read())"
    empty = [sys.executable, "-I", "-c", ""]
    return [
        Beside("python", home, [sys.executable, "-h"], [empty], empty),
        Beside(
            "fledgling",
            own,
            [program, "search", "-h"],
            [[*search, "--fresh"]],
            search,
            server=[program, "serve", "--control", "--root", str(root)],
            environment={"XDG_RUNTIME_DIR": str(home)},
        ),
        Beside("ripgrep", rg.home.parent / "installed", [str(rg.program), "-h"], [scan], scan),
        Beside(
            "semble",
            semble.home.parent / "installed",
            [str(semble.program), "search", "-h"],
            [by_meaning],
            by_meaning,
            kept=[".cache"],
            environment={name: value for name, value in semble.environment.items() if name != "HOME"},
        ),
        Beside(
            "datasette",
            other.parent,
            [str(other / "datasette"), "--help"],
            [insert, index, [str(other / "datasette"), db, "--get", FOUND]],
            [sys.executable, "-I", "-c", get, f"http://127.0.0.1:{port}{FOUND}"],
            kept=["files.db"],
            server=[str(other / "datasette"), db, "--port", str(port)],
            port=port,
        ),
    ]


def row(tool: Beside, root: Path, home: Path, rounds: int) -> str:
    """Measure a tool: answers in medians, help in lines, what is installed in MB without the interpreter."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), "COLUMNS": "80", **tool.environment}

    def seconds(command: Sequence[str]) -> float:
        begun = time.perf_counter()
        subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True)
        return time.perf_counter() - begun

    first, starts = [], []
    for _ in range(rounds):
        starts.append(seconds([tool.help[0], "--version"]))
        for name in tool.kept:
            shutil.rmtree(home / name, ignore_errors=True)
            (home / name).unlink(missing_ok=True)
        first.append(sum(map(seconds, tool.first)))
    for path in [path for path in home.rglob("*") if path.is_socket()]:
        path.unlink()  # of a server before
    command, pipe, null = tool.server or ["/bin/cat"], subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, env=environment, cwd=root, stdin=pipe, stdout=null, stderr=null) as server:
        end = time.monotonic() + STARTING_SECONDS
        while tool.server and not _listens(tool, home):
            if server.poll() is not None or time.monotonic() > end:
                server.kill()
                sys.exit(f"{tool.name}: its server does not answer")
            time.sleep(0.1)
        seconds(tool.again)  # where an index is made, this one waits for it
        again = [seconds(tool.again) for _ in range(rounds)]
        server.terminate()
    helped = subprocess.run(tool.help, env=environment, check=True, capture_output=True).stdout.count(b"\n")
    megabytes = sum(path.lstat().st_size for path in tool.installed.rglob("*") if not path.is_dir()) / 2**20
    times = f"{median(starts):8.3f}{median(first):10.3f}{median(again):12.3f}"
    return f"{tool.name:11}{times}{helped:13}{megabytes:15.0f}"


def _listens(tool: Beside, home: Path) -> bool:
    """Return whether a server listens at its port, or has made its socket."""
    if tool.port is None:
        return any(path.is_socket() for path in home.rglob("*"))
    with suppress(OSError), socket.create_connection(("127.0.0.1", tool.port), 1):
        return True
    return False


def venv(name: str, *packages: str) -> Path:
    """Return an environment with some packages, which is made once; what is here may have changed, and is put in."""
    prefix = CACHE / "peers" / name / "installed"
    if not prefix.exists():
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", prefix], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(prefix / "bin" / "python")]
    subprocess.run([*pip, "install", "-q", *packages], check=True)
    return prefix


def main() -> None:
    """Print the table of one project."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        sys.stdout.write("tool       start, s  first, s  another, s  help, lines installed, MB\n")
        for tool in tools(asked.root.resolve(), Path(home)):
            sys.stdout.write(f"{row(tool, asked.root.resolve(), Path(home), asked.rounds)}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
