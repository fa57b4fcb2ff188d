"""A tree that changes: random edits, an index of each state, and the changes that lead from one to the next."""

import asyncio
import gc
import os
import re
import shutil
from array import array
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any, get_args

import msgspec
import running
from msgspec.structs import astuple, replace

from fledgling.messages import generations
from fledgling.messages.answers import Refusal
from fledgling.messages.control import Images, Open, Update
from fledgling.messages.cursors import place
from fledgling.messages.inner_answers import Found
from fledgling.messages.questions import (
    AnyQuestion,
    Asked,
    Dependencies,
    Detail,
    Explore,
    Query,
    Read,
    Relation,
    Search,
    Survey,
    Symbols,
)
from fledgling.security import memory_file
from fledgling.worker.gate.statement import Gate
from fledgling.worker.query.dispatch import answer
from fledgling.worker.rows import FileRow, FileWords, ImportRow, SymbolColumns, SymbolRow
from fledgling.worker.store.database import lock_down, memory_share, open_sealed, start
from fledgling.worker.store.ngram_writer import signed
from fledgling.worker.store.ngrams import Signatures
from fledgling.worker.store.overlay.snapshots import Snapshot, Snapshots
from fledgling.worker.store.parts import Changes, Part
from fledgling.worker.store.sections import NUMBER
from fledgling.worker.store.symbol_writer import outlined
from fledgling.worker.store.symbols import Outlines
from fledgling.worker.store.text import Blocks
from fledgling.worker.store.words import Words
from fledgling.worker.tools.corpora import Corpora
from fledgling.worker.tools.request import Request
from fledgling.worker.words import Field
from fledgling.worker.words import key as key_of

WORDS = ["alpha", "beta", "gamma", "delta", "timeout", "parse", "Engine", "run", "load_config", "café", "needle", "x"]
EDITS = [
    "modify",
    "modify",
    "modify",
    "append",
    "add",
    "add",
    "remove",
    "rename",
    "directory",
    "file",
    "link",
    "ignore",
]
ASKED = [
    "explore",
    "read",
    "search",
    "search",
    "kind",
    "symbols",
    "symbols",
    "dependencies",
    "query",
    "survey",
    "meaning",
    "docs",
    "uses",
    "uses",
    "context",
]
GRAPHED = ("uses", "context")  # those of ASKED that wait for a graph, which costs as much as the rest of an index
RELATIONS: tuple[Relation, ...] = get_args(Relation)
NAMES = ["run", "C1.timeout", "C1", "C0", "load_config", "f", *(f"{word}_1" for word in WORDS)]
SHORT = "SET tools = 'explore, read, search, symbols, dependencies'; SET max_rows = 12;"  # maps of several pages


class Index:
    """A sealed index as a query worker opens it, and what is laid over it."""

    def __init__(self, opened: Open) -> None:
        images = opened.images
        self.opened = opened
        self.db = start()
        share = memory_share(images, generations.WORDS, opened.profile.memory_limit)
        open_sealed(self.db, images, generations.WORDS, share)
        lock_down(self.db)
        self.gate = Gate() if "query" in opened.profile.tools else None
        self.base = Snapshot(
            opened.changes,
            Blocks(memory_file.mapped(images.blocks)),
            Signatures(memory_file.mapped(images.signatures)),
            Outlines(memory_file.mapped(images.outlines)),
            Words(memory_file.mapped(images.words)),
            partial=opened.generation.partial,
        )
        self.snapshots = Snapshots(self.base, self.db.cursor, opened.generation.modules)

    def request(self) -> Request:
        of = self.snapshots.newest
        readers = of.signatures, of.blocks, of.outlines
        cursor = self.db.cursor()
        return Request(
            cursor,
            *readers,
            self.opened,
            generations.WORDS,
            None,
            self.gate,
            snapshot=of,
            snapshots=self.snapshots,
            corpora=Corpora(),
        )

    def ask(self, question: Asked) -> Found | Refusal:
        return answer(self.request(), question).answer

    def pages(self, question: AnyQuestion, most: int = 3) -> list[Found | Refusal]:
        """The first pages of an answer, each with the cursor that it would have without changes."""
        found: list[Found | Refusal] = []
        asked: AnyQuestion | None = question
        while asked and len(found) < most:
            page = self.ask(asked)
            asked = following(page)
            found.append(_plain(page))
        return found

    def close(self) -> None:
        del self.snapshots  # and with them their databases, ...
        gc.collect()  # ... of those in a circle as well
        self.db.close()
        for fd in astuple(self.opened.images):
            os.close(fd)


def following(page: Found | Refusal) -> AnyQuestion | None:
    """The call that continues an answer."""
    goes_on = getattr(page, "next", None)
    return msgspec.convert({**goes_on.arguments, "tool": goes_on.tool}, AnyQuestion) if goes_on else None


def _plain(page: Found | Refusal) -> Found | Refusal:
    arguments: dict[str, Any] = page.next.arguments if getattr(page, "next", None) else {}
    if "cursor" not in arguments:
        return page
    cursor = place(arguments["cursor"])._replace(changes=0).cursor
    return replace(page, next=replace(page.next, arguments={**arguments, "cursor": cursor}))


def indexed(root: Path, profile: str, changes: int = 0) -> Index:
    """Build an index of a tree as it is now, and open it."""

    async def build() -> Open:
        async with running.indexed(root, profile) as indexing:
            await indexing.built()
            images = Images(*map(os.dup, astuple(indexing.images)))
            return Open(os.getpid(), images, indexing.profile, indexing.newest(), changes=changes)

    return Index(asyncio.run(build()))


class Facts(msgspec.Struct):
    """All that an index holds of each file, by path: what parts are made of. The profile must hold everything."""

    parts: dict[str, Part]
    imports: dict[str, list[ImportRow]]
    unlisted: list[tuple[str, str]]


def facts(index: Index) -> Facts:
    def grouped(sql: str) -> dict[Any, list[Any]]:
        found: dict[Any, list[Any]] = {}
        for key, *row in index.db.cursor().execute(sql).fetchall():
            found.setdefault(key, []).append(row)
        return found

    blocks = index.base.blocks
    symbols = grouped("SELECT * EXCLUDE (language, purity, purity_reason) FROM code.symbols ORDER BY path, rowid")
    comments = {block: rows[0][0] for block, rows in grouped("FROM code.comments").items()}
    parts = {}
    for path, rows in grouped("SELECT path, * FROM code.files").items():
        *row, engine, is_parsed, encoding = rows[0]
        file = blocks.find(path)
        numbers = range(file.block, file.block + file.blocks)
        texts = [(blocks.first_lines[block], blocks.text(block)) for block in numbers]
        of_file = [SymbolRow(*symbol) for symbol in symbols.get(path, [])]
        columns = SymbolColumns(*map(list, zip(*map(astuple, of_file), strict=True)))
        lines = [comments.get(block, []) for block in numbers]
        signatures = signed([text for _, text in texts]) if texts else b""
        file_row = FileRow(*row, encoding)
        words = _words(index, file.number)
        parts[path] = Part(file_row, engine, is_parsed, texts, signatures, outlined([of_file]), columns, lines, words)
    imports = grouped("SELECT * FROM code.imports ORDER BY rowid")
    rows_of = {path: [ImportRow(*row[:-1], tuple(row[-1])) for row in rows] for path, rows in imports.items()}
    return Facts(parts, rows_of, [*index.base.blocks.unlisted.items()])


def _words(index: Index, file: int) -> FileWords | None:
    """The words of a file, put together again from those of all."""
    words = index.base.words
    assert words
    lengths = words.lengths[:, file].astype(NUMBER)
    if not lengths.any():
        return None
    found = [(key, *words.holding(key)) for key in words.keys]
    of_file = [(key, counts[files == file][0]) for key, files, counts in found if file in files]
    keys = {key for key, _ in of_file}
    fields = (Field.BASE, Field.DIRECTORY, Field.DEFINITION)
    names = [name for name in words.names if any(key_of(field, name) in keys for field in fields)]
    counts = bytes(int(count) for _, count in of_file)
    return FileWords(array(NUMBER, sorted(keys)).tobytes(), counts, lengths.tobytes(), b"\n".join(names))


def changes(old: Facts, new: Facts, *, whole: bool = True) -> Changes:
    """What has changed from one state to another; of a profile without SQL (not `whole`) only what its index holds."""
    parts = [part for path, part in new.parts.items() if part != old.parts.get(path)]
    if not whole:
        parts = [
            replace(part, row=replace(part.row, content_hash=None), columns=SymbolColumns(), comments=[])
            for part in parts
        ]
    paths = {path: new.imports.get(path, []) for path in old.imports.keys() | new.imports.keys()}
    imports = {path: rows for path, rows in paths.items() if rows != old.imports.get(path, [])}
    return Changes(parts, sorted(old.parts.keys() - new.parts.keys()), imports, unlisted=new.unlisted)


def update(generation: int, said: Changes, is_last: bool = True) -> Update:
    return Update(generation, msgspec.msgpack.encode(said), is_last)


# ---- trees -----------------------------------------------------------------------------------------------------------


def plant(root: Path, random: Random, count: int) -> None:
    """Plant a project of some languages whose files import each other."""
    for number in range(count):
        _write(root, random, f"{random.choice(PLACES)}m{number}{random.choice(ENDS)}")


PLACES = ["", "a/", "a/b/", "a.b/", "src/", "src/core/", "é/", "src/deep/er/"]
ENDS = [".py", ".py", ".py", ".js", ".ts", ".java", ".go", ".md", ".txt", ".json", ".bin", "", ".tmp"]


def _text(root: Path, random: Random, name: str) -> str:
    others = [path.stem for path in sorted(root.rglob("*")) if path.is_file()] or ["os"]
    word, other, number = random.choice(WORDS), random.choice(others), random.randrange(100)
    match name.rpartition(".")[2]:
        case "py":
            body = f"import os\nimport sqlite3\nfrom src.core import {other}\nimport {other}\n\n# {word}\n"
            each = [
                f"class C{n}:\n    def {word}(self):\n        return {number}  # é\n\n"
                for n in range(random.randrange(9))
            ]
            called = random.choice(NAMES)
            return f"{body}{''.join(each)}def {random.choice(WORDS)}_{number % 9}(x):\n    return {called}('{word}')\n"
        case "js" | "ts":
            return (
                f"import {{ {other} }} from './{other}';\n// {word}\nexport function {word}{number}() {{ return 1; }}\n"
            )
        case "java":
            return f"package p.{word.lower()};\nimport p.alpha.*;\nclass {word}{number} {{ void run() {{}} }}\n"
        case "go":
            return f'package core\n\nimport "fmt"\n\nfunc {word}{number}() {{ fmt.Println("{word}") }}\n'
        case "md":
            return f"# {word}\n\n## {number} {word}\n\n" + f"text of {word}\n" * random.randrange(400)
        case "json":
            return f'{{"{word}": {{"{number}": [1, 2]}}}}\n'
        case "bin":
            return f"\0{word}"
        case _:
            return random.choice(
                ["", "#!/usr/bin/env python3\nimport os\n", f"{word} {number}\n" * random.randrange(900)]
            )


def _write(root: Path, random: Random, name: str) -> None:
    path = root / name
    with suppress(FileExistsError, NotADirectoryError, IsADirectoryError):  # a file may be where a directory was
        path.parent.mkdir(parents=True, exist_ok=True)
        _unlink_link(path)
        path.write_text(_text(root, random, path.name))


def _unlink_link(path: Path) -> None:
    """Whoever writes through one may write outside the project."""
    if path.is_symlink():
        path.unlink()


def edit(root: Path, random: Random, count: int) -> None:
    """Edit, add, remove, rename, ignore, and swap files and directories."""
    for _ in range(count):
        files = sorted(p for p in root.rglob("*") if (p.is_file() or p.is_symlink()) and ".git" not in p.parts)
        what, chosen = random.choice(EDITS), random.choice(files)
        if what in ("modify", "append", "add", "ignore"):
            _edit_text(root, random, what, chosen)
        else:
            _move(root, random, what, chosen)


def _edit_text(root: Path, random: Random, what: str, chosen: Path) -> None:
    match what:
        case "modify":
            _write(root, random, str(chosen.relative_to(root)))
        case "append" if not chosen.is_symlink():
            with chosen.open("a") as file:
                file.write(f"\ndef {random.choice(WORDS)}():\n    return 1\n")
        case "add":
            _write(root, random, f"{random.choice(PLACES)}n{random.randrange(99)}{random.choice(ENDS)}")
        case "ignore":
            _unlink_link(root / ".gitignore")
            with suppress(IsADirectoryError):  # either may have been swapped
                with (root / ".gitignore").open("a") as rules:
                    rules.write(f"{random.choice(['*', random.choice(PLACES)])}{random.choice(ENDS)}\n")
                _unlink_link(root / "ignored.tmp")
                (root / "ignored.tmp").write_text("x")


def _move(root: Path, random: Random, what: str, chosen: Path) -> None:
    match what:
        case "remove":
            chosen.unlink()
        case "rename":
            to = root / f"{random.choice(PLACES)}r{random.randrange(99)}{chosen.suffix}"
            with suppress(OSError):
                to.parent.mkdir(parents=True, exist_ok=True)
                chosen.rename(to)
        case "directory":
            chosen.unlink()
            _write(root, random, f"{chosen.relative_to(root)}/inside.py")
        case "file" if chosen.parent != root:
            shutil.rmtree(chosen.parent)
            chosen.parent.write_text(f"{random.choice(WORDS)}\n")
        case "link":
            chosen.unlink()
            chosen.symlink_to(random.choice(["m1.py", "/nowhere"]))


# ---- questions -------------------------------------------------------------------------------------------------------

STATEMENTS = [
    "SELECT * FROM files ORDER BY path",
    "SELECT * FROM main.files WHERE language = 'python' ORDER BY path",
    "SELECT * FROM symbols ORDER BY ALL",
    "SELECT * FROM imports ORDER BY ALL",
    "SELECT * FROM content WHERE line_number < 9 ORDER BY path, line_number",
    "SELECT language, count(*), sum(line_count) FROM files GROUP BY ALL ORDER BY ALL",
    "SELECT path, count(*) FROM content JOIN files USING (path) WHERE is_comment GROUP BY path ORDER BY path",
    "SELECT s.path, f.language, s.name FROM symbols s JOIN files f USING (path) WHERE s.kind = 'class' ORDER BY ALL",
    "SELECT * FROM files",
    "SELECT path FROM files WHERE language = 'python' LIMIT 5",
    "SELECT * FROM symbols",
    "SELECT path, name FROM symbols WHERE kind = 'function' LIMIT 9",
    "SELECT nothing FROM files",
    "SELECT sum(path) FROM symbols",
    "SELECT * FROM tags",
    "SELECT * FROM summaries ORDER BY ALL",
    "DESCRIBE files",
    "DESCRIBE content",
    "DESCRIBE symbols",
    "DESCRIBE imports",
]


def names_in(root: Path, random: Random) -> list[str]:
    """Names that are defined in some files of a real project, for questions of what uses them."""
    files = sorted(path for path in root.rglob("*") if path.is_file() and ".git" not in path.parts)
    texts = [path.read_bytes().decode(errors="replace") for path in random.sample(files, min(20, len(files)))]
    found = {name for text in texts for name in DEFINED.findall(text)}
    return sorted(found) or NAMES


DEFINED = re.compile(r"\b(?:def|class|function|func|fn|const|interface|type|struct) +(?:\([^()]*\) *)?([A-Za-z_]\w*)")


def question(  # noqa: C901  (a case for each)
    random: Random, paths: list[str], names: list[str] = NAMES, kinds: list[str] = ASKED
) -> Asked:
    """Any question of an agent, about any of some paths and those above them, and of uses of any of some names."""
    path = random.choice(paths)
    above = random.choice([path, path, path.rpartition("/")[0] or path, f"{path}x", "src", "**/*.py", "m1*", "a?b/*"])
    place = random.choice([None, above])
    word = random.choice([*WORDS, "ab", "turn", "def ", "import os", "zzz", "1"])
    language = random.choice([None, None, None, "python", "java", "nothing"])
    kind = random.choice([None, "function", "class", "method", "module", "import", "section"])
    most = random.choice([3, 20, 1000])
    match random.choice(kinds):
        case "explore":
            directory = random.choice(["", "src", "a", path.rpartition("/")[0], path])
            detail: Detail = random.choice(["map", "map", "summary", "architecture"])
            if detail == "architecture":
                return Explore(directory, detail=detail)
            pattern = random.choice([None, None, "*.py", "m*"])
            return Explore(directory, depth=random.choice([1, 2, 3, 9]), pattern=pattern, detail=detail)
        case "read":
            symbol = random.choice([None, None, "run", "C1.timeout", f"{word}_1", "C0"])
            lines = {} if symbol else random.choice([{}, {}, {"start_line": 3, "end_line": 9}])
            return Read(path, symbol=symbol, **lines)
        case "context":
            budget = random.choice([300, 3000])
            return Read(random.choice(["", path]), symbol=random.choice(names), budget_tokens=budget)
        case "search":
            regex = random.random() < 0.3
            query = random.choice([f"{word}.*1", "^def", "C[0-9]:", "al|be"]) if regex else word
            context = random.choice([0, 2, 9])
            tags = random.choice([(), (), ("database",), ("auth", "database")])
            return Search(query, place, language, regex=regex, context=context, max_results=most, tags_any=tags)
        case "kind":
            return Search(word, place, language, kind=kind or "function", max_results=most)
        case "meaning" | "docs" as mode:
            query = " ".join(random.sample(WORDS, random.randrange(1, 4)))
            most = random.choice([3, 20, 50])
            return Search(query, place, language, mode=mode, max_results=most, explain=random.random() < 0.5)
        case "symbols":
            name = random.choice([None, None, "run", "timeout", "C1", "*a*", f"{word}*"])
            return Symbols(place, kind, language, name, max_results=most)
        case "uses":
            relation, steps = random.choice(RELATIONS), random.choice([None, 1, 3])
            said = {"relation": relation, "depth": steps, "possible": random.random() < 0.4}
            return Symbols(random.choice([None, None, path]), symbol=random.choice(names), max_results=most, **said)
        case "dependencies":
            direction = random.choice(["imports", "imported_by", "both"])
            return Dependencies(path, direction, depth=random.randrange(1, 4))
        case "query":
            return Query(random.choice(STATEMENTS))
        case _:
            return Survey()
