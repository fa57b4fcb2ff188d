"""An agent at work in a large project: it edits, then asks a server, and each answer is judged by the files on disk.

It takes FLEDGLING_AGENT_MINUTES, 2 if nothing is said, in a clone of the largest of FLEDGLING_REPOSITORIES. What
is right is said by the files themselves, by `git grep` and `git ls-files`, and by Python's own parser.
"""

import ast
import asyncio
import os
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from conftest import connected
from running import LATE, back_processes, broker
from test_live import git
from test_trials import REPOSITORIES, cloned

from fledgling.security.secret_files import is_secret

if TYPE_CHECKING:
    from mcp import Client

pytestmark = [pytest.mark.anyio, pytest.mark.long, pytest.mark.usefixtures("executed")]

MINUTES = float(os.environ.get("FLEDGLING_AGENT_MINUTES", "2"))
OLDER = "changed since this was indexed"  # said where so much has changed that an index is built anew
RENEWED_SECONDS = 60.0  # in which it must be there, if this has a processor to itself: others take turns with it
MOST_REFUSED = 0.1  # of all calls: they came too early, or the machine had no time for them
WORDS = ["timeout", "import", "return", "def", "class", "TODO", "self.assert", "raise", "agent_word"]
DEFINED = ("function", "class", "method")
PAUSES = [0, 0, 0, 0.05, 0.3, 1.0]  # seconds between an edit and the next, as of one who thinks


class Work:
    """The project on disk, and what an agent does to it: each edit returns where to look, and if for a new word."""

    def __init__(self, root: Path, random: Random) -> None:
        self.root, self.random = root, random
        self.serial = 0
        self.done: Counter[str] = Counter()
        self.gone: list[str] = []
        self.files = [name for name in self.listed() if self.is_plain(name)]
        self.directories = sorted({name.rpartition("/")[0] for name in self.files if "/" in name})

    def git(self, *arguments: str) -> list[str]:
        """The items, each ended by a NUL, that git says; none where it finds none."""
        command = ["git", "-C", self.root, "-c", "core.quotePath=false", *arguments]
        said = subprocess.run(command, capture_output=True, check=False).stdout
        return said.decode(errors="replace").split("\0")[:-1]

    def grep(self, word: str, below: str) -> list[tuple[str, int]]:
        """The places of lines that hold a word, in any case."""
        command = ["git", "-C", self.root, "grep", "-nzIFi", "--untracked", "-e", word, "--", below]
        said = subprocess.run(command, capture_output=True, check=False).stdout
        rows = [row.split(b"\0", 2)[:2] for row in said.split(b"\n") if row.count(b"\0") >= 2]
        return [(name.decode(), int(line)) for name, line in rows]

    def listed(self, *below: str) -> list[str]:
        found = set(self.git("ls-files", "-zco", "--exclude-standard", "--", *below))
        return sorted(filter(self.is_there, found))

    def is_there(self, name: str) -> bool:
        return os.path.lexists(self.root / name)

    def is_plain(self, name: str) -> bool:
        """Whether lines of a file are the same to everybody."""
        path = self.root / name
        if path.name.startswith(".git") or is_secret(name):  # it makes rules for others; its content is shown to nobody
            return False
        if path.is_symlink() or not path.is_file() or path.stat().st_size > 300_000:
            return False
        data = path.read_bytes()
        if b"\0" in data or b"\r" in data or not data.isascii() or any(len(line) > 400 for line in data.split(b"\n")):
            return False
        return not re.search(rb"[\x01-\x08\x0b-\x1f\x7f]", data)

    def lines(self, name: str) -> list[str]:
        text = (self.root / name).read_text()
        return text.removesuffix("\n").split("\n") if text else []

    def edit(self) -> tuple[str, str | None]:
        """Do one of what agents do; return where it is to be seen, and which new word."""
        kinds = {
            self.insert: 8, self.replace: 4, self.append: 4, self.same_size: 2, self.save: 4, self.new: 4,
            self.delete: 2, self.rename: 2, self.refactor: 1, self.move_directory: 0.2, self.ignore: 0.5,
            self.revert: 0.3,
        }  # fmt: skip
        do = self.random.choices([*kinds], [*kinds.values()])[0]
        self.serial += 1
        word = f"agent_word_{self.serial}_x"
        self.done[do.__name__] += 1
        name, is_there = do(word)
        return name, word if is_there else None

    def _file(self) -> str:
        return self.random.choice(self.files)

    def _write(self, name: str, lines: list[str]) -> None:
        (self.root / name).write_text("".join(f"{line}\n" for line in lines))

    def insert(self, word: str) -> tuple[str, bool]:
        name = self._file()
        lines = self.lines(name)
        lines.insert(self.random.randrange(len(lines) + 1), f"# {word}")
        self._write(name, lines)
        return name, True

    def replace(self, word: str) -> tuple[str, bool]:
        name = self._file()
        lines = self.lines(name) or [""]
        at = self.random.randrange(len(lines))
        lines[at : at + self.random.randrange(1, 20)] = [f"# {word}"]
        self._write(name, lines)
        return name, True

    def append(self, word: str) -> tuple[str, bool]:
        name = self._file()
        with (self.root / name).open("a") as file:
            file.write("\n")
            file.flush()
            file.write(f"def {word}():\n    return {self.serial}\n")
        return name, True

    def same_size(self, word: str) -> tuple[str, bool]:
        """Write over some bytes, and set the times back."""
        name = self._file()
        path = self.root / name
        before, data = path.stat(), bytearray(path.read_bytes())
        if len(data) < len(word) + 2:
            return name, False
        data[: len(word) + 1] = f"{word}\n".encode()
        path.write_bytes(data)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        return name, True

    def save(self, word: str) -> tuple[str, bool]:
        """Write as editors do: another file, which is renamed."""
        name = self._file()
        beside = self.root / f"{name}.swp~"
        beside.write_text("".join(f"{line}\n" for line in [*self.lines(name), f"# {word}"]))
        beside.replace(self.root / name)
        return name, True

    def new(self, word: str) -> tuple[str, bool]:
        name = f"{self.random.choice(self.directories)}/agent_new_{self.serial}.py"
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        self._write(name, [f"def {word}():", f"    return {self.serial}"])
        if self.listed(name):  # no ignore file hides it
            self.files.append(name)
            return name, True
        return name, False

    def delete(self, word: str) -> tuple[str, bool]:
        name = self._file()
        (self.root / name).unlink()
        self.files.remove(name)
        self.gone.append(name)
        return name, False

    def rename(self, word: str) -> tuple[str, bool]:
        name = self._file()
        to = str(Path(name).with_name(f"agent_moved_{self.serial}{Path(name).suffix}"))
        (self.root / name).rename(self.root / to)
        self.gone.append(name)
        self.files = [to if other == name else other for other in self.files]
        return to, False

    def refactor(self, word: str) -> tuple[str, bool]:
        """Say another word in up to thirty files at once."""
        names = self.random.sample(self.files, min(30, len(self.files)))
        for name in names:
            self._write(name, [*self.lines(name), f"# agent_word_shared {word}"])
        return names[-1], False

    def move_directory(self, word: str) -> tuple[str, bool]:
        name = self.random.choice([name for name in self.directories if name.count("/") > 2])
        to = f"{name}_moved_{self.serial}"
        if not (self.root / name).is_dir():
            return self._file(), False
        (self.root / name).rename(self.root / to)
        self.gone += [other for other in self.files if other.startswith(f"{name}/")]
        self._know_again()
        return self._file(), False

    def ignore(self, word: str) -> tuple[str, bool]:
        """Hide one file, or show all that were hidden."""
        rules = self.root / ".gitignore"
        name = f"agent_hidden_{self.serial}.py"
        if rules.exists() and self.random.random() < 0.5:
            rules.unlink()
            self._know_again()
            return self._file(), False
        self._write(name, [f"# {word}"])
        with rules.open("a") as file:
            file.write(f"/{name}\n")
        self.gone.append(name)
        return self._file(), False

    def revert(self, word: str) -> tuple[str, bool]:
        """Give up all changes, or those of one directory."""
        if self.random.random() < 0.2:
            subprocess.run(["git", "-C", self.root, "clean", "-qfd"], check=True)
            below = "."
        else:
            below = self.random.choice(self.listed()).split("/")[0]
        subprocess.run(["git", "-C", self.root, "checkout", "-q", "HEAD", "--", below], check=False, stderr=-3)
        self._know_again()
        return self._file(), False

    def _know_again(self) -> None:
        self.files = [name for name in self.listed() if self.is_plain(name)]
        self.directories = sorted({name.rpartition("/")[0] for name in self.files if "/" in name})
        there = set(self.listed())
        self.gone = [name for name in self.gone if name not in there]


class Asking:
    """The agent's side of a server: what it is told, judged. Nothing changes while a call is under way."""

    def __init__(self, client: "Client", work: Work) -> None:
        self.client, self.work = client, work
        self.told: Counter[str] = Counter()
        self.seconds: list[float] = []
        self.longest = 0.0  # seconds from a question to its answer, calls that were told to ask again among them
        self.wrong: list[str] = []

    def judge(self, said: object, right: object, of: object) -> None:
        """Note an answer that is not right; work goes on, so that an hour tells of all."""
        if said != right:
            self.wrong.append(f"{of}: {said} for {right}"[:2000])
            write(f"{time.strftime('%T')} WRONG {self.wrong[-1]}")

    async def ask(self, tool: str, **arguments: Any) -> Any:
        """The result of a call, once it is not said to be of an older state; what is older must say so."""
        asked = time.monotonic()
        until = asked + RENEWED_SECONDS * share_of_load()
        while True:
            begun = time.monotonic()
            result = await self.client.call_tool(tool, arguments)
            self.seconds.append(time.monotonic() - begun)
            self.told[tool] += 1
            text = result.content[0].text
            ours = text if result.is_error else "\n".join(line for line in text.split("\n") if line.startswith("["))
            if OLDER in ours or "still being" in ours:  # lines of files, which may say the same, begin with a number
                self.told["said to be older"] += 1
            elif result.is_error and re.search(LATE, text):
                self.told["refused"] += 1
            else:
                self.longest = max(self.longest, time.monotonic() - asked)
                return result
            assert time.monotonic() < until, text
            await asyncio.sleep(0.5)

    async def reads(self, name: str) -> None:
        """Read a whole file by pages of lines."""
        lines, start = self.work.lines(name), 1
        while True:
            result = await self.ask("read", path=name, start_line=start)
            text = result.content[0].text
            shown = re.findall(r"^(\d+)\t(.*)$", text, re.MULTILINE)
            expected = [(str(at), line) for at, line in enumerate(lines[start - 1 :][: len(shown)], start)]
            self.judge(shown, expected, name)
            if start - 1 + len(shown) >= len(lines) or not shown:
                self.judge(start - 1 + len(shown), len(lines), name)
                return
            start += len(shown)

    async def is_gone(self, name: str) -> None:
        """It is refused, or taken for the end of another's path."""
        result = await self.ask("read", path=name)
        is_taken = re.match(
            rf'\[taken: path "{re.escape(name)}" as "[^"]+/{re.escape(name)}"\]', result.content[0].text
        )
        self.judge(result.is_error or bool(is_taken), True, name)

    async def finds(self, word: str, name: str) -> None:
        """A word that stands in one place."""
        found = (await self.ask("search", query=word, context=0, mode="text")).structured_content
        where = [(file["path"], line) for file in found["files"] for line in file["hits"]]
        expected = [(name, at) for at, line in enumerate(self.work.lines(name), 1) if word in line]
        self.judge(where, expected, (word, name))

    async def greps(self, word: str, below: str) -> None:
        """All lines with a word, below a directory, as `git grep` finds them in the files that are plain."""
        plain = set(self.work.files)
        found, arguments = [], {"query": word, "path": below, "context": 0, "max_results": 1000, "mode": "text"}
        while True:
            page = (await self.ask("search", **arguments)).structured_content
            found += [(file["path"], line) for file in page["files"] for line in file["hits"]]
            if "next" not in page:
                break
            arguments = page["next"]["arguments"]
        expected = [row for row in self.work.grep(word, below) if row[0] in plain]
        self.judge(sorted(row for row in found if row[0] in plain), sorted(expected), (word, below))

    async def outlines(self, name: str) -> None:
        """Functions and classes of a module of Python that parses, as its own parser finds them."""
        try:
            tree = ast.parse("".join(f"{line}\n" for line in self.work.lines(name)))
        except (SyntaxError, ValueError, RecursionError):
            return
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        nodes = [node for node in ast.walk(tree) if isinstance(node, kinds)]
        expected = {
            (node.name, min([node.lineno, *(by.lineno for by in node.decorator_list)]), node.end_lineno)
            for node in nodes
        }
        found, arguments = set(), {"path": name, "max_results": 1000}
        while True:
            page = (await self.ask("symbols", **arguments)).structured_content
            symbols = [symbol for file in page["files"] for symbol in file["symbols"]]
            found |= {(symbol["name"], *symbol["lines"]) for symbol in symbols if symbol["kind"] in DEFINED}
            if "next" not in page:
                break
            arguments = page["next"]["arguments"]
        self.judge(found, expected, name)

    async def maps(self, below: str) -> None:
        """What stands in a directory, as git lists it."""
        found: set[str] = set()
        arguments: dict[str, Any] = {"path": below}
        while True:
            page = (await self.ask("explore", **arguments)).structured_content
            found |= {item["path"] for item in (*page["files"], *page["directories"])}
            if "next" not in page:
                break
            arguments = page["next"]["arguments"]
        rest = [name.removeprefix(f"{below}/") for name in self.work.listed(below)]
        expected = {f"{below}/{name.split('/')[0]}{'/' if '/' in name else ''}" for name in rest}
        self.judge(sorted(found - expected), [], below)
        self.judge(sorted(expected - found), [], below)

    async def imported(self, word: str) -> None:
        """A new module that another new one imports; then it is renamed away."""
        one, two = f"agent_a_{word}", f"agent_b_{word}"
        self.work._write(f"{one}.py", [f"def {word}(): ..."])
        self.work._write(f"{two}.py", [f"import {one}"])
        asked = {"path": f"{one}.py", "direction": "imported_by"}
        found = (await self.ask("dependencies", **asked)).structured_content
        self.judge([item["path"] for item in found["imported_by"]], [f"{two}.py"], one)
        (self.work.root / f"{two}.py").unlink()
        found = (await self.ask("dependencies", **asked)).structured_content
        self.judge(found.get("imported_by", []), [], one)
        (self.work.root / f"{one}.py").unlink()

    async def called(self, word: str) -> None:
        """A new function that another new module calls; then that is gone. An index is built anew for either."""
        one, two = f"agent_a_{word}", f"agent_b_{word}"
        self.work._write(f"{one}.py", [f"def called_{word}(): ..."])
        self.work._write(f"{two}.py", [f"from {one} import called_{word}", "", "", f"called_{word}()"])
        asked = {"symbol": f"called_{word}", "relation": "callers"}
        found = (await self.ask("symbols", **asked)).structured_content
        self.judge([file["path"] for file in found["files"]], [f"{two}.py"], one)
        context = await self.ask("read", symbol=f"called_{word}", budget_tokens=1_000)
        self.judge(f"{two}.py" in context.content[0].text, True, one)
        (self.work.root / f"{two}.py").unlink()
        found = (await self.ask("symbols", **asked)).structured_content
        self.judge(found.get("files", []), [], one)
        (self.work.root / f"{one}.py").unlink()


def share_of_load() -> float:
    """How many take turns on each processor, the server among them; 1 where it has one to itself."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


async def at_work(client: "Client", work: Work, seconds: float) -> Asking:
    """Edit and ask for so long, from when the index is there."""
    asking, random = Asking(client, work), work.random
    await asking.reads(work.files[0])
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        name, word = work.edit()
        if word:
            await asking.finds(word, name)
        if name in work.files:
            await asking.reads(name)
        if work.gone and not work.is_there(work.gone[-1]):
            await asking.is_gone(work.gone[-1])
        for _ in range(random.randrange(4)):
            await one_more(asking, work)
        if random.random() < 0.2:
            names = random.sample(work.files, 4)
            await asyncio.gather(*map(asking.reads, names))
        if work.serial % 50 == 0:
            tell(asking, work)
        await asyncio.sleep(random.choice(PAUSES))
    return asking


async def one_more(asking: Asking, work: Work) -> None:
    random = work.random
    other = random.choice(work.files)
    below = other.rpartition("/")[0] or other
    match random.randrange(6):
        case 0:
            await asking.greps(random.choice(WORDS), below)
        case 1:
            pythons = [other for other in random.sample(work.files, 40) if other.endswith(".py")]
            for name in pythons[:1]:
                await asking.outlines(name)
        case 2 if "/" in other:
            await asking.maps(below)
        case 3 if random.random() < 0.3:
            await asking.imported(f"{work.serial}_{random.randrange(10**6)}")
        case 4 if random.random() < 0.1:
            await asking.called(f"{work.serial}_{random.randrange(10**6)}")
        case _:
            await asking.reads(other)


def write(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def tell(asking: Asking, work: Work) -> None:
    slow = sorted(asking.seconds)
    server = broker()
    held = sum(process.memory_info().rss for process in [server, *back_processes(server)]) / 1e6
    p50, p99 = (slow[int(len(slow) * share)] * 1000 for share in (0.5, 0.99))
    write(
        f"{time.strftime('%T')} {work.serial} edits {dict(work.done)}; calls {dict(asking.told)}; "
        f"p50 {p50:.0f}, p99 {p99:.0f} ms, the longest with what it waited for {asking.longest:.0f} s; {held:.0f} MB; "
        f"{len(asking.wrong)} wrong"
    )


@pytest.mark.skipif(not REPOSITORIES, reason="FLEDGLING_REPOSITORIES names no clone of a real project")
async def test_an_agent_that_edits_is_never_shown_what_was(tmp_path: Path) -> None:
    root = tmp_path / "root"
    cloned(max(REPOSITORIES, key=lambda path: sum(1 for _ in path.rglob("*"))), root)
    git(root, "checkout", "-q", "--force", "HEAD")
    work = Work(root, Random(60))
    async with connected(root) as client:
        asking = await at_work(client, work, 60 * MINUTES)
        tell(asking, work)
        assert asking.wrong == []
        assert asking.told["refused"] <= MOST_REFUSED * len(asking.seconds), asking.told
