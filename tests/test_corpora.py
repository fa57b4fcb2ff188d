"""Real projects, asked as an agent asks, judged by git, grep and Python's parser: nothing lost, nothing invented."""

import ast
import re
import shutil
import sys
from collections import Counter
from functools import cached_property
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from asking import in_list, lines, pages, rows, structured, text, to_the_end, whole_map
from conftest import connected
from corpora import FetchError, fetch, plant
from references import Definition, Source, files, grep, imports, line_counts, parse, text_lines
from trees import make

pytestmark = pytest.mark.anyio

MAX_FILE = 1_048_576  # the default of max_file_size
SECRET = {"flask": ["tests/test_apps/.env", "tests/test_apps/.flaskenv"]}  # as seen by eye; no other may be left out
SAMPLE = 50  # Python files whose definitions are compared one by one
READ = 200  # definitions that are read by name
REBUILT = 100  # files put together again from `content`
LINKED = 200  # files whose imports are asked for in both directions
UNION = 500  # hits up to which every page is fetched; beyond it the totals are compared

every = pytest.mark.parametrize(
    "corpus",
    ["flask", *(pytest.param(name, marks=pytest.mark.long) for name in ("all of flask", "django", "express"))],
    indirect=True,
    scope="module",
)
python = pytest.mark.parametrize(
    "corpus",
    ["flask", *(pytest.param(name, marks=pytest.mark.long) for name in ("all of flask", "django"))],
    indirect=True,
    scope="module",
)
flask = pytest.mark.parametrize(
    "corpus", ["flask", pytest.param("all of flask", marks=pytest.mark.long)], indirect=True, scope="module"
)


ACCOUNTED = 60  # names whose every occurrence is counted
NOT_UTF8 = {  # files in another encoding than UTF-8, which they are read as
    "django": {
        "tests/i18n/commands/not_utf8.sample": "koi8-r",
        "tests/staticfiles_tests/project/nonutf8/nonutf8.css": "windows-1252",
    }
}
CLASS = re.compile(r"([\d,]+) (?:certain|likely|possible|of |definition|import|name|in |unresolved)")


class Corpus:
    """A project on disk, and what the judges say of it."""

    def __init__(self, name: str, root: Path, part: int) -> None:
        self.name = name
        self.root = root
        self.part = part  # as one of so many are asked for, of what there is much
        self.files = files(root)
        self.counts = line_counts(root)

    @cached_property
    def skipped(self) -> dict[str, str]:
        """The files whose content is to be left out, and why."""
        found = {path: "binary" for path, count in self.counts.items() if count is None}
        found |= {path: "too large" for path in self.files if (self.root / path).stat().st_size > MAX_FILE}
        found |= dict.fromkeys(SECRET.get(self.name, []), "secret")
        return found | {path: "symlink" for path in self.files if (self.root / path).is_symlink()}

    @cached_property
    def texts(self) -> list[str]:
        """The files whose content is to be found."""
        return [path for path in self.files if path not in self.skipped]

    def grep(self, pattern: str, *options: str) -> dict[tuple[str, int], str]:
        """The lines that grep finds in texts; those of another encoding it is given in UTF-8."""
        others = NOT_UTF8.get(self.name, {})
        with TemporaryDirectory() as place:
            for path, encoding in others.items():
                make(Path(place), **{path: (self.root / path).read_bytes().decode(encoding)})
            elsewhere = grep(Path(place), others, pattern, *options) if others else {}
        return elsewhere | grep(self.root, (path for path in self.texts if path not in others), pattern, *options)

    @cached_property
    def python(self) -> dict[str, Source]:
        """Every file that Python can parse."""
        parsed = {path: parse(self.root, path) for path in self.texts if path.endswith(".py")}
        return {path: source for path, source in parsed.items() if source}

    @cached_property
    def sample(self) -> list[str]:
        return sample(sorted(self.python), SAMPLE)


def sample(items, size):
    """Some of a sequence, always the same ones."""
    return sorted(Random(1).sample(items, min(size, len(items))))


@pytest.fixture(scope="module")
def corpus(request, tmp_path_factory):
    if request.param == "express" and not shutil.which("npm"):
        pytest.skip("npm is not installed, and Express is fetched with it")
    cache = getattr(request.config, "cache", None)  # pytest can run without
    folder = cache.mkdir("corpora") if cache else tmp_path_factory.mktemp("corpora")
    name = request.param.removeprefix("all of ")
    try:
        archive = fetch(name, folder)
    except FetchError as failed:
        pytest.fail(str(failed), pytrace=False)
    return Corpus(name, plant(archive, tmp_path_factory.mktemp(name)), 6 if request.param == "flask" else 1)


@pytest.fixture(scope="module")
async def client(corpus):
    async with connected(corpus.root, "--profile", "fledgling-analyst") as client:
        yield client


# ---- files ----------------------------------------------------------------------------------------------------------


@every
async def test_the_files_are_those_that_git_lists(corpus, client):
    assert len(corpus.files) > 5
    explored = await whole_map(client, depth=20)
    listed = [file["path"] for page in explored for file in page["files"]]
    assert listed == corpus.files
    assert explored[0]["summary"]["total_files"] == len(corpus.files)
    assert {file["path"]: file["skipped"] for page in explored for file in page["files"] if "skipped" in file} == (
        corpus.skipped
    )
    assert [path for (path,) in await rows(client, "SELECT path FROM files ORDER BY path")] == corpus.files


@every
async def test_the_directories_add_up(corpus, client):
    """Each directory has the files and lines that git counts below it."""
    found = {
        directory["path"]: (directory["files"], directory["lines"])
        for page in await whole_map(client, depth=20)
        for directory in page["directories"]
    }
    expected: dict[str, list[int]] = {}
    for path in corpus.files:
        for parent in list(Path(path).parents)[:-1]:
            totals = expected.setdefault(f"{parent}/", [0, 0])
            totals[0] += 1
            totals[1] += 0 if path in corpus.skipped else corpus.counts[path]
    assert found == {path: tuple(totals) for path, totals in expected.items()}


@every
async def test_the_line_counts_are_those_of_git(corpus, client):
    found = await rows(client, "SELECT path, line_count FROM files WHERE skip_reason IS NULL")
    assert dict(found) == {path: corpus.counts[path] for path in corpus.texts}


@every
async def test_content_is_the_text_of_the_files(corpus, client):
    for path in sample(corpus.texts, REBUILT // corpus.part):
        select = f"SELECT line_number, line_text FROM content WHERE path IN {in_list([path])} ORDER BY line_number"
        found = await rows(client, select)
        assert found == [*enumerate(text_lines(corpus.root / path), 1)], path


# ---- definitions ----------------------------------------------------------------------------------------------------


@python
async def test_query_gives_the_definitions_that_python_finds(corpus, client):
    expected = [found[:5] for path in corpus.sample for found in corpus.python[path].definitions]
    select = f"""SELECT path, qualified_name, kind, line_start, line_end FROM symbols
        WHERE kind IN ('function', 'class', 'method') AND path IN {in_list(corpus.sample)}"""
    assert_same(await rows(client, select), expected)
    assert len(expected) > 500


@python
async def test_symbols_gives_the_definitions_that_python_finds(corpus, client):
    for path in corpus.sample:
        found = [
            (file["path"], symbol["name"], symbol["kind"], *symbol["lines"], symbol.get("parent"))
            for page in await pages(client, "symbols", path=path)
            for file in page["files"]
            for symbol in file["symbols"]
            if symbol["kind"] in ("function", "class", "method")
        ]
        expected = corpus.python[path].definitions
        assert_same(found, [(path, of.node.name, of.kind, of.first, of.last, of.parent) for of in expected])


def assert_same(found, expected):
    """Nothing is missing and nothing invented, each as often as it is there."""
    assert (Counter(expected) - Counter(found), Counter(found) - Counter(expected)) == (Counter(), Counter())


@python
async def test_read_gives_a_definition_by_its_name(corpus, client):
    named = [found for path in corpus.sample for found in corpus.python[path].definitions if is_unique(corpus, found)]
    chosen = sample(named, READ // corpus.part)
    assert len(chosen) == READ // corpus.part
    for found in chosen:
        source = corpus.python[found.path]
        expected = source.lines[found.first - 1 : found.last]
        assert await lines(client, path=found.path, symbol=found.qualified) == expected, found[:3]
        assert ast.get_source_segment(source.text, found.node) in "\n".join(expected)


def is_unique(corpus: Corpus, found: Definition) -> bool:
    source = corpus.python[found.path]
    alike = [other for other in source.definitions if other.qualified == found.qualified]
    return len(alike) == 1 and found.qualified not in source.assigned


@python
async def test_a_name_that_means_several_definitions_is_never_picked_silently(corpus, client):
    several = 0
    for path in corpus.python:
        names = Counter(found.qualified for found in corpus.python[path].definitions)
        for name in sample([name for name, count in names.items() if count > 1], 2):
            result = await client.call_tool("read", {"path": path, "symbol": name})
            meant = [found for found in corpus.python[path].definitions if found.qualified == name]
            meant.sort(key=lambda found: found.first)  # a walk of a tree comes to deeper ones later
            if result.is_error:
                assert [found for found in meant if f", lines {found.first}-{found.last}" not in text(result)] == []
            else:  # they are read together
                assert f"{name} is defined {len(meant)} times here, one after the other." in text(result)
                assert f"lines {meant[0].first}-{meant[-1].last} of" in text(result)
            several += 1
    assert several > 5


LONG = """SELECT path, qualified_name, line_start FROM symbols
    WHERE language = 'python' AND kind IN {} AND line_end - line_start + 1 > {} AND docstring IS NULL"""


@python
@pytest.mark.parametrize("kinds", [("function",), ("function", "method")], ids=["functions", "and methods"])
@pytest.mark.parametrize("length", [50, 10])
async def test_long_functions_without_a_docstring_in_one_select(corpus, client, kinds, length):
    expected = [
        (found.path, found.qualified, found.first)
        for source in corpus.python.values()
        for found in source.definitions
        if found.kind in kinds and found.last - found.first + 1 > length and ast.get_docstring(found.node) is None
    ]
    found = await rows(client, LONG.format(in_list([*kinds]), length))
    assert_same([row for row in found if row[0] in corpus.python], expected)
    assert expected or length == 50


# ---- text -----------------------------------------------------------------------------------------------------------

LITERALS = [
    "the",
    "import",
    "self.",
    "Flask",
    "django",
    "ROUTER",
    "TODO",
    "zzqqxyzzy",
    "**kwargs",
    "[0]",
    "(?:",
    "a.b",
    "\\n",
    "^",
    "$",
    "|",
    "{}",
    "'\"",
    "ü",
    "É",
    "日本",
    "“",
    "\t",
    "    return ",
    "...",
]
REGEXES = [
    "def [a-z_]+\\(",
    "^class ",
    "^(from|import) [a-z.]+$",
    "[0-9]{4}-[0-9]{2}-[0-9]{2}",
    "(get|set)_[a-z]+_?name",
    "^$",
    "^.{100,}$",
    "[äöüß]",
    "\\.\\.\\.?$",
    "zzqq+xyzzy",
    "^ *return (None|True|False)$",
    "var|let|const",
]


@every
@pytest.mark.parametrize(
    ("literal", "exact"),
    [
        pytest.param(literal, exact, marks=pytest.mark.long if (number + exact) % 2 else ())
        for number, literal in enumerate(LITERALS)
        for exact in (False, True)
    ],
)
async def test_search_finds_the_lines_that_grep_finds(corpus, client, literal, exact):
    expected = corpus.grep(literal, "-F", *([] if exact else ["-i"]))
    await assert_found(client, expected, query=literal, case_sensitive=exact)


@every
@pytest.mark.parametrize("regex", REGEXES)
async def test_a_regular_expression_finds_the_lines_that_grep_finds(corpus, client, regex):
    expected = corpus.grep(regex, "-E")
    await assert_found(client, expected, query=regex, regex=True, case_sensitive=True)


async def assert_found(client, expected, **question):
    """The totals are exact, or lower bounds that say so, and all pages together hold each line once."""
    max_results = 1000 if len(expected) <= UNION else 1
    first = await structured(client, "search", **question, context=0, max_results=max_results)
    if first.get("total_is_lower_bound"):
        assert max_results < first["total"] <= len(expected), "some lines are behind the page, and were not counted"
        last = str(len(expected) - 1)  # a page that holds the last line has counted all
        first = await structured(client, "search", **question, context=0, max_results=1, cursor=last)
    assert first["total"] == len(expected), Counter(path for path, _ in expected)
    assert first["total_files"] == len({path for path, _ in expected})
    if len(expected) > UNION:
        return
    found = await to_the_end(client, first)
    hits = [(file["path"], line) for page in found for file in page["files"] for line in file["hits"]]
    assert hits == sorted(expected)
    shown = {(file["path"], line): words for page in found for file in page["files"] for line, words in file["lines"]}
    assert {at: words for at, words in shown.items() if len(expected[at]) <= 400} == {
        at: words for at, words in expected.items() if len(words) <= 400
    }


# ---- pages ----------------------------------------------------------------------------------------------------------

PLACES = {"flask": "src/flask/json", "django": "django/dispatch", "express": "lib"}


@every
async def test_pages_of_symbols_are_the_whole_list(corpus, client):
    place = PLACES[corpus.name]
    (whole,) = await pages(client, "symbols", path=place, max_results=1000)
    found = await pages(client, "symbols", path=place, max_results=7)
    assert len(found) == -(-whole["total"] // 7) > 2
    assert flat(found, "symbols") == flat([whole], "symbols")
    assert {page["total"] for page in found} == {whole["total"]}


@every
async def test_pages_of_search_are_the_whole_list(corpus, client):
    question = {"query": "return", "path": PLACES[corpus.name], "context": 0}
    (whole,) = await pages(client, "search", **question, max_results=1000)
    found = await pages(client, "search", **question, max_results=3)
    assert len(found) == -(-whole["total"] // 3) > 2
    assert flat(found, "hits") == flat([whole], "hits")
    assert flat(found, "lines") == flat([whole], "lines")


def flat(found, field):
    return [(file["path"], item) for page in found for file in page["files"] for item in file[field]]


@every
async def test_the_same_question_has_the_same_answer(corpus, client):
    for tool, arguments in [("explore", {"depth": 3}), ("search", {"query": "a"}), ("symbols", {})]:
        first, second = [await client.call_tool(tool, arguments) for _ in range(2)]
        assert text(first) == text(second)


# ---- imports --------------------------------------------------------------------------------------------------------


@flask
async def test_imports_lead_where_python_would_find_them(corpus, client):
    sources = [path for path in corpus.python if path.startswith("src/flask/")]
    assert len(sources) > 20
    for path in sources:
        found = [item for page in await pages(client, "dependencies", path=path) for item in page.get("imports", [])]
        assert {(item["line"], item.get("resolved")) for item in found} == imports(corpus.root, "src", path), path
        for item in found:
            if "resolved" not in item:
                is_standard = item["module"].partition(".")[0] in sys.stdlib_module_names
                assert item["unresolved"] == ("stdlib" if is_standard else "external"), (path, item)


@every
async def test_imported_by_is_the_inverse_of_imports(corpus, client):
    """Every file that imports or is imported, or some of them, by both directions of the tool and by the table."""
    select = "SELECT DISTINCT unnest([path, resolved_path]) AS path FROM imports WHERE resolved_path IS NOT NULL"
    paths = sample(sorted(path for (path,) in await rows(client, select)), LINKED // corpus.part)
    chosen = in_list(paths)
    select = (
        "SELECT DISTINCT path, line_number, resolved_path FROM imports WHERE resolved_path IS NOT NULL AND {} IN {}"
    )
    forth, back = [], []
    for path in paths:
        for page in await pages(client, "dependencies", path=path):
            forth += [(path, item["line"], item["resolved"]) for item in page.get("imports", []) if "resolved" in item]
            back += [(item["path"], item["line"], path) for item in page.get("imported_by", [])]
    assert set(forth) == set(await rows(client, select.format("path", chosen)))
    assert_same(back, await rows(client, select.format("resolved_path", chosen)))
    assert len(forth) > 2


@flask
async def test_an_account_of_a_name_has_every_occurrence_once(corpus, client):
    """As many as `grep -ow` finds, and the parts of the account are as many together."""
    texts = [(corpus.root / path).read_bytes() for path in corpus.texts]
    defined = (found for path in corpus.sample for found in corpus.python[path].definitions)
    names = Counter(found.qualified.rpartition(".")[2] for found in defined)
    once = sorted(name for name, count in names.items() if count == 1)
    counted = 0
    for name in Random(29).sample(once, ACCOUNTED // corpus.part):
        arguments = {"symbol": name, "relation": "usages", "language": "python"}
        result = await client.call_tool("symbols", arguments)
        if result.is_error:
            assert f"{name!r} names " in text(result)  # it is defined in another file, too
            continue
        said = re.sub(r"\([^)]*\)", "", result.structured_content["account"])
        total = int(re.search(r"([\d,]+) occurrence", said)[1].replace(",", ""))
        word = re.compile(rb"(?<![A-Za-z0-9_])%s(?![A-Za-z0-9_])" % name.encode())
        assert total == sum(len(word.findall(text)) for text in texts), name
        parts = said.split(": ", 1)[1].split(";")[0]
        assert total == sum(int(count.replace(",", "")) for count in CLASS.findall(parts)), said
        counted += 1
    assert counted > ACCOUNTED // corpus.part // 2
