"""fledgling savings: the same figures each time, every question answered, and what the shell prints counted rightly."""

import subprocess

import pytest
from forking import fledgling
from running import fronted

from fledgling.broker.reporting import savings

pytestmark = pytest.mark.anyio

SOURCE = """import os


class {name}:
    def measured_{n}(self, a):
        if a:
            return a
{body}
        return os


def alone_{n}_here():
    return measured_{n}
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    root = tmp_path_factory.mktemp("savings")
    for n in range(12):
        body = "\n".join(f"        b{k} = {k}" for k in range(45))
        others = "".join(f"from src import module_{m}\n" for m in range(n))
        helpers = "".join(f"\n\ndef helper_{n}_{k}():\n    return {k}\n" for k in range(30))
        (root / "src").mkdir(exist_ok=True)
        text = others + SOURCE.format(name=f"Measure{n}", n=n, body=body) + helpers
        (root / "src" / f"module_{n}.py").write_text(text)
    return root


def printed_by(command, tree):
    return subprocess.run(["bash", "-c", command], cwd=tree, capture_output=True, text=True, check=True).stdout


async def test_what_is_counted_is_what_the_shell_prints(tree):
    shell = {
        "file": "cat src/module_3.py",
        "word": "grep -rnw alone_3_here src",
        "word_in_file": "grep -n alone_3_here src/module_3.py",
        "definitions_of_name": "grep -rnE '(def|class) +alone_3_here\\b' src",
        "definitions_in_file": "grep -nE '^ *(def|class) ' src/module_3.py",
        "imports_in_file": "grep -nE '^(import|from)' src/module_3.py",
        "imports_by_neighbours": "grep -rnE '(import|from|include|use|require).*module_3' src",
        "screens": "sed -n '5,65p' src/module_3.py",
    }
    subject = {"path": "src/module_3.py", "name": "alone_3_here", "stem": "module_3", "directory": "src"}
    subject |= {"line_start": "5", "screens": "60"}
    async with fronted(tree, "fledgling-analyst") as (front, indexing):
        await indexing.built()
        for name, command in shell.items():
            printed = printed_by(command, tree)
            cost = await savings.spent_in_shell(front, [savings.ShellCommand("", name)], subject)
            assert cost.chars == len(printed), name


@pytest.mark.long  # it asks and counts all that the published table has, twice
async def test_what_is_measured_again_is_the_same(tree):
    async with fronted(tree, "fledgling-analyst") as (front, indexing):
        await indexing.built()
        first = await savings.measure(front)
        assert first == await savings.measure(front)
        rows = savings.table(first)
    assert {row[0].split()[0] for row in rows[1:-1]} == {"What", "Where", "How"}
    assert len({len(row) for row in rows}) == 1
    assert rows[-1][0] == f"all {len(first)}"


async def test_a_question_that_cannot_be_put_is_said(tree):
    async with fronted(tree, "fledgling-core") as (front, indexing):
        await indexing.built()
        with pytest.raises(savings.MeasureError, match="'query' is not a tool"):
            await savings.measure(front)


@pytest.mark.parametrize(
    "files",  # a size is asked for of no more than a subject
    [
        {"a.py": "def short():\n    return 1\n"},
        pytest.param({"a.md": "# Title\n\nText.\n" * 400}, marks=pytest.mark.long),
    ],
)
def test_a_project_without_a_subject_for_any_question_is_told_so_whatever_its_size(tmp_path, files):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    done = fledgling("savings", "--root", str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert "none of the questions finds a subject in the project" in done.stderr
