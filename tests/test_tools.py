"""A tool is a row: what a seventh one costs, and what says so where a half of it is missing.

The tree is copied, and a virtual environment is made that imports `fledgling` from the copy.
"""

import pytest
from copying import Copy
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

pytestmark = pytest.mark.anyio

MAX_FILES = 4  # of the tree, for a tool with a question and an answer of its own

QUESTION = '''
class Largest(Question, frozen=True):
    """The largest files of the project, in bytes.

    Example: largest(count=5)
    """

    count: Annotated[int, Meta(ge=1, le=1000, description="files to list")] = 10


AnyQuestion = '''

ANSWER = '''
class Sizes(Answer, frozen=True):
    """Answer of largest: paths and bytes, the largest first."""

    files: list[tuple[Path, Count]]
    next: Next | None = None
    note: Said | None = None


AnyAnswer = '''

ROW = """    Tool(
        questions.Largest,
        (Fitting(answers.Sizes, lambda asked, found, _: len(found.files) <= asked.count),),
        generation=lambda _: LISTING,
        use="largest() for the largest files",
        help_line="The largest files",
    ),
)
_FORMS: """

FORM = """    Form(
        answers.Sizes,
        lambda found: (f"{size} {one_line(path)}" for path, size in found.files),
        lambda found: len(found.files),
    ),
)

TOOLS: """

HANDLER = '''"""The largest tool: the files that take most of the room."""

from fledgling.messages.answers import Sizes
from fledgling.messages.questions import Largest
from fledgling.worker.tools.request import Request


def largest(request: Request, question: Largest) -> Sizes:
    """Answer with the largest files, the largest first."""
    sizes = [(request.blocks.path(number), request.blocks.sizes[number]) for number in request.blocks.files]
    return Sizes(sorted(sizes, key=lambda file: (-file[1], file[0]))[: question.count])
'''

# file -> texts of it and what stands there instead; a file that is not there is made
EDITS = {
    "fledgling/messages/questions.py": {"\nAnyQuestion = ": f"{QUESTION}Largest | "},
    "fledgling/messages/answers.py": {"\nAnyAnswer = ": f"{ANSWER}Sizes | "},
    "broker/protocol/tools.py": {
        ")\n\n_FORMS: ": ROW,
        ")\n\nTOOLS: ": FORM,
        "from fledgling.messages.answers import (": (
            "from fledgling.messages import answers, questions\nfrom fledgling.messages.answers import ("
        ),
        "\n\nQ = TypeVar": "\nfrom fledgling.plain import one_line\n\nQ = TypeVar",
    },
    "worker/tools/largest.py": {"": HANDLER},
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return Copy(tmp_path_factory.mktemp("copy"))


@pytest.fixture
def copy(whole):
    """The copy, which is whole again behind each test."""
    before = {name: (whole.tree / name).read_text() for name in EDITS if (whole.tree / name).exists()}
    yield whole
    for name in EDITS:
        (whole.tree / name).unlink(missing_ok=True)
    for name, text in before.items():
        (whole.tree / name).write_text(text)


def edit(copy, names):
    for name in names:
        copy.edit(name, EDITS[name])


async def test_a_seventh_tool_takes_four_files(copy, project, tmp_path):
    assert len(EDITS) <= MAX_FILES
    edit(copy, EDITS)
    profile = tmp_path / "seven.sql"
    profile.write_text("SET extends = 'fledgling-core'; SET tools = 'explore, largest';")
    arguments = ["-I", "-B", "-m", "fledgling", "serve", "--root", str(project), "--profile", str(profile)]
    server = StdioServerParameters(command=str(copy.python), args=arguments, cwd="/")
    async with Client(stdio_client(server)) as client:
        [_, listed] = (await client.list_tools()).tools
        assert (listed.name, listed.output_schema["required"]) == ("largest", ["files"])
        assert "largest() for the largest files" in client.instructions
        found = await client.call_tool("largest", {"count": 2})
        assert len(found.structured_content["files"]) == 2
        assert found.content[0].text.count("\n") == 1
        refused = await client.call_tool("largest", {"count": "many"})
        assert "Give count as a whole number from 1" in refused.content[0].text


QUESTIONS, ANSWERS, TOOLS, LARGEST = EDITS

# what is missing -> the files that are edited, and what an import says
HALVES = {
    "a row of the tool": ((QUESTIONS, ANSWERS), "broker.protocol.tools", "lack a question, or a row in"),
    "a handler": ((QUESTIONS, ANSWERS), "worker.tools.registry", "No module named 'fledgling.worker.tools.largest'"),
    "a question": ((ANSWERS, TOOLS, LARGEST), "broker.protocol.tools", "has no attribute 'Largest'"),
    "an answer": ((QUESTIONS, TOOLS, LARGEST), "broker.protocol.tools", "has no attribute 'Sizes'"),
}


@pytest.mark.parametrize("half", HALVES)
def test_a_tool_that_lacks_a_half_is_an_error_at_import(copy, half):
    edited, module, words = HALVES[half]
    edit(copy, edited)
    assert words in copy.imported(f"fledgling.{module}")


# what is wrong -> a text of the seventh tool, what stands there instead, and what an import says
WRONG = {
    "a handler of another question": (LARGEST, ": Largest)", ": Explore)", "no function largest that takes a Largest"),
    "a handler of another name": (LARGEST, "def largest(", "def biggest(", "no function largest that takes a Largest"),
    "an answer without a form": (TOOLS, FORM.partition(")\n\nTOOLS")[0], "", "lack a tool, or a form in"),
    "an answer that no tool gives": (
        TOOLS,
        "answers.Sizes, lambda asked",
        "Table, lambda asked",
        "lack a tool, or a form",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_halves_that_are_not_of_one_tool_are_an_error_at_import(copy, wrong):
    name, old, new, words = WRONG[wrong]
    edit(copy, EDITS)
    file = copy.tree / name
    text = file.read_text().replace("questions import Largest", "questions import Explore, Largest")
    assert old in text
    file.write_text(text.replace(old, new))
    module = "worker.tools.registry" if name == LARGEST else "broker.protocol.tools"
    assert words in copy.imported(f"fledgling.{module}")
