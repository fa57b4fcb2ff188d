"""Search by meaning: which files are ranked first, which mode answers, and what is said where nothing is there."""

from collections.abc import AsyncIterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest
from conftest import write_project
from running import QUERY_WORKER, fronted, spent, spent_since
from tables import every_row
from trees import make

from fledgling.broker.front import Front
from fledgling.broker.protocol import tools
from fledgling.messages.answers import Hits, Passage, Ranking, Refusal, SymbolList
from fledgling.messages.bounded import MAX_OTHERS
from fledgling.messages.generations import GRAPH
from fledgling.messages.passages import TOKENS
from fledgling.messages.questions import MAX_ALSO, Search
from fledgling.plain import lines_in_short
from fledgling.security import profile as profiles
from fledgling.worker.ranking.rank import is_aside
from fledgling.worker.tools.documents import NO_WORD
from fledgling.worker.tools.meaning import BESIDE_CODE, DOCUMENTS_TOO, IN_DOUBT, NEAREST, NEITHER, ROWS

pytestmark = pytest.mark.anyio

FILES = {
    "src/upload/retry.py": '"""Sends a file again when the other side did not take it."""\n\n\ndef backoff(tries):\n'
    "    # the pause doubles with each try\n    return 2 ** tries\n",
    "src/upload/sender.py": '"""Uploads files to a bucket."""\nimport src.upload.retry\n\n\nclass Uploader:\n'
    '    def send(self, file):\n        """Put one file."""\n        return file\n',
    "src/accounts/auth.py": '"""Checks passwords."""\n\n\ndef check_password(user, password):\n'
    "    return user.hash == password\n",
    "src/accounts/session_token.py": "class SessionToken:\n    def expired(self):\n        return self.age > 3600\n",
    "src/http/__init__.py": "from src.http.server import HTTPServer\n",
    "src/http/server.py": "class HTTPServer:\n    def listen(self, port):\n        self.port = port\n",
    "src/report/pdf_writer.py": "# renders pages\ndef render(pages):\n    for page in pages:\n        yield page\n",
    "tests/test_login.py": "def test_password():\n    # a wrong password is refused\n"
    "    check_password(None, 'password')\n",
    "web/cart.ts": "// what a customer is going to buy\nexport class ShoppingCart {\n  addItem(item: string) {}\n}\n",
    "src/a_yard.py": "# cargo\n" + "\nx = 1\n" * 40 + "\n# crane\n",
    "src/b_yard.py": "# cargo crane\n" + "\nx = 1\n" * 40 + "\n# \n",
    "docs/guide.md": "# Guide\n\n## Set up\n\nInstall it with pip.\n\n## Retries\n\nAn upload is tried three times.\n"
    + "\nWords.\n" * 100
    + "\n## Limits\n\nThe size of a file is ten megabytes at most.\n",
    "docs/whatsnew-1.0.md": "# Changes\n\n## Limits\n\n- Uploads: the size of a file is limited; file size limits.\n",
    "docs/change-detection.md": "# Pigments\n\nA pigment is told by its hue.\n",
    "notes/detection.md": "# Pigments\n\nA pigment is told by its hue.\n",
    "data/words.json": '{"password": "upload retries"}\n',
}


@pytest.fixture(scope="module")
async def front(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Front]:
    """A front over a project in which each file is about something else."""
    async with fronted(make(tmp_path_factory.mktemp("meaning"), **FILES)) as (front, indexing):
        await indexing.built()
        yield front


async def ranked(front: Front, query: str, **arguments: Any) -> Ranking:
    found = await front.call("search", {"query": query, "mode": "meaning", **arguments})
    assert isinstance(found, Ranking), found
    return found


# ---- what comes first ------------------------------------------------------------------------------------------------

FIRST = {
    "how long is the pause before a retry": "src/upload/retry.py",
    "how long is the pause before another try": "src/upload/retry.py",
    "class that uploads a file to a bucket": "src/upload/sender.py",
    "check the password of a user": "src/accounts/auth.py",
    "session token": "src/accounts/session_token.py",
    "SessionToken": "src/accounts/session_token.py",
    "when does a token of a session expire": "src/accounts/session_token.py",
    "http server that listens on a port": "src/http/server.py",
    "HTTPServer": "src/http/server.py",
    "write pdf": "src/report/pdf_writer.py",
    "pdf rendering of pages": "src/report/pdf_writer.py",
    "authentication": "src/accounts/auth.py",  # by what it begins with
    "what is a customer going to buy": "web/cart.ts",
    "shopping cart": "web/cart.ts",
    "a crane for cargo": "src/b_yard.py",  # where its words stand near each other
    "tests of the password": "tests/test_login.py",  # which stand back unless they are asked for
}


@pytest.mark.parametrize("query", FIRST)
async def test_what_is_meant_comes_first(front: Front, query: str) -> None:
    found = await ranked(front, query)
    assert found.files[0].path == FIRST[query], [passage.path for passage in found.files]
    scores = [passage.score for passage in found.files]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)
    assert not {"data/words.json", "docs/guide.md"} & {passage.path for passage in found.files}


async def test_a_passage_is_the_definition_that_is_meant_and_its_best_lines(front: Front) -> None:
    [first, *_] = (await ranked(front, "has it expired")).files
    assert first == Passage(
        path="src/accounts/session_token.py",
        lines=(2, 3),
        score=first.score,
        language="python",
        kind="method",
        name="SessionToken.expired",
        signature="def expired(self)",
        best=[(2, "    def expired(self):")],
        others=[(1, "SessionToken")],
    )


# Definitions of one file, and a question to each: which is named, and which is not among the others.
DEFINITIONS = {
    "parcels.py": "import os\n\n\nclass ParcelLocker:\n"
    '    """Where people fetch what was sent to them."""\n\n'
    "    def __init__(self, boxes):\n        # a locker of parcels, boxes to fetch\n        self.boxes = boxes\n\n"
    "    # Throws away what nobody came for.\n    def sweep(self):\n        self.boxes.clear()\n\n"
    "    def open(self, code):\n        return os.open(code)\n\n"
    "    def weigh(self, box):\n        grams = box.weight\n        # refuses heavy boxes\n"
    "        return grams < 20_000\n\n"
    "    def label(self, box):\n        return box.name\n\n\n"
    "def test_sweep_throws_away():\n    assert ParcelLocker([]).sweep() is None\n",
    "Crate.java": "class Crate {\n  int apples;\n\n  Crate(int apples) {\n    this.apples = apples;\n  }\n"
    + "\n  // more of it\n" * 40
    + "}\n",
    "stable.h": "namespace horses {\n/** Feeds horses in the morning. */\nclass Groom {\n public:\n  Groom();\n"
    "  ~Groom();\n  void Feed();\n};\n}\n#define STABLE_H_\n",
    "ferry.py": "# Boats wait no longer than this.\nBOAT_LIMIT = 30\n\n\n"
    "def cross(boat):\n    return sail(boat, BOAT_LIMIT)\n",
    "barge.ts": "/**\nMoors barges tightly.\n*/\nexport class Rope {\n  pull() {\n    return 2;\n  }\n}\n\n"
    "export function tightMooring() {\n  return 3;\n}\n\nexport class Barge {\n  moor() {\n    return 4;\n  }\n}\n",
    "sluice.py": "def fill():\n" + "    wait()\n" * 30 + "    return sluice.gate.opened\n\n\n"
    "class SluiceGate:\n    def close(self):\n        return self\n",
    "json.py": "class JSON:\n    def value(self):\n        return 1\n",
    "paper.py": "# indents lines for print\ndef indent_lines(json):\n    return json\n",
    "ports.py": "def undock():\n    return quayside\n\n\ndef dock():\n    return QUAY\n",
}
MEANT = {
    "where people fetch what was sent": "ParcelLocker",  # by the string in it
    "throw away what nobody came for": "ParcelLocker.sweep",  # by the comment above it
    "sweep throws away": "ParcelLocker.sweep",  # and no test of it
    "heavy boxes are refused": "ParcelLocker.weigh",  # by a comment in it, which is not the next one's
    "locker of parcels": "ParcelLocker",  # and not what makes one
    "a crate of apples": "Crate",  # though it is long, and what makes one is short
    "who feeds horses": "horses.Groom",  # and not the namespace
    "open by code": "ParcelLocker.open",
    "BOAT_LIMIT": "BOAT_LIMIT",  # though a constant is small: its very name is asked for
    "where is BOAT_LIMIT set": "BOAT_LIMIT",
    "moor a barge tightly": "Rope",  # by a line of the comment above it
    "the opened gate of a sluice": "fill",  # by a line of it
    "indent the lines of JSON for print": "indent_lines",  # and not what is called JSON: a word among others
    "JSON": "JSON",
    "at the quay": "dock",  # in capitals, and no longer word that begins so
    "limit of a boat": "cross",  # and not what is small, whose words alone are asked for
}


MANY = {"many/pack.py": "\n".join(f"def pack_{n}():\n    return 'hampers of letters'\n" for n in range(13))}
VERBS = {f"{verb}.py": f"def {verb}_user(user):\n    return user.{verb}\n" for verb in ("show", "remove", "rename")}


@pytest.fixture(scope="module")
async def defining(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Front]:
    async with fronted(make(tmp_path_factory.mktemp("defining"), **DEFINITIONS, **MANY, **VERBS)) as (front, indexing):
        await indexing.built()
        yield front


async def test_a_definition_is_ranked_by_its_own_words(defining: Front) -> None:
    found: dict[str, str | None] = {}
    for query in MEANT:
        [first, *_] = (await ranked(defining, query)).files
        found[query] = first.name
    assert found == MEANT


async def test_other_definitions_of_a_file_are_named_by_their_lines(defining: Front) -> None:
    found = await ranked(defining, "hampers of letters")
    [passage] = found.files
    assert passage.name == "pack_0"
    assert passage.others == [(3 * number + 1, f"pack_{number}") for number in range(1, 13)][:MAX_OTHERS]
    assert "  also 4 pack_1, 7 pack_2" in tools.text(found)


async def test_a_word_that_is_often_written_for_another_is_found_and_explained(defining: Front) -> None:
    [first, *_] = (await ranked(defining, "delete a user", explain=True)).files
    alone = await ranked(defining, "delete")
    assert (first.path, first.name) == ("remove.py", "remove_user")
    assert first.why
    assert "definition" in first.why.words["delete ~ remov"]
    assert alone.note, "it is no word of the project's: that it is asked for is not said"
    assert alone.note.startswith("Nothing says this")


async def test_another_way_to_say_it_finds_what_the_question_does_not(front: Front) -> None:
    assert (await ranked(front, "credentials")).files == []
    found = await front.call("search", {"query": "credentials", "also": ["password", "auth"]})
    assert isinstance(found, Ranking)
    assert found.files[0].path == "src/accounts/auth.py"


async def test_filters_leave_the_best_of_what_they_leave(front: Front) -> None:
    for arguments in ({"path": "src/accounts"}, {"path": "**/auth*"}, {"language": "typescript"}):
        found = await ranked(front, "upload password buy", **arguments)
        assert found.files
        for passage in found.files:
            assert passage.language == arguments.get("language", "python")
            assert passage.path.startswith("src/accounts") or "language" in arguments


async def test_explaining_says_which_words_are_where(front: Front) -> None:
    plain = await ranked(front, "authentication by password")
    assert all(passage.why is None for passage in plain.files)
    [first, *_] = (await ranked(front, "authentication by password", explain=True)).files
    assert first.why
    assert first.why.words["authentication ~ auth"] == ["name"]
    assert first.why.words["password"] == ["definition", "comment", "text"]
    assert (first.why.meaning_rank, first.why.meaning_score) == (1, first.score)
    assert first.why.fts_rank >= 1


async def test_no_more_is_shown_than_is_asked_for(front: Front) -> None:
    assert len((await ranked(front, "upload password file", max_results=2)).files) == 2
    assert len((await ranked(front, "upload password file")).files) <= ROWS


# ---- what is not there -----------------------------------------------------------------------------------------------


ABSENT = [
    "kubernetes pod scheduler",
    "bluetooth pairing",
    "zzz qqq",
    "?!",
    "limit how many passwords are refused",  # two files say a word each
]


@pytest.mark.parametrize("query", ABSENT)
async def test_what_nobody_says_is_said_to_be_absent(front: Front, query: str) -> None:
    found = await ranked(front, query)
    assert len(found.files) <= NEAREST
    assert (found.note or "").startswith("Nothing says this")


async def test_what_nobody_says_is_answered_with_the_nearest_files_by_any_mode(front: Front) -> None:
    """A question that no line answers is one that nothing says, and the files that are nearest to it are named."""
    query = "limit how many passwords are refused"
    nearest = (await ranked(front, query)).files
    found = await front.call("search", {"query": query})
    assert isinstance(found, Hits)
    assert 0 < len(nearest) <= NEAREST
    places = ", ".join(f"{each.path}:{lines_in_short(*each.lines)}" for each in nearest)
    assert f"{NEITHER}; the nearest are {places}." in (found.note or "")
    for absent in ("kubernetes pod scheduler", "PasswordChecker", "check_password(root)"):
        found = await front.call("search", {"query": absent})
        assert isinstance(found, Hits)
        assert f"{NEITHER}; " not in (found.note or "")


@pytest.mark.parametrize("query", ["who buys pages", "send a file to a kitchen in spring", "upload password file"])
async def test_what_little_is_said_of_is_answered_with_a_doubt(front: Front, query: str) -> None:
    found = await ranked(front, query)
    assert found.files
    assert (IN_DOUBT in (found.note or "")) == (query != "upload password file")


async def test_a_word_that_no_file_has_is_named(front: Front) -> None:
    found = await ranked(front, "check password of a user in kubernetes")
    assert found.files[0].path.startswith("src/accounts")
    assert found.note == "No file of code has kubernetes."


@pytest.mark.parametrize(
    ("query", "is_beside"),
    [
        ("ten megabytes", True),  # of documents
        ("wrong password", True),  # of a test
        ("file again", False),  # of code
        ("megabytes", False),  # is one word
    ],
)
async def test_words_that_only_documents_and_tests_hold_may_be_meant(
    front: Front, query: str, *, is_beside: bool
) -> None:
    found = await front.call("search", {"query": query})
    assert isinstance(found, Hits)
    assert (BESIDE_CODE in (found.note or "")) == is_beside


# ---- which mode answers ----------------------------------------------------------------------------------------------

MODES: dict[str, tuple[str, dict[str, Any]]] = {
    "a word that lines hold": ("text", {"query": "password"}),
    "words that a line holds as they stand": ("text", {"query": "pause doubles"}),
    "words that no line holds": ("meaning", {"query": "password check of users"}),
    "a question": ("meaning", {"query": "how long is the pause before a retry?"}),
    "a question that names a file": ("meaning", {"query": "where is the password of users.json checked"}),
    "a question that names a constant": ("meaning", {"query": "how is a password with SALT_LENGTH checked"}),
    "code of several words": ("nothing", {"query": "from accounts.password import check"}),
    "a word that no line holds": ("meaning", {"query": "authentication"}),
    "a name that no line holds": ("nothing", {"query": "PasswordChecker"}),
    "code": ("nothing", {"query": "check_password(root)"}),
    "a path": ("nothing", {"query": "src/accounts/password"}),
    "quotes, which are taken for none": ("meaning", {"query": '"files uploaded to buckets"'}),
    "a text in quotes within others": ("nothing", {"query": 'say "failed uploads" again'}),
    "an expression": ("regex", {"query": "pass.*ord", "regex": True}),
    "an expression by its mode": ("regex", {"query": "pass.*ord", "mode": "regex"}),
    "an expression that no line holds": ("nothing", {"query": "pass.*zzz", "regex": True}),
    "whole words": ("nothing", {"query": "failed uploads retried", "whole_word": True}),
    "text, whatever it says": ("nothing", {"query": "where are failed uploads retried", "mode": "text"}),
    "meaning, though a line holds it": ("meaning", {"query": "password", "mode": "meaning"}),
    "a definition": ("definitions", {"query": "password", "kind": "function"}),
    "documents": ("docs", {"query": "how often is an upload tried", "mode": "docs"}),
    "what is about nothing here": ("nothing", {"query": "kubernetes pod scheduler"}),
    "other names of modes": ("meaning", {"query": "password", "search_type": "semantic"}),
}


@pytest.mark.parametrize("name", MODES)
async def test_the_mode_is_the_one_that_is_meant_and_said(front: Front, name: str) -> None:
    mode, arguments = MODES[name]
    found = await front.call("search", arguments)
    match found:
        case SymbolList():
            used = "definitions"
        case Hits(total=0):
            used = "nothing"
        case Hits() | Ranking():
            used = found.mode_used
        case _:
            used = str(found)
    assert used == mode
    if isinstance(found, Ranking) and "mode" not in arguments and "search_type" not in arguments:
        assert "No line holds this text" in (found.note or "")


UNFIT: dict[str, dict[str, Any]] = {
    "two modes": {"regex": True, "mode": "meaning"},
    "text by an expression": {"regex": True, "mode": "text"},
    "definitions by meaning": {"kind": "class", "mode": "meaning"},
    "synonyms of a text": {"also": ["b"], "mode": "text"},
    "too many synonyms": {"also": ["b"] * (MAX_ALSO + 1)},
    "a line break in a synonym": {"also": ["a\nb"]},
    "no such mode": {"mode": "telepathy"},
}


@pytest.mark.parametrize("name", UNFIT)
async def test_what_no_mode_takes_is_refused(front: Front, name: str) -> None:
    refused = await front.call("search", {"query": "a", **UNFIT[name]})
    assert isinstance(refused, Refusal)
    assert refused.kind == "invalid"


# ---- documents -------------------------------------------------------------------------------------------------------

SECTIONS = {
    "how often is an upload tried": ("docs/guide.md", "Guide.Retries"),
    "install": ("docs/guide.md", "Guide.Set up"),
    "attempts": ("docs/guide.md", "Guide.Retries"),  # by what is often written for it
    "file size limits": ("docs/guide.md", "Guide.Limits"),  # and not the changelog, which says more of it
    "hue of a pigment": ("docs/change-detection.md", "Pigments"),  # which is no changelog
}


@pytest.mark.parametrize("query", SECTIONS)
async def test_a_section_of_a_document_is_found(front: Front, query: str) -> None:
    found = await front.call("search", {"query": query, "mode": "docs"})
    assert isinstance(found, Ranking)
    assert (found.files[0].path, found.files[0].name) == SECTIONS[query]
    assert found.files[0].best
    first, last = found.files[0].lines
    assert last - first < 60


@pytest.mark.parametrize("query", ["x", "1 2 3", "?!"])
async def test_what_is_no_word_is_not_said_to_be_absent(front: Front, query: str) -> None:
    for mode in ("meaning", "docs"):
        found = await front.call("search", {"query": query, "mode": mode})
        assert isinstance(found, Ranking)
        assert found.note == NO_WORD, mode


async def test_what_no_document_says_is_said_to_be_absent(front: Front) -> None:
    found = await front.call("search", {"query": "bluetooth pairing", "mode": "docs"})
    assert isinstance(found, Ranking)
    assert found.note == "Nothing in 4 documents says this."


# ---- answers, and where there is nothing to rank ---------------------------------------------------------------------


async def test_an_answer_is_short_as_text(front: Front) -> None:
    found = await ranked(front, "upload password file")
    lines = tools.text(found).split("\n")
    assert lines[0].endswith("files by meaning, the best first; [score 0 to 1]")
    assert lines[1].startswith(f"{found.files[0].path}:")
    assert len(tools.text(found)) < 2400  # some 600 tokens


async def test_an_answer_fills_its_tokens_and_no_more(tmp_path: Path) -> None:
    """Those of the best files, then definitions; all of as many as are asked for."""
    path, function = f"{'deep/' * 20}parcel_{{}}.py", "def send_parcel_{}(address, weight, sender, {}):\n    pass\n\n\n"
    text = "".join(function.format(number, "how, " * 9) for number in range(9))
    async with fronted(make(tmp_path, **{path.format(number): text for number in range(20)})) as (front, indexing):
        await indexing.built()
        found, all_ = [await ranked(front, "send a parcel", **asked) for asked in ({}, {"max_results": 20})]
    assert TOKENS * 4 - 300 < len(tools.text(found)) <= TOKENS * 4
    assert NEAREST < len(found.files) < ROWS
    assert len(all_.files) == 20
    assert [len(passage.others) for passage in all_.files][:3] == [8, 8, 8]


# What lines say word for word, and one of these lines.
SAID = {
    "in a docstring": ("it is rounded to whole cents, half to even, before it is sent", 13),
    "in a string": ("the card was declined by the issuing bank", 15),
    "at the top": ("send reminders to customers who pay late", 1),
    "beside a constant": ("how long the gateway may take before we give up on a payment", 4),
    "over two lines": ("a reminder is written after thirty days without any answer", 18),
}
SAYING = (
    '"""Parse invoices, send reminders to customers who pay late."""\n\n\n'
    "SECONDS = 30  # how long the gateway may take before we give up on a payment\n\n\n"
    "class Invoice:\n    def lines(self):\n        return self._lines\n\n"
    'def charge(card):\n    """Ask for it.\n    It is rounded to whole cents, half to even, before it is sent.\n'
    '    """\n    raise ValueError("the card was declined by the issuing bank")\n\n'
    "def overdue(invoices):\n    # a reminder is written after thirty days\n    # without any answer\n"
    "    return invoices\n"
)
NEIGHBOUR = 'def h{0}():\n    """Credit card invoices, customers, a payment gateway: pay."""\n'


@pytest.fixture(scope="module")
async def saying(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Front]:
    files = {"pay.py": SAYING, **{f"src/n{number}.py": NEIGHBOUR.format(number) for number in range(25)}}
    async with fronted(make(tmp_path_factory.mktemp("saying"), **files)) as (front, indexing):
        await indexing.built()
        yield front


@pytest.mark.parametrize("name", SAID)
async def test_what_lines_say_word_for_word_is_found_and_not_in_doubt(saying: Front, name: str) -> None:
    query, line = SAID[name]
    found = await ranked(saying, query)
    first, last = found.files[0].lines
    assert (found.note, found.files[0].path, first <= line <= last) == (None, "pay.py", True)


# What views leave, questions, and the file that is first then; None where none may say it.
NARROWED = {
    "lines": ("content", "line_number < 5", {"check a password": "src/accounts/auth.py"}),
    "definitions": ("symbols", "name <> 'SessionToken'", {"session token": "src/accounts/session_token.py"}),
    "a hidden line and a hidden comment": (
        "content",
        "line_text NOT LIKE '%pause%' AND line_text NOT LIKE '%customer%'",
        {"how long is a pause": None, "what a customer buys": None},
    ),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] if name == "lines" else []) for name in NARROWED]
)
async def test_a_profile_that_leaves_rows_out_ranks_by_what_is_left(tmp_path: Path, name: str) -> None:
    table, rows, asked = NARROWED[name]
    view = f"CREATE VIEW {table} AS SELECT * FROM {table} WHERE {rows};"
    (tmp_path / "mine.sql").write_text(f"SET extends = 'fledgling-core';\n{view}")
    async with fronted(make(tmp_path / "tree", **FILES), tmp_path / "mine.sql") as (front, indexing):
        await indexing.built()
        for query, expected in asked.items():
            found = await ranked(front, query)
            assert "views of this profile leave out rows" in (found.note or "")
            assert ("Nothing says this" in (found.note or "")) == (expected is None)
            assert expected is None or found.files[0].path == expected
        sections = await front.call("search", {"query": "how often is an upload tried", "mode": "docs"})
        assert isinstance(sections, Ranking)


@pytest.mark.long  # tests/honesty/no_content.toml has the refusal
async def test_an_index_without_content_ranks_nothing_and_says_so(tmp_path: Path) -> None:
    settings = {"index_content": False}
    async with fronted(write_project(tmp_path), settings=settings) as (front, indexing):
        await indexing.built()
        refused = await front.ask(Search("batches of work", mode="meaning"))
        assert isinstance(refused, Refusal)
        assert "index_content" in refused.next_step


async def test_a_ranking_that_does_not_fit_its_question_is_refused() -> None:
    passage = Passage("a.py", (1, 2), 0.5, "python")
    asked, found = Search("a b", mode="meaning", path="a.py"), Ranking([passage], 1, "meaning")
    profile = profiles.load("fledgling-core")
    assert tools.fits(asked, found, profile)
    for unfit in (
        msgspec.structs.replace(found, mode_used="docs"),
        msgspec.structs.replace(found, total=0),
        msgspec.structs.replace(found, files=[passage, passage], total=2),
        msgspec.structs.replace(found, files=[msgspec.structs.replace(passage, path="b.py")]),
        msgspec.structs.replace(found, files=[msgspec.structs.replace(passage, best=[(2, "b"), (1, "a")])]),
    ):
        assert not tools.fits(asked, unfit, profile)
    assert not tools.fits(Search("a b", mode="text"), found, profile)
    others = [(number + 1, "b") for number in range(MAX_OTHERS + 1)]
    for some, is_bound in ((others[1:], True), (others, False)):
        packed = msgspec.msgpack.encode(msgspec.structs.replace(passage, name="a", others=some))
        with nullcontext() if is_bound else pytest.raises(msgspec.ValidationError):
            msgspec.msgpack.decode(packed, type=Passage)


async def test_a_hostile_project_costs_a_question_no_more_than_it_may(tmp_path: Path) -> None:
    """Lines of a megabyte, thousands of definitions that all lines of a file are in, and a heading on each line."""
    every = " ".join(f"word{number}" for number in range(30))
    for number in range(4):
        (tmp_path / f"long{number}.py").write_text(f"x = '{every * 4000}'\n")
        nested = "".join(f"{' ' * depth}def word{depth}():\n" for depth in range(90)) + f'{" " * 90}return """\n'
        (tmp_path / f"deep{number}.py").write_text(nested + f"{every}\n" * 2000 + '"""\n')
    headings = "".join(f"{'#' * (number % 6 + 1)} word1 word2 word3 {number}\n" for number in range(10_000))
    (tmp_path / "headings.md").write_text(headings)
    async with fronted(tmp_path) as (front, indexing):
        assert (await indexing.built()).symbols > 10_000 + 4 * 90  # none is lost: the questions meet them all
        await indexing.sealed(GRAPH)  # no other worker takes over from here on
        for mode, query in (("meaning", every), ("docs", "word1 word2 word3")):
            before = spent(psutil.Process(), QUERY_WORKER)  # workers of other tests' fronts do nothing meanwhile
            found = await ranked(front, query, mode=mode)
            assert spent_since(before, psutil.Process(), QUERY_WORKER) < 2.5, mode
            assert found.files


# ---- our own code, as whoever works on it may ask --------------------------------------------------------------------

OURS = {
    "how is a query worker confined": "query/serve.py",
    "resolve imports of Go": "languages/go/imports.py",
    "which files does git ignore": "files/ignore.py",
    "gate of SQL statements": "gate/statement.py",
    "n-gram signatures of blocks": "store/ngrams.py",
    "guess the encoding of a text": "files/encodings.py",
    "docstring of a definition": "extracting/outline.py",
    "walk the tree of a project": "files/walk.py",
    "glob pattern to regular expression": "matching/globs.py",
    "literals that a regular expression requires": "matching/prefilter.py",
    "comments and strings as tokens": "extracting/lexical.py",
    "changes laid over the sealed index": "store/overlay/changed.py",
}
FOUND = 0.8  # the mean of one over the place of the file that is meant; 0.96 when this was written


async def test_questions_about_our_own_code_find_it() -> None:
    places = []
    async with fronted(Path(__file__).parent.parent / "worker") as (front, indexing):
        await indexing.built()
        for query, path in OURS.items():
            paths = [passage.path for passage in (await ranked(front, query)).files]
            places.append(1 / (paths.index(path) + 1) if path in paths else 0)
    assert sum(places) / len(places) >= FOUND, dict(zip(OURS, places, strict=True))


# A path, and whether it counts less than others.
ASIDE = {
    "tests/a.py": True,
    "src/__tests__/a.js": True,
    "a_test.go": True,
    "t/unit/a.py": True,  # as Perl, git and Celery have it
    "vendor/a/b.go": True,
    "_examples/rest/main.go": True,  # Go leaves out what begins so
    "samples/a.cs": True,
    "src/t/a.py": False,
    "lib_test/a.ml": True,  # as OCaml has it
    "integration-tests/a.ts": True,
    "spring-test/A.java": False,  # what others test with
    "latest/a.py": False,
    "src/main/java/com/example/demo/Owner.java": False,  # what Spring calls the package of a new project
    "src/test/java/com/example/demo/OwnerTests.java": True,
    "src/main/java/org/acme/samples/clinic/Owner.java": False,  # a package, as Spring's petclinic has it
    "app/src/main/kotlin/org/acme/test/Owner.kt": False,  # what others test with
    "samples/app/src/main/java/org/acme/Owner.java": True,
    "src/main/resources/samples/a.java": True,
    "src/main/java/samples/OwnerTest.java": True,
    "com/example/A.java": False,
    "com/example/demo/examples/A.java": True,
    "com/example/test/A.java": True,
    "com/tests/a.py": True,
    "com/docs/a.py": True,
    "src/com/vendor/a.c": True,
    "src/com/mocks/x.py": True,
    "x.com/tests/a.go": True,
    "example.com/tests/a.go": True,
    "github.com/example/a.go": True,  # no package of Java
    "github.com/examples/a.go": True,
    "demo/A.java": True,
    "lib/Test/More.pm": False,  # modules of Perl that others test with
    "lib/Test/Builder/Tester.pm": False,
    "t/lib/Test/A.pm": True,
    "lib/test/a.pm": True,
    "lib/Test/a.py": True,
    "text/a.py": False,
    "src/a.py": False,
}


@every_row("path", ASIDE)
def test_tests_and_what_is_not_the_projects_own_count_less(path: str) -> None:
    assert is_aside(path) == ASIDE[path]


async def test_where_most_are_documents_those_are_named_beside_code(tmp_path: Path) -> None:
    text = "# Required attributes\n\nAttributes that are required: id.\n"
    code = "message Event {\n  // Required attributes\n  string id = 1;\n}\n"
    for more, is_said in ((0, True), (2, False)):
        protos = {"event.proto": code, **{f"more{number}.proto": "message A {}\n" for number in range(more)}}
        root = make(tmp_path / str(more), **{"spec.md": text, "guide.md": text}, **protos)
        async with fronted(root) as (front, indexing):
            await indexing.built()
            found = await front.call("search", {"query": "which attributes are required"})
            assert isinstance(found, Ranking)
            assert (DOCUMENTS_TOO in (found.note or "")) is is_said, more
